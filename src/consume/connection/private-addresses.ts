import { BlockList, isIP, isIPv4 } from 'node:net'

// The special-purpose addresses of IANA: private, loopback, link-local, shared, test, multicast, reserved,
// and the IPv6 ranges that contain IPv4 addresses. BlockList finds IPv4 ranges in ::ffff:0:0/96 by itself.
const special = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]

/** Returns whether an IP address may be connected to. */
export type AddressCheck = (address: string) => boolean

/** Returns a check that accepts public addresses, and addresses of allowed ranges such as `10.1.0.0/16`. */
export function addressCheck(allowed: readonly string[]): AddressCheck {
  const closed = blockList(special)
  const open = blockList(allowed)
  return (address) => {
    // A zone, as in fe80::1%eth0, is not part of the address.
    const [plain = ''] = address.split('%')
    if (isIP(plain) === 0) return false
    const family = isIPv4(plain) ? 'ipv4' : 'ipv6'
    return open.check(plain, family) || !closed.check(plain, family)
  }
}

/** Returns whether text is an IP address or a range of addresses: `10.1.2.3`, `10.1.0.0/16`, `fd00::/8`. */
export function isAddressRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bitsOf(family))
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/')
    const family = isIP(address)
    list.addSubnet(address, Number(prefix ?? bitsOf(family)), family === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

function bitsOf(family: number): number {
  return family === 4 ? 32 : 128
}
