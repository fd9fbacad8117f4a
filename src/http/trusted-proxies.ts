import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from 'node:net'
import { requireKnown } from '../definition/options.ts'

/** Whose word on a request's way counts. Without trusted proxies no forwarded header is looked at. */
export interface ProxyOptions {
  /**
   * The proxies whose headers are believed: addresses (`10.0.0.5`, `::1`) and ranges (`10.0.0.0/8`,
   * `fd00::/8`). IPv4 entries also cover IPv4-mapped IPv6 addresses. Default: none (D44).
   */
  readonly trustedProxies?: readonly string[]
  /** The headers that they set. */
  readonly forwarded?: ForwardedHeaders
}

/**
 * The names of the headers that trusted proxies set; others are not looked at. `forwarded`, the header
 * of RFC 7239, says both: where only one is named, and as that, it is the other one as well.
 */
export interface ForwardedHeaders {
  /**
   * The header that says how the client came. Its value must be `on` for `x-forwarded-ssl` and
   * `front-end-https`, and `https` for any other. Default: `x-forwarded-proto`.
   */
  readonly proto?: string
  /** The header that lists addresses, the client first. Default: `x-forwarded-for`. */
  readonly client?: string
}

/** What the trusted proxies say of a request, given the address of its socket and its headers. */
export interface TrustedProxies {
  /** Whether the socket is that of a trusted proxy, and every hop that it lists came over TLS (D44). */
  sayHttps(address: string | undefined, header: ReadHeader): boolean
  /**
   * The last address on the way that is not a trusted proxy's. What is no address ends the search: the
   * trusted proxy behind it is all that is known then.
   */
  clientOf(address: string | undefined, header: ReadHeader): string | undefined
}

type ReadHeader = (name: string) => string | undefined

/** Parameter names in lower case, and their values without quotes. */
type ForwardedElement = ReadonlyMap<string, string>

// The headers that do not say `https`.
const wordOf = new Map([
  ['x-forwarded-ssl', 'on'],
  ['front-end-https', 'on'],
])

/** Prepares the proxies of a binding. Throws a TypeError that names what can not be used. */
export function trustedProxies(options: ProxyOptions): TrustedProxies {
  const { trustedProxies: entries = [], forwarded = {} } = options
  const { proto, client } = namesOf(forwarded)
  const word = wordOf.get(proto) ?? 'https'
  const list = blockListOf(entries)
  if (entries.length === 0) return { sayHttps: () => false, clientOf: addressOf }
  const trusts = (address: string) => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')

  return {
    sayHttps: (socketAddress, header) => {
      const address = addressOf(socketAddress)
      if (address === undefined || !trusts(address)) return false
      const hops = hopsOf(proto, 'proto', header)
      return hops.length > 0 && hops.every((hop) => hop.toLowerCase() === word)
    },
    clientOf: (socketAddress, header) => {
      let known = addressOf(socketAddress)
      if (known === undefined || !trusts(known)) return known
      for (const hop of hopsOf(client, 'for', header).toReversed()) {
        const address = addressOf(hop)
        if (address === undefined) break
        known = address
        if (!trusts(address)) break
      }
      return known
    },
  }
}

function namesOf(forwarded: ForwardedHeaders): Required<ForwardedHeaders> {
  requireKnown('forwarded', forwarded, ['proto', 'client'])
  const { proto, client } = forwarded
  for (const [place, name] of Object.entries({ proto, client })) {
    if (name === undefined || isHeaderName(name)) continue
    throw new TypeError(
      `forwarded.${place} must be the name of a header, such as x-forwarded-proto: ${JSON.stringify(name)}`,
    )
  }
  const named = { proto: proto?.toLowerCase(), client: client?.toLowerCase() }
  // A proxy that writes RFC 7239 may pass on the X-Forwarded- headers that a client made up.
  const standard = Object.values(named).includes('forwarded') ? 'forwarded' : undefined
  return {
    proto: named.proto ?? standard ?? 'x-forwarded-proto',
    client: named.client ?? standard ?? 'x-forwarded-for',
  }
}

function isHeaderName(name: unknown): boolean {
  return typeof name === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(name)
}

function blockListOf(entries: readonly unknown[]): BlockList {
  if (!Array.isArray(entries)) {
    throw new TypeError(`trustedProxies must be a list, such as ['10.0.0.5', '10.1.0.0/16']`)
  }
  const list = new BlockList()
  for (const [index, entry] of entries.entries()) {
    const text = typeof entry === 'string' ? entry : ''
    const [, address = '', prefix] = /^([\da-f.:]+)(?:\/(0|[1-9]\d{0,2}))?$/i.exec(text) ?? []
    const family = isIPv4(address) ? 'ipv4' : 'ipv6'
    const longest = family === 'ipv4' ? 32 : 128
    if (isIP(address) === 0 || Number(prefix ?? 0) > longest) {
      throw new TypeError(
        `trustedProxies[${index}] must be an address, such as 10.0.0.5 or ::1, or a range of ` +
          `addresses, such as 10.0.0.0/8 or fd00::/8; names are not looked up: ${JSON.stringify(entry)}`,
      )
    }
    list.addSubnet(address, Number(prefix ?? longest), family)
  }
  return list
}

/** The address in what a socket or a header says, in its shortest form; undefined if there is none. */
export function addressOf(text: string | undefined): string | undefined {
  if (text === undefined || isIPv4(text)) return text
  // A server on all addresses sees every IPv4 client so, and needs nothing that costs more.
  const mapped = unmapped(text)
  if (mapped !== undefined) return mapped
  const [, inBrackets, beforePort] =
    /^(?:\[([^\]]+)\]|([\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/.exec(text) ?? []
  if (beforePort !== undefined) return isIPv4(beforePort) ? beforePort : undefined
  // Node takes a long address for IPv6, and yet no socket address of it, when a zone follows.
  const [address = ''] = (inBrackets ?? text).split('%')
  if (!isIPv6(address)) return undefined
  const shortest = new SocketAddress({ address, family: 'ipv6' }).address
  return unmapped(shortest) ?? shortest
}

function unmapped(address: string): string | undefined {
  const prefix = '::ffff:'
  const rest = address.startsWith(prefix) ? address.slice(prefix.length) : ''
  return isIPv4(rest) ? rest : undefined
}

/** What each proxy on the way said, the one next to the client first. */
function hopsOf(name: string, parameter: 'proto' | 'for', header: ReadHeader): readonly string[] {
  const value = header(name)
  if (value === undefined) return []
  if (name !== 'forwarded') return value.split(',').map((hop) => hop.trim())
  return forwardedElements(value).map((element) => element.get(parameter) ?? '')
}

// A separate element for each proxy, and pairs of a name and a value in it. Values are taken without
// quotes where RFC 7239 asks for them, as `for=10.0.0.1:80`.
function forwardedElements(value: string): readonly ForwardedElement[] {
  const pair = /[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]+))[ \t]*)?([,;]|$)/y
  const elements: ForwardedElement[] = []
  let element = new Map<string, string>()
  for (;;) {
    const match = pair.exec(value)
    const name = match?.[1]?.toLowerCase()
    // One quote too many hides all that comes after it, so nothing of such a header counts.
    if (match === null || (name !== undefined && element.has(name))) return []
    if (name !== undefined) {
      element.set(name, match[2]?.replace(/\\(.)/g, '$1') ?? match[3] ?? '')
    }
    if (match[4] === ';') continue
    elements.push(element)
    if (match[4] === '') return elements
    element = new Map()
  }
}
