import { requireKnown } from '../checks/options.ts'
import { addressOf, ipGroups, isIpv4, type IpGroups } from '../protocol/ip-address.ts'

/** The proxies whose forwarded headers are used. Without trusted proxies, forwarded headers are ignored. */
export interface ProxyOptions {
  /**
   * The proxies whose headers are trusted: addresses (`10.0.0.5`, `::1`) and ranges (`10.0.0.0/8`,
   * `fd00::/8`). IPv4 entries also cover IPv4-mapped IPv6 addresses. Default: none.
   */
  readonly trustedProxies?: readonly string[]
  /** The headers that these proxies set. */
  readonly forwarded?: ForwardedHeaders
}

/**
 * The names of the headers that trusted proxies set; others are ignored. The header `forwarded` of RFC 7239
 * has both values: if one of the two names is `forwarded`, it is also the default of the other.
 */
export interface ForwardedHeaders {
  /**
   * The header with the protocol of the client's request. Over TLS, its value is `on` for `x-forwarded-ssl`
   * and `front-end-https`, and `https` for all others. Default: `x-forwarded-proto`.
   */
  readonly proto?: string
  /** The header that lists addresses, the client first. Default: `x-forwarded-for`. */
  readonly client?: string
}

/** Reads the headers of trusted proxies, given the address of the socket. */
export interface TrustedProxies {
  /**
   * Returns whether a request came over TLS. If the socket belongs to a trusted proxy and its header has values, each of
   * them must mean HTTPS; otherwise `isEncrypted`: whether the socket uses TLS. Default: false.
   */
  isHttps(address: string | undefined, header: ReadHeader, isEncrypted?: boolean): boolean
  /**
   * Returns the last address in the header that is not a trusted proxy. An invalid address ends the search;
   * then the result is the trusted proxy that reported it.
   */
  clientOf(address: string | undefined, header: ReadHeader): string | undefined
}

type ReadHeader = (name: string) => string | undefined

/** Parameter names in lower case, and their values without quotes. */
type ForwardedElement = ReadonlyMap<string, string>

// The headers with another value than `https`.
const secureValues = new Map([
  ['x-forwarded-ssl', 'on'],
  ['front-end-https', 'on'],
])

/** Returns the trusted proxies of a binding. Throws a TypeError for an invalid address, range or header name. */
export function trustedProxies(options: ProxyOptions): TrustedProxies {
  const { trustedProxies: entries = [], forwarded = {} } = options
  const { proto, client } = namesOf(forwarded)
  const secureValue = secureValues.get(proto) ?? 'https'
  const covers = coveredBy(entries)
  if (entries.length === 0) {
    return { isHttps: (_address, _header, isEncrypted = false) => isEncrypted, clientOf: addressOf }
  }
  const find = rememberedHops(covers)
  // Most requests have the same value.
  let latest: { readonly value: string; readonly isSecure: boolean | undefined } | undefined

  return {
    isHttps: (socketAddress, header, isEncrypted = false) => {
      if (!find(socketAddress).isTrusted) return isEncrypted
      const value = header(proto)
      if (value === undefined) return isEncrypted
      if (latest?.value !== value) {
        latest = { value, isSecure: isEach(hopsOf(proto, 'proto', value), secureValue) }
      }
      return latest.isSecure ?? isEncrypted
    },
    clientOf: (socketAddress, header) => {
      const socket = find(socketAddress)
      let known = socket.address
      if (!socket.isTrusted) return known
      for (const hop of hopsOf(client, 'for', header(client)).toReversed()) {
        const { address, isTrusted: isProxy } = find(hop)
        if (address === undefined) break
        known = address
        if (!isProxy) break
      }
      return known
    },
  }
}

/** Returns whether each hop has a value, regardless of case; undefined if no hop has any. */
function isEach(hops: readonly string[], expected: string): boolean | undefined {
  if (hops.every((hop) => hop === '')) return undefined
  return hops.every((hop) => hop.toLowerCase() === expected)
}

/**
 * Returns whether a request of a framework came over TLS, according to its own setting for proxies. If the framework uses
 * the header `X-Forwarded-Proto`, each of its values must be `https`; the frameworks read only one of them.
 */
