import { requirePlainObject } from '../checks/plain-object.ts'
import { runtimeFetch } from '../runtime-fetch.ts'

/** A value, or a function that is called for each request and returns it. */
export type Given<Value> = Value | (() => Value | Promise<Value>)

/** A user of a service that accepts HTTP Basic. */
export interface BasicCredential {
  readonly user: string
  readonly password: string
}

/** The function that sends a request, as `fetch` does. */
export type ClientFetch = (url: string, request: RequestInit) => Promise<Response>

/** The options of {@link createClient}. At most one of `key`, `bearer` and `basic` may be given. */
export interface ClientOptions {
  /**
   * The URL of the service without `/rest/v1`, such as `https://example.com`. In a browser it may be
   * relative to the page: `/` for the same server.
   */
  readonly url: string | URL
  /** The API key. */
  readonly key?: Given<string>
  /** The header that carries the API key. Default: `X-API-Key`. */
  readonly keyHeader?: string
  /** The bearer token, for a service with an authorization server. */
  readonly bearer?: Given<string>
  /** The user and password, for a service that accepts HTTP Basic. */
  readonly basic?: Given<BasicCredential>
  /** The brand prefix of the service. Default: `svc`. */
  readonly brand?: string
  /** Whether a credential may be sent over plain HTTP to another machine. Default: false. */
  readonly insecureHttp?: boolean
  /** Replaces the global `fetch`. It must not follow redirects if `redirect` is `manual`. */
  readonly fetch?: ClientFetch
  /** The time until the complete response must have arrived, in milliseconds. Default: 30,000. */
  readonly timeout?: number
  /**
   * How often a read is repeated if the service responds 429 or 503. Writes are repeated with `retryWrites` only. Default: 2.
   */
  readonly retries?: number
  /**
   * Whether writes are repeated as well, also without a response, each with an `Idempotency-Key` of its own. All
   * applications that the client writes to must have `idempotencyKeys`: others would write twice. Default: false.
   */
  readonly retryWrites?: boolean
  /** The number of items that `filter`, `pages` and `items` request at a time. Default: 100. */
  readonly pageSize?: number
  /** The maximum number of pages that one call reads. Default: 10,000. */
  readonly maxPages?: number
  /** How often a save with `ignoreWarnings: 'all'` is repeated to confirm further warnings. Default: 10. */
  readonly maxConfirmations?: number
  /** The maximum number of bytes of a response after decompression. Default: 10 MiB. */
  readonly maxResponseBytes?: number
  /** Aborts all requests of the client. */
  readonly signal?: AbortSignal
}

type NumberOption =
  'timeout' | 'retries' | 'pageSize' | 'maxPages' | 'maxConfirmations' | 'maxResponseBytes'

/** Options with their defaults, checked. */
export interface CompleteOptions {
  /** The URL without a slash at its end. */
  readonly root: string
  /** Returns the headers with the credential; none without one. Rejects if its function does. */
  readonly credential: () => Promise<Readonly<Record<string, string>>>
  readonly brand: string
  readonly fetch: (url: string, request: RequestInit, maxBytes: number) => Promise<Response>
  readonly timeout: number
  readonly retries: number
  readonly retryWrites: boolean
  readonly pageSize: number
  readonly maxPages: number
  readonly maxConfirmations: number
  readonly maxResponseBytes: number
  readonly signal: AbortSignal | undefined
}

const names: readonly string[] = [
  'url',
  'key',
  'keyHeader',
  'bearer',
  'basic',
  'brand',
  'insecureHttp',
  'fetch',
  'timeout',
  'retries',
  'retryWrites',
  'pageSize',
  'maxPages',
  'maxConfirmations',
  'maxResponseBytes',
  'signal',
] satisfies readonly (keyof ClientOptions)[]

