import fc from 'fast-check'
import { expect, test } from 'vitest'
import { trustedProxies } from '../../src/http/trusted-proxies.ts'
import { client, garbage, proxy, rfc7239, way } from './forwarded.ts'

const ipv4 = fc.ipV4()

test.each([
  ['198.51.100.7', client],
  ['203.0.113.9, 198.51.100.7', client],
  ['203.0.113.9, 198.51.100.7, 10.0.0.2', client],
  ['198.51.100.7,10.0.0.3 ,\tfd00::1', client],
  ['198.51.100.7:4711', client],
  ['[198.51.100.7]', proxy],
  ['::ffff:198.51.100.7', client],
  ['::ffff:c633:6407', client],
  ['[::FFFF:198.51.100.7]:80', client],
  ['2001:DB8:0::7', '2001:db8::7'],
  ['[2001:db8::7]', '2001:db8::7'],
  ['[2001:db8::7]:4711', '2001:db8::7'],
  ['fe80::1%eth0', 'fe80::1'],
  ['0000:0000:0000:0000:0000:ffff:198.051.100.007', proxy],
  ['0000:0000:0000:0000:0000:ffff:198.151.100.207%eth0', '198.151.100.207'],
  ['1111:2222:3333:4444:5555:6666:111.222.133.144%eth0', '1111:2222:3333:4444:5555:6666:6fde:8590'],
  ['10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['unknown', proxy],
  ['198.51.100.7, unknown', proxy],
  ['198.51.100.7, unknown, 10.0.0.2', '10.0.0.2'],
  ['198.51.100.7,', proxy],
  ['198.51.100.7:', proxy],
  ['198.51.100.7:port', proxy],
  ['198.51.100.7 10.0.0.1', proxy],
  ['"198.51.100.7"', proxy],
  ['', proxy],
  [undefined, proxy],
])('X-Forwarded-For %j: %s', (value, peer) => {
  expect(way(value).peer).toBe(peer)
})

test.each([
  ['for=198.51.100.7', client],
  ['For="198.51.100.7:4711"', client],
  ['for=198.51.100.7:4711;proto=http', client],
  ['for="198.51.100.7:_port"', client],
  ['for="[2001:db8::7]:4711"', '2001:db8::7'],
  ['for="[2001:db8::7]", for=10.0.0.2', '2001:db8::7'],
  ['for=203.0.113.9, for=198.51.100.7, for=10.0.0.2', client],
  ['for=198.51.100.7, for=_hidden, for=10.0.0.2', '10.0.0.2'],
  ['for=198.51.100.7, for=unknown', proxy],
  ['for=198.51.100.7, by=10.0.0.2', proxy],
  ['for=203.0.113.9;for=198.51.100.7', proxy],
  ['for=198.51.100.7"', proxy],
  ['for="198.51.100.7', proxy],
  ['198.51.100.7', proxy],
  [undefined, proxy],
])('Forwarded %j: %s', (value, peer) => {
  expect(way(value, rfc7239).peer).toBe(peer)
})

test('without an address of the socket, there is no address', () => {
  const proxies = trustedProxies({ trustedProxies: ['0.0.0.0/0', '::/0'] })
  expect(proxies.clientOf(undefined, () => client)).toBeUndefined()
  expect(proxies.isHttps(undefined, () => 'https')).toBe(false)
})

const part = fc.integer({ min: 1, max: 0xffff }).map((number) => number.toString(16))
const outsider = fc.oneof(
  ipv4.filter((address) => !address.startsWith('10.')),
  part.map((number) => `2001:db8::${number}`),
)
const insider = fc.oneof(
  ipv4.map((address) => address.replace(/^\d+/, '10')),
  part.map((number) => `fd00::${number}`),
)
const notations = [
  (address: string) => address,
  (address: string) => (address.includes(':') ? `[${address}]:1` : `${address}:65535`),
  (address: string) => (address.includes(':') ? address.toUpperCase() : `::ffff:${address}`),
  (address: string) => (address.includes(':') ? `[${address}]` : `[::ffff:${address}]:80`),
]

test('it is the last of the list that is not trusted, whatever stands in front', () => {
  fc.assert(
    fc.property(
      garbage,
      outsider,
      fc.array(insider, { maxLength: 4 }),
      fc.constantFrom(...notations),
      (before, address, proxies, notation) => {
        const hops = [address, ...proxies].map(notation)
        expect(way([before, ...hops].join(', ')).peer).toBe(address)
        expect(way(hops.join(',')).peer).toBe(address)
        const stopped = [address, before, 'x', ...hops.slice(1)]
        expect(way(stopped.join(', ')).peer).toBe(proxies[0] ?? proxy)
      },
    ),
  )
})

test('in a Forwarded header of RFC 7239, the client is the address before the proxy, or the proxy if quotes do not match', () => {
  const seen = new Set<string | undefined>()
  fc.assert(
    fc.property(garbage, fc.constantFrom(client, '2001:db8::7'), (before, address) => {
      const hop = address.includes(':') ? `"[${address}]:4711"` : address
      const { peer } = way(`${before}, for=${hop};proto=http`, rfc7239)
      expect([address, proxy]).toContain(peer)
      seen.add(peer)
    }),
    { numRuns: 2000 },
  )
  expect(seen).toEqual(new Set([client, '2001:db8::7', proxy]))
})

test('nothing that is written anywhere throws', () => {
  const names = fc.constantFrom('x-forwarded-for', 'x-forwarded-ssl', 'forwarded', 'x-real-ip')
  fc.assert(
    fc.property(garbage, garbage, names, (value, address, name) => {
      const { secure, peer } = way(value, { proto: name, client: name }, address)
      expect(typeof secure).toBe('boolean')
      expect(['string', 'undefined']).toContain(typeof peer)
    }),
    { numRuns: 2000 },
  )
})
