import dns, { type LookupAddress } from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { afterAll, afterEach, expect, test } from 'vitest'
import { connection, endpoint } from '../../src/entries/consume.ts'
import { rejection } from './calls.ts'
import { respond, startServer } from './server.ts'

const server = await startServer((_request, response) => {
  respond(response, 'reached', 200, { connection: 'close' })
})
afterAll(() => server.close())

// The resolver of an attacker: each lookup gives the addresses of the next entry.
const { lookup } = dns
function answerWith(...answers: readonly (readonly string[])[]): void {
  let count = 0
  const attacker = (
    _host: string,
    _options: object,
    done: (error: null, found: readonly LookupAddress[]) => void,
  ): void => {
    const addresses = answers[Math.min(count++, answers.length - 1)] ?? []
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    setImmediate(done, null, found)
  }
  dns.lookup = attacker as unknown as typeof lookup
  syncBuiltinESMExports()
}
afterEach(() => {
  dns.lookup = lookup
  syncBuiltinESMExports()
})

const get = endpoint(
  connection({
    baseUrl: `http://api.example.com:${new URL(server.url).port}`,
    allowHttp: true,
    allowPrivateAddresses: ['127.0.0.1'],
    attempts: 1,
    timeout: 2000,
  }),
  { name: 'get', path: '/' },
)

test('a host name that later resolves to another private address is rejected', async () => {
  answerWith(['127.0.0.1'], ['127.0.0.2'])
  expect((await get.call({})).body).toBe('reached')
  const before = server.received.length
  expect(await rejection(get.call({}))).toMatchObject({ code: 'PRIVATE_ADDRESS' })
  expect(server.received.length).toBe(before)
})

test.each([
  ['with one private address among its addresses', ['127.0.0.1', '10.0.0.1']],
  ['with a private IPv4 address in an IPv6 address', ['::ffff:10.0.0.1']],
  ['with the IPv6 loopback address', ['::1']],
])('a host name %s is rejected', async (_what, addresses) => {
  answerWith(addresses)
  expect(await rejection(get.call({}))).toMatchObject({ code: 'PRIVATE_ADDRESS' })
})

test('a host name without addresses is rejected', async () => {
  answerWith([])
  expect(await rejection(get.call({}))).toMatchObject({ name: 'CallError', endpoint: 'get' })
})
