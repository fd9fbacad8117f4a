import { expect, test } from 'vitest'
import { rawRequest, statusesIn } from '../kit/http-client.ts'
import { base, describeContract } from './contract.ts'
import { expectError, itemIn, itemsIn } from '../kit/expectations.ts'

const missing: readonly (readonly [id: string, ...targets: string[]])[] = [
  [
    'another case',
    '/REST/V1/app/customers',
    '/rest/v1/APP/customers',
    '/rest/v1/app/Customers',
    '/Rest/v1/app/customers',
  ],
  ['a trailing slash', '/rest/v1/app/customers/', '/rest/v1/app/customers/ALFKI/', '/rest/v1/app/'],
  [
    'dot segments',
    '/rest/v1/../v1/app/customers',
    '/rest/v1/%2e%2e/app/customers',
    '/rest/v1/./app/customers',
    '/rest/v1/app/customers/.',
    '/rest/v1/app/customers/..',
    '/rest/v1/app/customers/%2e',
    '/rest/v1/app/customers/%2E%2E',
    '/./rest/v1/app/customers',
    '/x/../rest/v1/app/customers',
  ],
  [
    'encoded and other slashes',
    '/rest/v1/app/..%2fcustomers',
    '/rest/v1/app%2fcustomers',
    '/rest/v1%2fapp/customers',
    '/rest/v1/app\\customers',
    '/rest/v1/app/customers%2FALFKI',
    '/rest%2fv1/app/customers',
  ],
  [
    'empty segments',
    '/rest/v1//customers',
    '/rest/v1/app//customers',
    '//rest/v1/app/customers',
    '/rest//v1/app/customers',
    '/rest/v1/app/customers//',
    '/rest/v1/app//',
  ],
  [
    'another root',
    '/rest/v2/app/customers',
    '/rest/app/customers',
    '/',
    '/rest',
    '/rest/v1',
    '/rest/v1/',
    '/rest/v1/app',
    '/v1/app/customers',
    '/favicon.ico',
    '/rest/v1app/customers',
  ],
  [
    'an unknown application or collection',
    '/rest/v1/nope/customers',
    '/rest/v1/app/nope',
    '/rest/v1/app/nope/1',
    '/rest/v1/constructor/customers',
    '/rest/v1/__proto__/customers',
    '/rest/v1/app/__proto__',
    '/rest/v1/app/constructor',
    '/rest/v1/app/hasOwnProperty/x',
    '/rest/v1/svc-deploy/release',
    '/rest/v1/app%00/customers',
  ],
  [
    'segments after the key',
    '/rest/v1/app/customers/ALFKI/x',
    '/rest/v1/app/customers/ALFKI/orders/1',
    '/rest/v1/app/lines/1/abc',
  ],
  [
    'other separators',
    '/rest/v1/app/customers;x=1',
    '/rest/v1/app/customers/ALFKI;x=1',
    '/rest/v1/app/customers.json',
    '/rest/v1/app/customers&x=1',
  ],
]

describeContract('paths', {}, (contract) => {
  const { hostAnswers = [] } = contract.cell.binding
  const reachesUs = (target: string) => hostAnswers.every((one) => one.target !== target)

  test('a raw # anywhere in the target responds 400', async () => {
    const targets = ['/customers#x', '/customers?city=a#x', '/customers#?city=a', '/none#']
    for (const target of targets.map((path) => `/rest/v1/app${path}`)) {
      for (const sent of [target, `http://localhost${target}`]) {
        const received = await contract.raw(rawRequest(`GET ${sent}`))
        expect(statusesIn(received)).toEqual([400])
        expect(received).toContain('{"message":"The request target contains a raw #."')
      }
    }
    expectError(await contract.send({ method: 'GET', target: '/rest/v1/app/customers%23' }), 404)
  })

  test('a target of more than 8192 bytes responds 414', async () => {
    const target = (length: number) => '/rest/v1/app/customers?city='.padEnd(length, 'x')
    itemsIn(await contract.send({ method: 'GET', target: target(8192) }))
    expectError(await contract.send({ method: 'GET', target: target(8193) }), 414, '8192 bytes')
    const path = '/rest/v1/app/customers/'.padEnd(8193, 'x')
    for (const method of ['GET', 'POST', 'PUT']) {
      expectError(await contract.send({ method, target: path }), 414)
    }
  })

  test.each(hostAnswers)(
    'the host answers $target with $status itself: $reason',
    async ({ target, status }) => {
      expect(statusesIn(await contract.raw(rawRequest(`GET ${target}`)))).toEqual([status])
    },
  )

  test.each(missing)('%s responds 404', async (_id, ...targets) => {
    for (const target of targets.filter(reachesUs)) {
      expectError(await contract.send({ method: 'GET', target }), 404)
      const body = JSON.stringify({ customerId: 'N', companyName: 'x' })
      const headers = { 'Content-Type': 'application/json' }
      expectError(await contract.send({ method: 'POST', target, headers, body }), 404)
    }
  })

  test.each([
    '%',
    '%2',
    '%zz',
    '%u0041',
    '%ff',
    '%C3',
    '%c0%af',
    '%ED%A0%80',
    '%F5%80%80%80',
    '%E2%82',
  ])('malformed percent-encoding responds 400: %s', async (text) => {
    for (const path of [`/${text}/customers`, `/app/${text}`, `/app/customers/${text}`]) {
      expectError(await contract.send({ method: 'GET', target: `/rest/v1${path}` }), 400)
    }
    expectError(await contract.send({ method: 'GET', target: `/${text}` }), 400)
  })

  test('a path may be percent-encoded, once', async () => {
    const target = '/rest/v1/%61pp/customer%73/%41LFKI'
    expect(itemIn(await contract.send({ method: 'GET', target }))['customerId']).toBe('ALFKI')
  })

  test('applications with equal collection names are apart', async () => {
    const answer = await contract.send({ method: 'GET', target: '/rest/v1/other/customers' })
    expect(itemsIn(answer)).toEqual([])
  })

  const authorities = ['http://evil.test', 'HTTP://evil.test:99', 'https://user@evil.test']
  test.each(authorities.filter((authority) => reachesUs(`${authority}${base}/countries`)))(
    'the absolute form %s is served like the origin form',
    async (authority) => {
      const answer = await contract.send({ method: 'GET', target: `${authority}${base}/countries` })
      expect(itemsIn(answer)).toHaveLength(1)
      expect(answer.text + JSON.stringify(answer.headers)).not.toContain('evil')
      expectError(await contract.send({ method: 'GET', target: `${authority}/x` }), 404)
      expectError(await contract.send({ method: 'GET', target: authority }), 404)
      expectError(await contract.send({ method: 'GET', target: `${authority}?x` }), 404)
    },
  )

  test.each(['*', 'x', 'ftp://evil.test/rest/v1/app/customers', '?x=1', 'rest/v1/app/customers'])(
    'the target %s is never served',
    async (target) => {
      const received = await contract.raw(rawRequest(`GET ${target}`))
      for (const status of statusesIn(received)) expect([400, 404]).toContain(status)
      const options = await contract.raw(rawRequest(`OPTIONS ${target}`))
      for (const status of statusesIn(options)) expect([400, 404, 405]).toContain(status)
    },
  )

  test('raw bytes above ASCII in a path are never served as another key', async () => {
    const bytes = rawRequest('GET /rest/v1/app/customers/Zo\u00c3\u00ab')
    for (const status of statusesIn(await contract.raw(bytes))) expect([400, 404]).toContain(status)
  })
})
