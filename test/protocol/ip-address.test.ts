import { isIP, isIPv4, isIPv6, SocketAddress } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressOf, ipGroups, isIpv4 } from '../../src/protocol/ip-address.ts'

const group = fc.oneof(
  fc.constantFrom(0, 0, 0, 1, 0xffff, 0xdb8),
  fc.integer({ min: 0, max: 0xffff }),
)
const groups = fc.array(group, { minLength: 8, maxLength: 8 })

/** Addresses, and text that is similar to one. */
const similar = fc
  .array(
    fc.constantFrom('0', '1', 'a', 'ffff', '12345', '255', '256', '01', ':', '::', '.', 'g', ''),
  )
  .map((parts) => parts.join(''))
const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  groups.map((all) => all.map((one) => one.toString(16)).join(':')),
  fc
    .tuple(fc.constantFrom('::', '::ffff:', '::FFFF:', '1:2:3:4:5:6:', '64:ff9b::'), fc.ipV4())
    .map((parts) => parts.join('')),
)
const text = fc.oneof(address, similar, fc.string({ maxLength: 20 }))

test('the same text is an address as for Node', () => {
  fc.assert(
    fc.property(text, (value) => {
      expect([value, isIpv4(value)]).toEqual([value, isIPv4(value)])
      const isAddress = isIP(value) !== 0 && !value.includes('%')
      expect([value, ipGroups(value) !== undefined]).toEqual([value, isAddress])
    }),
    { numRuns: 5_000 },
  )
})

test('the shortest form of an address has the groups of the address', () => {
  fc.assert(
    fc.property(address, (value) => {
      const shortest = addressOf(value)
      expect(ipGroups(shortest ?? '')).toEqual(ipGroups(value))
      expect(addressOf(shortest)).toBe(shortest)
    }),
    { numRuns: 2_000 },
  )
})

test('the shortest form equals the form of Node, which writes the last 32 bits of some addresses as IPv4', () => {
  const canonical = (value: string): string =>
    isIPv6(value) ? new SocketAddress({ address: value, family: 'ipv6' }).address : value
  fc.assert(
    fc.property(address, (value) => {
      const shortest = canonical(value)
      const isMapped = shortest.startsWith('::ffff:') && shortest.includes('.')
      if (isMapped) expect(addressOf(value)).toBe(shortest.slice('::ffff:'.length))
      else if (!/^::.*\./.test(shortest)) expect(addressOf(value)).toBe(shortest)
      else expect(canonical(addressOf(value) ?? '')).toBe(shortest)
    }),
    { numRuns: 5_000 },
  )
})

test.each([
  ['192.0.2.1:80', '192.0.2.1'],
  ['192.0.2.1:_hidden', '192.0.2.1'],
  ['[2001:DB8::1]', '2001:db8::1'],
  ['[2001:db8:0:0::1]:443', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['[::ffff:192.0.2.1]:80', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
  ['1:0:0:2:3:0:0:4', '1::2:3:0:0:4'],
  ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
  ['0:0:0:0:0:0:0:0', '::'],
  ['unknown', undefined],
  ['192.0.2.256', undefined],
  ['[192.0.2.1]', undefined],
  ['', undefined],
  [undefined, undefined],
])('the address in %j is %j', (value, expected) => {
  expect(addressOf(value)).toBe(expected)
})
