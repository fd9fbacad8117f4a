import { BlockList } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clientKeyOf } from '../../src/protocol/ip-address.ts'

test.each([
  [undefined, 'unknown'],
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:8080', '192.0.2.1'],
  ['[2001:db8:0:1::7]:8080', '2001:db8:0:1::/64'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
  ['0000:0000:0000:0000:0000:ffff:c000:0201', '192.0.2.1'],
  ['[::ffff:192.0.2.1]', '192.0.2.1'],
  ['64:ff9b::192.0.2.1', '192.0.2.1'],
  ['64:ff9b::c000:201', '192.0.2.1'],
  ['2001:db8:0:1::7', '2001:db8:0:1::/64'],
  ['2001:DB8:0:1:ffff:ffff:ffff:ffff', '2001:db8:0:1::/64'],
  ['2001:0db8:0000:0001::', '2001:db8:0:1::/64'],
  ['2001:db8:0:1:2:3:192.0.2.1', '2001:db8:0:1::/64'],
  ['2001:db8::7', '2001:db8:0:0::/64'],
  ['[2001:db8::7]', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['fe80::2%25eth1', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['1::', '1:0:0:0::/64'],
])('a client at %s is counted by %s', (peer, key) => {
  expect(clientKeyOf(peer)).toBe(key)
})

test.each([
  '',
  'unknown',
  'client-7',
  ':',
  ':::',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1::2::3',
  '1:2:3:4:5:6:7::8:9',
  '12345::',
  'g::1',
  ':1::2',
  '1::2:',
  '::ffff:300.0.2.1',
  '::ffff:1.2.3',
  '::1.2.3.4:5',
  '192.0.2.1::',
])('text that is no address counts as it is: %s', (text) => {
  expect(clientKeyOf(text)).toBe(text)
})

const group = fc.integer({ min: 0, max: 0xffff })
const written = (groups: readonly number[]): string =>
  groups.map((one) => one.toString(16)).join(':')

test('addresses have the same key if they are in the same network, in every notation', () => {
  fc.assert(
    fc.property(
      fc.array(group, { minLength: 8, maxLength: 8 }),
      fc.array(group, { minLength: 8, maxLength: 8 }),
      fc.nat(8),
      (one, other, shared) => {
        const mixed = [...one.slice(0, shared), ...other.slice(shared)]
        const network = new BlockList()
        network.addSubnet(written(one), 64, 'ipv6')
        const isSame = network.check(written(mixed), 'ipv6')
        expect(clientKeyOf(written(one)) === clientKeyOf(written(mixed))).toBe(isSame)
        const shortest = new URL(`http://[${written(one)}]`).hostname
        expect(clientKeyOf(shortest)).toBe(clientKeyOf(written(one)))
      },
    ),
  )
})
