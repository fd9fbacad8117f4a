/** The 16-bit groups of an IPv6 address; an IPv4 address has the groups of its IPv4-mapped form. */
export type IpGroups = readonly number[]

const groupCount = 8
const byte = '(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const ipv4 = new RegExp(`^${[byte, byte, byte, byte].join('\\.')}$`)
const mappedPrefix = [0, 0, 0, 0, 0, 0xffff]

/** Returns whether text is an IPv4 address: four decimal numbers without leading zeros. */
export function isIpv4(text: string): boolean {
  return ipv4.test(text)
}

/** Returns the groups of an address without a port, brackets and a zone; undefined for other text. */
export function ipGroups(text: string): IpGroups | undefined {
  const bytes = ipv4Groups(text)
  return bytes === undefined ? ipv6Groups(text) : [...mappedPrefix, ...bytes]
}

/** Returns the first groups of an address as text, such as `2001:db8:0:1`. */
export function groupsText(groups: IpGroups): string {
  return groups.map((group) => group.toString(16)).join(':')
}

/** Returns the IPv4 address that the last two groups of an address are. */
export function dottedText(groups: IpGroups): string {
  const [high = 0, low = 0] = groups.slice(groupCount - 2)
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/**
 * Returns the address in a value of a socket or a header, which may have brackets, a port and a zone, in its shortest form;
 * undefined if it has none. An IPv4-mapped address is returned as IPv4.
 */
export function addressOf(text: string | undefined): string | undefined {
  if (text === undefined || isIpv4(text)) return text
  const [, inBrackets, beforePort] =
    /^(?:\[([^\]]+)\]|([\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/.exec(text) ?? []
  if (beforePort !== undefined) return isIpv4(beforePort) ? beforePort : undefined
  const [address = ''] = (inBrackets ?? text).split('%')
  const groups = ipv6Groups(address)
  return groups && shortestText(groups)
}

// RFC 5952: the first of the longest runs of zeros is left out.
function shortestText(groups: IpGroups): string {
  if (mappedPrefix.every((group, index) => groups[index] === group)) return dottedText(groups)
  let run = { start: 0, length: 1 }
  for (let start = 0; start < groupCount; start++) {
    const length = groups.slice(start).findIndex((group) => group !== 0)
    const zeros = length < 0 ? groupCount - start : length
    if (zeros > run.length) run = { start, length: zeros }
  }
  if (run.length === 1) return groupsText(groups)
  const before = groupsText(groups.slice(0, run.start))
  return `${before}::${groupsText(groups.slice(run.start + run.length))}`
}

function ipv4Groups(text: string): readonly [number, number] | undefined {
  const found = ipv4.exec(text)
  if (found === null) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = found.slice(1).map(Number)
  return [a * 256 + b, c * 256 + d]
}

function ipv6Groups(text: string): IpGroups | undefined {
  const halves = text.split('::')
  if (!text.includes(':') || halves.length > 2) return undefined
  const [before = [], after = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const last = halves.length === 1 ? before : after
  // The last 32 bits may be an IPv4 address.
  const bytes = ipv4Groups(last.at(-1) ?? '')
  if (bytes !== undefined) last.splice(-1, 1, ...bytes.map((group) => group.toString(16)))
  const zeros = groupCount - before.length - after.length
  if (halves.length === 1 ? zeros !== 0 : zeros < 1) return undefined
  if (![...before, ...after].every((group) => /^[\da-f]{1,4}$/i.test(group))) return undefined
  const written = [...before, ...Array<string>(zeros).fill('0'), ...after]
  return written.map((group) => parseInt(group, 16))
}

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
