import { requireKnown } from '../checks/options.ts'
import { addressOf } from '../protocol/ip-address.ts'
import { originForm } from '../protocol/path.ts'
import type { Credentials } from '../request/request.ts'
import { headerOf } from './raw-headers.ts'
import { isFrameworkHttps, trustedProxies, type ProxyOptions } from './trusted-proxies.ts'

/** A request of a route of your application, as its server or framework passes it. */
export type OwnRequest = FetchMessage | FastifyMessage | NodeMessage | Credentials

/** What is read of a Fetch request. */
export interface FetchMessage {
  readonly url: string
  readonly headers: { get(name: string): string | null }
}

/** What is read of a request of Fastify. `protocol` and `ip` depend on the setting `trustProxy`. */
export interface FastifyMessage {
  readonly raw: NodeMessage
  readonly headers: object
  readonly protocol: string
  readonly ip: string
}

/**
 * What is read of a request of `node:http`, `node:https`, `node:http2` and Express. `secure` and `ip` come from Express,
 * which depend on the setting `trust proxy`.
 */
export interface NodeMessage {
  readonly url?: string | undefined
  readonly originalUrl?: string
  readonly rawHeaders: readonly string[]
  readonly headers: object
  readonly socket: { readonly remoteAddress?: string | undefined; readonly encrypted?: boolean }
  readonly secure?: boolean
  readonly ip?: string | undefined
}

/** What a request does not show itself. */
export interface OwnRequestOptions extends ProxyOptions {
  /** Whether the request came over TLS. Default: as with the binding; a Fetch request is insecure. */
  readonly secure?: boolean
  /** The address of the client. Default: as with the binding; a Fetch request has none. */
  readonly peer?: string
}

const known = ['secure', 'peer', 'trustedProxies', 'forwarded']

/**
 * Returns what security providers read of a request, with the rules of the binding for its kind. Its body is not read.
 * Throws a TypeError for any other value, for an unknown option, and for proxies with a request that is not of
 * `node:http`.
 */
export function credentialsOf(request: OwnRequest, options: OwnRequestOptions): Credentials {
  requireKnown('authenticate', options, known)
  const read = readRequest(request, options)
  const { secure = read.secure, peer = read.peer } = options
  return { ...read, secure, peer }
}

function readRequest(request: OwnRequest, options: OwnRequestOptions): Credentials {
  if (isNode(request) && request.secure === undefined) return ofNode(request, options)
  if (options.trustedProxies !== undefined || options.forwarded !== undefined) {
    throw new TypeError(
      "authenticate: trustedProxies and forwarded are for requests of Node's http module. Set trust proxy of Express or " +
        'trustProxy of Fastify; with a Fetch request, pass secure and peer.',
    )
  }
  if (isNode(request)) return ofExpress(request)
  if (isFastify(request)) return ofFastify(request)
  if (isFetch(request)) return ofFetch(request)
  if (isCredentials(request)) return ofCredentials(request)
  throw new TypeError(
    'authenticate: the request must be one of Node, Express or Fastify, or a Fetch request (c.req.raw in Hono)',
  )
}

function ofNode(message: NodeMessage, options: OwnRequestOptions): Credentials {
  const { remoteAddress, encrypted = false } = message.socket
  const { isHttps, clientOf } = trustedProxies(options)
  const { target, header } = ofMessage(message)
  const secure = isHttps(remoteAddress, header, encrypted)
  return { target, header, secure, peer: clientOf(remoteAddress, header) }
}

function ofExpress(message: NodeMessage): Credentials {
  const { socket, ip } = message
  return {
    ...ofMessage(message),
    secure: isFrameworkHttps(message, ({ secure }) => secure === true),
    peer: addressOf(ip) ?? addressOf(socket.remoteAddress),
  }
}

function ofFastify(request: FastifyMessage): Credentials {
  const { raw, ip } = request
  return {
    ...ofMessage(raw),
    secure: isFrameworkHttps(request, ({ protocol }) => protocol === 'https'),
    peer: addressOf(ip) ?? addressOf(raw.socket.remoteAddress),
  }
}

function ofMessage(message: NodeMessage): Pick<Credentials, 'target' | 'header'> {
  const { originalUrl, url, rawHeaders } = message
  return {
    target: originForm(originalUrl ?? url ?? ''),
    header: (name) => headerOf(rawHeaders, name),
  }
}

function ofFetch({ url, headers }: FetchMessage): Credentials {
  return {
    target: originForm(url),
    header: (name) => headers.get(name) ?? undefined,
    secure: false,
    peer: undefined,
  }
}

// Its members may be getters.
function ofCredentials(request: Credentials): Credentials {
  const { target, secure, peer } = request
  return { target, header: (name) => request.header(name), secure, peer }
}

function isNode(request: OwnRequest): request is NodeMessage {
  return Array.isArray((Object(request) as Partial<NodeMessage>).rawHeaders)
}

function isFastify(request: OwnRequest): request is FastifyMessage {
  return Array.isArray((Object(request) as Partial<FastifyMessage>).raw?.rawHeaders)
}

function isFetch(request: OwnRequest): request is FetchMessage {
  const { url, headers } = Object(request) as Partial<FetchMessage>
  return typeof url === 'string' && typeof headers?.get === 'function'
}

function isCredentials(request: OwnRequest): request is Credentials {
  const { target, header } = Object(request) as Partial<Credentials>
  return typeof target === 'string' && typeof header === 'function'
}
