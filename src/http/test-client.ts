import { z } from 'zod'
import { completeOptions, requireKnown, withoutUndefined } from '../definition/options.ts'
import type { RequestHandler, ServiceRequest } from '../request/request.ts'
import type { Envelope } from '../protocol/envelope.ts'
import type { Json } from '../protocol/json.ts'
import { pathRoot } from '../protocol/names.ts'
import { bodyTooLarge } from './read.ts'

/** What every request of a test client has, unless the request says otherwise. */
export interface TestClientOptions {
  /** An API key, as `service.keys.create` gives it out. Sent as `X-API-Key`. Default: none. */
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Whether requests count as having come over TLS. Default true. */
  readonly secure?: boolean
  /** The address that they come from. Default: unknown. */
  readonly peer?: string
}

/** What one request of a test client has of its own. */
export interface TestRequest {
  /** Parameters by name, such as `{ $limit: 5, city: 'Berlin' }`, or the raw text behind the `?`. */
  readonly query?: string | Readonly<Record<string, string | number | bigint | boolean>>
  /** Instead of the client's. */
  readonly key?: string
  /** Beside the client's, and instead of those of the same names. */
  readonly headers?: Readonly<Record<string, string>>
}

/** What came back. */
export interface TestReply {
  readonly status: number
  readonly headers: Headers
  readonly body: Envelope<Readonly<Record<string, Json>>>
}

/** Sends requests to a service without a server. Paths go on behind `/rest/v1`: `/sales/customers`. */
export interface TestClient {
  get(path: string, request?: TestRequest): Promise<TestReply>
  /** Text and bytes are sent as they are, anything else as JSON. */
  post(path: string, body: unknown, request?: TestRequest): Promise<TestReply>
  delete(path: string, request?: TestRequest): Promise<TestReply>
}

const shape = z.strictObject({
  key: z.string().optional(),
  headers: z.custom<Readonly<Record<string, string>>>().transform(withoutUndefined).optional(),
  secure: z.boolean().default(true),
  peer: z.string().optional(),
} satisfies Record<keyof TestClientOptions, z.ZodType>)

/**
 * Makes a client for tests: no socket, and the same answers as over one. Paths and raw queries are
 * taken as they are written. Its calls throw a TypeError for a path that does not start with a slash.
 */
export function createTestClient(
  service: RequestHandler,
  given: TestClientOptions = {},
): TestClient {
  const options = completeOptions('createTestClient', shape, given) as TestClientOptions

  async function send(sent: Sent, request: TestRequest = {}): Promise<TestReply> {
    requireKnown('The request of a test client', request, ['query', 'key', 'headers'])
    const { status, headers, body } = await service.handle(serviceRequest(sent, request, options))
    return {
      status,
      headers: new Headers(headers),
      body: JSON.parse(body) as TestReply['body'],
    }
  }

  return Object.freeze({
    get: (path, request) => send({ method: 'GET', path }, request),
    post: (path, body, request) => send({ method: 'POST', path, body: bytesOf(body) }, request),
    delete: (path, request) => send({ method: 'DELETE', path }, request),
  } satisfies TestClient)
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: Uint8Array
}

function serviceRequest(
  { method, path, body }: Sent,
  request: TestRequest,
  options: TestClientOptions,
): ServiceRequest {
  if (!path.startsWith('/')) {
    throw new TypeError(`The path must start with a slash, as /sales/customers does: ${path}`)
  }
  const headers = new Headers(
    body && { 'Content-Type': 'application/json', 'Content-Length': String(body.byteLength) },
  )
  const key = request.key ?? options.key
  if (key !== undefined) headers.set('X-API-Key', key)
  const own = withoutUndefined(request.headers ?? {})
  for (const [name, value] of Object.entries({ ...options.headers, ...own })) {
    headers.set(name, value)
  }
  return {
    method,
    target: `${pathRoot}${path.slice(1)}${queryText(request.query)}`,
    header: (name) => headers.get(name) ?? undefined,
    secure: options.secure ?? true,
    peer: options.peer,
    signal: undefined,
    body: async (limit) => {
      if (body === undefined) return new Uint8Array()
      if (body.byteLength > limit) throw bodyTooLarge(limit)
      return body
    },
  }
}

function queryText(query: TestRequest['query'] = ''): string {
  const text =
    typeof query === 'string'
      ? query
      : Object.entries(withoutUndefined(query))
          .map(
            ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`,
          )
          .join('&')
  return text === '' ? '' : `?${text}`
}

function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
}
