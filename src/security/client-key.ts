const groupCount = 8

// An IPv4 address as IPv6 servers see it: IPv4-mapped (RFC 4291), or translated with the well-known prefix (RFC 6052).
const ipv4Prefixes = ['0:0:0:0:0:ffff', '64:ff9b:0:0:0:0']

/**
 * Returns what a client is counted by: an IPv4 address, also of an IPv6 address that stands for one, or the first 64 bits
 * of an IPv6 address, such as `2001:db8:0:1::/64`. A host usually has all addresses of such a network, and can use another
 * one for each request. Other text is returned as it is; `unknown` without an address.
 */
export function clientKeyOf(peer: string | undefined): string {
  if (peer === undefined) return 'unknown'
  const groups = peer.includes(':') ? groupsOf(peer) : undefined
  if (groups === undefined) return peer
  const [high, low] = groups.slice(6) as [number, number]
  if (ipv4Prefixes.includes(hexadecimal(groups.slice(0, 6)))) {
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  return `${hexadecimal(groups.slice(0, 4))}::/64`
}

function hexadecimal(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(':')
}

/** Returns the groups of an IPv6 address, with or without brackets and a zone; undefined for other text. */
function groupsOf(text: string): readonly number[] | undefined {
  const [, written = ''] = /^\[?([\da-f:.]+)(?:%[^\]]*)?\]?$/i.exec(text) ?? []
  const address = written.replace(
    /(?<=:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/,
    (_dotted, ...bytes: string[]) => {
      const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number)
      return Math.max(a, b, c, d) > 255 ? '.' : hexadecimal([a * 256 + b, c * 256 + d])
    },
  )
  const halves = address.split('::')
  const [before = [], after = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const given = [...before, ...after]
  const zeros = groupCount - given.length
  const isComplete = halves.length === 1 ? zeros === 0 : halves.length === 2 && zeros > 0
  if (!isComplete) return undefined
  if (!given.every((group) => /^[\da-f]{1,4}$/i.test(group))) return undefined
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after]
  return groups.map((group) => parseInt(group, 16))
}