/** Completes the options of a client. Throws a TypeError that contains no credential. */
export function completeClient(options: ClientOptions): CompleteOptions {
  requirePlainObject('The options', options, 'createClient')
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown !== undefined) throw mistake(`unknown option ${unknown}`)
  const { keyHeader = 'X-API-Key', brand = 'svc', signal, retryWrites = false } = options
  const { fetch: given } = options
  const fetch: CompleteOptions['fetch'] =
    given === undefined ? runtimeFetch : (url, request) => given(url, request)
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(keyHeader)) throw mistake('keyHeader is not a header name')
  if (!/^[a-z][a-z0-9]*$/.test(brand)) throw mistake('brand must be lower-case letters and digits')
  if (typeof retryWrites !== 'boolean') throw mistake('retryWrites must be true or false')
  const timeout = whole(options, 'timeout', [30_000, 1, 2 ** 31 - 1])
  const retries = whole(options, 'retries', [2, 0, 10])
  const pageSize = whole(options, 'pageSize', [100, 1, 1_000_000])
  const maxPages = whole(options, 'maxPages', [10_000, 1, 2 ** 53 - 1])
  const maxConfirmations = whole(options, 'maxConfirmations', [10, 0, 100])
  const maxResponseBytes = whole(options, 'maxResponseBytes', [10 * 2 ** 20, 1, 2 ** 29])
  const forms = [
    form('key', options.key, (key) => ({ [keyHeader]: printable('key', key) })),
    form('bearer', options.bearer, (token) => authorization('Bearer', printable('bearer', token))),
    form('basic', options.basic, (user) => authorization('Basic', basicText(user))),
  ].filter((one) => one !== undefined)
  const [credential = async () => ({})] = forms
  if (forms.length > 1) throw mistake('give only one of key, bearer and basic')
  const root = rootOf(options, forms.length > 0)
  const bounds = { maxPages, maxConfirmations, maxResponseBytes }
  const repeats = { retries, retryWrites }
  return { root, credential, brand, fetch, timeout, ...repeats, pageSize, ...bounds, signal }
}

function form<Value>(
  name: string,
  given: Given<Value> | undefined,
  headersOf: (value: Value) => Readonly<Record<string, string>>,
): CompleteOptions['credential'] | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'function')
    return async () => headersOf(await (given as () => Value | Promise<Value>)())
  if (given === '' || given === null) throw mistake(`${name} is empty`)
  const headers = headersOf(given)
  return async () => headers
}

function authorization(scheme: string, text: string): Readonly<Record<string, string>> {
  return { Authorization: `${scheme} ${text}` }
}

// An invalid header value would be part of the error message of fetch.
function printable(name: string, text: unknown): string {
  if (typeof text === 'string' && /^[\x21-\x7e]+( [\x21-\x7e]+)*$/.test(text)) return text
  throw mistake(`${name} is not a string that a header can contain`)
}

function basicText({ user, password }: BasicCredential): string {
  if (user.includes(':')) throw mistake('basic.user must not contain a colon')
  const bytes = new TextEncoder().encode(`${user}:${password}`)
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

function rootOf({ url: given, insecureHttp }: ClientOptions, hasCredential: boolean): string {
  const { location } = globalThis as { readonly location?: { readonly href: string } }
  const text = String(given)
  if (!URL.canParse(text, location?.href))
    throw mistake('url must be a URL such as https://example.com')
  const url = new URL(text, location?.href)
  if (!['http:', 'https:'].includes(url.protocol)) throw mistake('url must begin with https://')
  if (url.username + url.password + url.search + url.hash !== '')
    throw mistake('url must have no credentials, query or fragment')
  const isLocal = /^(localhost|\[::1\]|127(\.\d{1,3}){3})$/.test(url.hostname)
  if (hasCredential && url.protocol === 'http:' && !isLocal && insecureHttp !== true)
    throw mistake('url is plain HTTP, which exposes the credential: use https, or insecureHttp')
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

/** Returns an option that is an integer within limits. */
function whole(
  options: ClientOptions,
  name: NumberOption,
  [initial, min, max]: readonly [initial: number, min: number, max: number],
): number {
  const { [name]: value = initial } = options
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  throw mistake(`${name} must be an integer from ${min} to ${max}`)
}

function mistake(text: string): TypeError {
  return new TypeError(`createClient: ${text}`)
}
