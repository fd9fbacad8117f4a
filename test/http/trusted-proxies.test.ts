import { BlockList, isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { trustedProxies, type ProxyOptions } from '../../src/http/trusted-proxies.ts'

function isTrusted(entry: string, address: string): boolean {
  return trustedProxies({ trustedProxies: [entry] }).isHttps(address, () => 'https')
}

const ipv4 = fc.ipV4()

describe('valid entries of trustProxy', () => {
  test.each([
    '10.0.0.5',
    '10.0.0.0/8',
    '10.1.2.3/8',
    '0.0.0.0/0',
    '10.0.0.5/32',
    '::1',
    'FD00::/8',
    '::/0',
    '::1/128',
    '::ffff:10.0.0.0/104',
  ])('%s', (entry) => {
    expect(() => trustedProxies({ trustedProxies: [entry] })).not.toThrow()
  })

  test.each([
    '',
    ' 10.0.0.5',
    '10.0.0',
    '10.0.0.256',
    '010.0.0.1',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/255.0.0.0',
    '10.0.0.1:80',
    '[::1]',
    '::1/129',
    'fe80::1%eth0',
    'localhost',
    'loopback',
    '*',
    '10.0.0.1,10.0.0.2',
    undefined,
    null,
    true,
    ['10.0.0.1'],
  ])('not %j', (entry) => {
    const options = { trustedProxies: ['10.0.0.1', entry] } as ProxyOptions
    const named = entry === undefined ? 'undefined' : JSON.stringify(entry)
    expect(() => trustedProxies(options)).toThrow(
      new TypeError(
        'trustedProxies[1] must be an address, such as 10.0.0.5 or ::1, or a range of addresses, ' +
          `such as 10.0.0.0/8 or fd00::/8; host names are not resolved: ${named}`,
      ),
    )
  })

  test.each(['10.0.0.1', true, {}, 1])('and no list %j', (list) => {
    const options = { trustedProxies: list } as unknown as ProxyOptions
    expect(() => trustedProxies(options)).toThrow(
      new TypeError(`trustedProxies must be a list, such as ['10.0.0.5', '10.1.0.0/16']`),
    )
  })

  test.each(['', 'x forwarded', 'a:', 'a,b', 'é', 5, null])('no header is called %j', (name) => {
    for (const place of ['proto', 'client']) {
      const options = { forwarded: { [place]: name } } as ProxyOptions
      expect(() => trustedProxies(options)).toThrow(
        new TypeError(
          `forwarded.${place} must be the name of a header, such as x-forwarded-proto: ${JSON.stringify(name)}`,
        ),
      )
    }
  })
})

describe('the addresses of an entry', () => {
  const asNumber = (address: string) =>
    address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0)
  const network = (address: string, prefix: number) =>
    Math.floor(asNumber(address) / 2 ** (32 - prefix))

  test('IPv4 ranges are as long as their prefix, for IPv4-mapped addresses too', () => {
    fc.assert(
      fc.property(ipv4, ipv4, fc.nat(32), fc.nat(32), (base, other, prefix, shared) => {
        // An address that has its first bits in common with the range, as many as are drawn.
        const bits = 2 ** (32 - shared)
        const near = network(base, shared) * bits + (asNumber(other) % bits)
        const address = [24, 16, 8, 0].map((shift) => (near >>> shift) & 255).join('.')
        const covered = network(base, prefix) === network(address, prefix)
        for (const written of [address, `::ffff:${address}`, `::FFFF:${address}`]) {
          expect(isTrusted(`${base}/${prefix}`, written)).toBe(covered)
          expect(isTrusted(`::ffff:${base}/${prefix + 96}`, written)).toBe(covered)
        }
      }),
    )
  })

  test.each([
    ['10.0.0.5', '10.0.0.5', true],
    ['10.0.0.5', '10.0.0.6', false],
    ['10.0.0.5', '::ffff:10.0.0.5', true],
    ['10.0.0.5', '::ffff:a00:5', true],
    ['10.0.0.5', '::10.0.0.5', false],
    ['::ffff:10.0.0.5', '10.0.0.5', true],
    ['2001:db8::1', '2001:DB8:0:0::1', true],
    ['2001:db8::1', '2001:db8::2', false],
    ['2001:db8::/45', '2001:db8:7:ffff::1', true],
    ['2001:db8::/45', '2001:db8:8::1', false],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['fd00::/8', '253.0.0.1', false],
    ['0.0.0.0/0', 'unknown', false],
  ])('%s and %s: %s', (entry, address, covered) => {
    expect(isTrusted(entry, address)).toBe(covered)
  })
})

test('what is remembered of earlier requests changes no result', () => {
  const options = { trustedProxies: ['10.0.0.0/8', 'fd00::/8'] }
  const remembering = trustedProxies(options)
  const hop = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.constantFrom('10.0.0.1', '[fd00::1]:80', '::ffff:10.1.2.3', 'unknown', '', 'x'.repeat(100)),
  )
  const list = fc.option(fc.array(hop, { maxLength: 4 }), { nil: undefined })
  const proto = fc.constantFrom(
    'https',
    'HTTPS',
    'http',
    'https, https',
    'https,http',
    '',
    undefined,
  )
  fc.assert(
    fc.property(hop, list, proto, (socket, hops, value) => {
      const headers = { 'x-forwarded-for': hops?.join(', '), 'x-forwarded-proto': value }
      const header = (name: string) => headers[name as keyof typeof headers]
      const fresh = trustedProxies(options)
      for (let round = 0; round < 2; round++) {
        expect(remembering.isHttps(socket, header)).toBe(fresh.isHttps(socket, header))
        expect(remembering.clientOf(socket, header)).toBe(fresh.clientOf(socket, header))
      }
    }),
    { numRuns: 1_500 },
  )
})

test('a range covers the addresses that it covers in Node', () => {
  const address = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc
      .tuple(fc.constantFrom('::', '::ffff:', '64:ff9b::'), fc.ipV4())
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(address, address, fc.nat(128), (base, other, bits) => {
      const family = isIPv4(base) ? 'ipv4' : 'ipv6'
      const prefix = family === 'ipv4' ? Math.floor(bits / 4) : bits
      const list = new BlockList()
      list.addSubnet(base, prefix, family)
      const expected = list.check(other, isIPv4(other) ? 'ipv4' : 'ipv6')
      const proxies = trustedProxies({ trustedProxies: [`${base}/${prefix}`] })
      expect([base, prefix, other, proxies.isHttps(other, () => 'https')]).toEqual([
        base,
        prefix,
        other,
        expected,
      ])
    }),
    { numRuns: 3_000 },
  )
})
