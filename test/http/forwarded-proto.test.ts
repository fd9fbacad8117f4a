import fc from 'fast-check'
import { expect, test } from 'vitest'
import { trustedProxies } from '../../src/http/trusted-proxies.ts'
import { client, garbage, rfc7239, way } from './forwarded.ts'

test.each([
  ['https', true],
  ['HTTPS', true],
  [' https\t,https ', true],
  ['http', false],
  ['https, http', false],
  ['http, https', false],
  ['https,', false],
  [', https', false],
  ['', false],
  ['https://', false],
  ['"https"', false],
  ['https;q=1', false],
  ['on', false],
  [undefined, false],
])('X-Forwarded-Proto %j: %s', (value, secure) => {
  expect(way(value).secure).toBe(secure)
})

test.each([
  ['x-forwarded-ssl', 'on', true],
  ['X-Forwarded-SSL', 'On', true],
  ['x-forwarded-ssl', 'on, on', true],
  ['x-forwarded-ssl', 'on, off', false],
  ['x-forwarded-ssl', 'https', false],
  ['front-end-https', 'on', true],
  ['front-end-https', 'https', false],
  ['x-url-scheme', 'https', true],
  ['x-url-scheme', 'on', false],
  ['constructor', 'https', true],
])('%s %j: %s', (proto, value, secure) => {
  expect(way(value, { proto }).secure).toBe(secure)
})

test.each([
  ['proto=https', true],
  ['for=192.0.2.1;proto=https;by=10.0.0.1', true],
  ['For=192.0.2.1 ; PROTO="https" ;', true],
  ['proto="h\\ttps"', true],
  ['proto=https, for=10.0.0.2;proto=https', true],
  ['proto=https;for="a,b;proto=http\\""', true],
  ['proto=https, for=10.0.0.2', false],
  ['proto=https, proto=http', false],
  ['proto=http, proto=https', false],
  ['proto=https,', false],
  ['proto=https;proto=https', false],
  ['proto=https;proto=http', false],
  ['for="x;proto=https"', false],
  ['for="x, proto=https', false],
  ['proto="https', false],
  ['proto=https"', false],
  ['proto="https"x', false],
  ['proto = https', false],
  ['proto', false],
  ['=https', false],
  ['https', false],
  ['', false],
  [undefined, false],
])('Forwarded %j: %s', (value, secure) => {
  expect(way(value, rfc7239).secure).toBe(secure)
})

test('headers of untrusted addresses are neither read nor used', () => {
  const unread = () => {
    throw new Error('A header was read.')
  }
  const none = [trustedProxies({}), trustedProxies({ trustedProxies: [] })]
  const others = trustedProxies({ trustedProxies: ['10.0.0.1'], forwarded: rfc7239 })
  for (const proxies of [...none, others]) {
    for (const address of [client, '::1', '10.0.0.2', undefined]) {
      expect(proxies.isHttps(address, unread)).toBe(false)
      expect(proxies.clientOf(address, unread)).toBe(address)
    }
  }
})

test('only lists of nothing but https are secure', () => {
  let found = 0
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom('https', 'HTTPS'), garbage), { minLength: 1 }),
      fc.constantFrom(',', ', ', '\t,  '),
      (hops, separator) => {
        const value = hops.join(separator)
        const all = value.split(',').every((hop) => /^\s*https\s*$/i.test(hop))
        expect(way(value).secure).toBe(all)
        if (all) found += 1
      },
    ),
  )
  expect(found).toBeGreaterThan(0)
})

test('values that a client adds do not hide a hop over plain HTTP', () => {
  const hops = [
    `for=${client};proto=http`,
    `proto=http;for=${client}`,
    `for="${client}:4711";proto="http"`,
    `for="[2001:db8::7]:4711";proto=http`,
    `for=${client}`,
  ]
  fc.assert(
    fc.property(garbage, fc.constantFrom(...hops), fc.boolean(), (before, hop, again) => {
      const value = `${before}, ${hop}${again ? ', proto=https' : ''}`
      expect(way(value, rfc7239).secure).toBe(false)
      expect(way(`${before}, http${again ? ', https' : ''}`).secure).toBe(false)
    }),
    { numRuns: 2000 },
  )
})
