import { addressOf, dottedText, groupsText, ipGroups } from '../protocol/ip-address.ts'

// The prefix with which an IPv4 client is translated for IPv6 servers (RFC 6052).
const translatedPrefix = '64:ff9b:0:0:0:0'

/**
 * Returns what a client is counted by: its IPv4 address, or the first 64 bits of its IPv6 address, such as
 * `2001:db8:0:1::/64`. A host usually has all addresses of such a network, and can use another one for each request. Text
 * that is not an address is returned as it is, and `unknown` without an address.
 */
export function clientKeyOf(peer: string | undefined): string {
  const address = addressOf(peer)
  if (address?.includes(':') !== true) return address ?? peer ?? 'unknown'
  const groups = ipGroups(address) ?? []
  if (groupsText(groups.slice(0, 6)) === translatedPrefix) return dottedText(groups)
  return `${groupsText(groups.slice(0, 4))}::/64`
}