export function isFrameworkHttps<Request extends { readonly headers: object }>(
  request: Request,
  isSecure: (request: Request) => boolean,
): boolean {
  const value = (request.headers as Readonly<Record<string, unknown>>)['x-forwarded-proto']
  if (typeof value !== 'string' || value === 'https' || value === 'http') return isSecure(request)
  const isSecureWith = (proto: string): boolean => {
    const headers = Object.create(request.headers, {
      'x-forwarded-proto': { value: proto },
    }) as object
    return isSecure(Object.create(request, { headers: { value: headers } }) as Request)
  }
  const [withHttps, withHttp] = [isSecureWith('https'), isSecureWith('http')]
  if (withHttps === withHttp) return withHttps
  return isEach(hopsOf('x-forwarded-proto', 'proto', value), 'https') ?? isSecureWith('')
}

/** A hop of a request: a socket, or an entry of a header. */
interface Hop {
  /** Its address in its shortest form; undefined if it has none. */
  readonly address: string | undefined
  readonly isTrusted: boolean
}

const maxHops = 1_000
// The longest IPv6 address, in brackets and with a port.
const maxHopLength = 60

/** Returns a function that finds the address of a hop, and whether it is trusted. It remembers 1,000 hops. */
function rememberedHops(trusts: (address: string) => boolean): (text: string | undefined) => Hop {
  const hops = new Map<string, Hop>()
  return (text) => {
    const known = text === undefined ? unknownHop : hops.get(text)
    if (known !== undefined) return known
    const address = addressOf(text)
    const hop = { address, isTrusted: address !== undefined && trusts(address) }
    if (hops.size >= maxHops) hops.clear()
    if (text !== undefined && text.length <= maxHopLength) hops.set(text, hop)
    return hop
  }
}

const unknownHop: Hop = { address: undefined, isTrusted: false }

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
  // A proxy that sets Forwarded may pass on X-Forwarded- headers that the client has forged.
  const standard = Object.values(named).includes('forwarded') ? 'forwarded' : undefined
  return {
    proto: named.proto ?? standard ?? 'x-forwarded-proto',
    client: named.client ?? standard ?? 'x-forwarded-for',
  }
}

function isHeaderName(name: unknown): boolean {
  return typeof name === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(name)
}

/** Returns whether a list of addresses and ranges covers an address. Throws a TypeError for an invalid entry. */
function coveredBy(entries: readonly unknown[]): (address: string) => boolean {
  if (!Array.isArray(entries)) {
    throw new TypeError(`trustedProxies must be a list, such as ['10.0.0.5', '10.1.0.0/16']`)
  }
  const ranges = entries.map((entry: unknown, index) => {
    const text = typeof entry === 'string' ? entry : ''
    const [, address = '', prefix] = /^([\da-f.:]+)(?:\/(0|[1-9]\d{0,2}))?$/i.exec(text) ?? []
    const groups = ipGroups(address)
    // IPv4 addresses are compared in their IPv4-mapped form.
    const [maxPrefix, skipped] = isIpv4(address) ? [32, 96] : [128, 0]
    if (groups === undefined || Number(prefix ?? 0) > maxPrefix) {
      throw new TypeError(
        `trustedProxies[${index}] must be an address, such as 10.0.0.5 or ::1, or a range of ` +
          `addresses, such as 10.0.0.0/8 or fd00::/8; host names are not resolved: ${JSON.stringify(entry)}`,
      )
    }
    return { groups, bits: Number(prefix ?? maxPrefix) + skipped }
  })
  return (address) => {
    const groups = ipGroups(address)
    return groups !== undefined && ranges.some((range) => isWithin(groups, range))
  }
}

function isWithin(
  address: IpGroups,
  { groups, bits }: { readonly groups: IpGroups; readonly bits: number },
): boolean {
  return groups.every((group, index) => {
    const unused = 16 - Math.min(16, Math.max(0, bits - 16 * index))
    return group >> unused === (address[index] ?? 0) >> unused
  })
}

/** Returns the value of each hop, the one closest to the client first. */
function hopsOf(
  name: string,
  parameter: 'proto' | 'for',
  value: string | undefined,
): readonly string[] {
  if (value === undefined) return []
  if (name !== 'forwarded') return value.split(',').map((hop) => hop.trim())
  return forwardedElements(value).map((element) => element.get(parameter) ?? '')
}

// One element for each proxy, with pairs of a name and a value. Values that RFC 7239 requires to be quoted
// are also accepted without quotes, such as `for=10.0.0.1:80`.
function forwardedElements(value: string): readonly ForwardedElement[] {
  const pair = /[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]+))[ \t]*)?([,;]|$)/y
  const elements: ForwardedElement[] = []
  let element = new Map<string, string>()
  for (;;) {
    const match = pair.exec(value)
    const name = match?.[1]?.toLowerCase()
    // An unbalanced quote hides what follows it, so a malformed header is ignored completely.
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
