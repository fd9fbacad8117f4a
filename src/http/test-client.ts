import * as z from 'zod/mini'
import { completeOptions, requireKnown, withoutUndefined } from '../checks/options.ts'
import { requirePlainJson } from '../checks/plain-object.ts'
import type { RequestHandler, ServiceRequest } from '../request/request.ts'
import type { Envelope } from '../protocol/envelope.ts'
import type { Json } from '../protocol/json.ts'
import { lossInJson, stringifyJson } from '../protocol/json-text.ts'
import { pathRoot } from '../protocol/names.ts'
import { bodyTooLarge } from './read.ts'

/** Options of {@link createTestClient}. They apply to all its requests. */
export interface TestClientOptions {
  /** An API key that `service.keys.create` has returned. Sent as `X-API-Key`. Default: none. */
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the service treats requests as received over TLS. Default: true. */
  readonly secure?: boolean
  /** The address of the client. Default: unknown. */
  readonly peer?: string
}

/** Options of one request of a test client. */
export interface TestRequest {
  /** Parameters by name, such as `{ $limit: 5, city: 'Berlin' }`, or the raw query string without `?`. */
  readonly query?: string | Readonly<Record<string, string | number | bigint | boolean>>
  /** Replaces the key of the client. */
  readonly key?: string
  /** Added to the headers of the client; replaces those with the same names. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A response of the service. */
export interface TestReply {
  readonly status: number
  readonly headers: Headers
  /** The envelope. That of a 304, which has no body, has only its status. */
  readonly body: Envelope<Readonly<Record<string, Json>>>
}

/** Sends requests to a service without a server. Paths are relative to `/rest/v1`: `/sales/customers`. */
export interface TestClient {
  get(path: string, request?: TestRequest): Promise<TestReply>
  /** Sends a string or bytes unchanged, and any other body as JSON. */
  post(path: string, body: unknown, request?: TestRequest): Promise<TestReply>
  delete(path: string, request?: TestRequest): Promise<TestReply>
}

const shape = z.strictObject({
  key: z.optional(z.string()),
  headers: z.optional(
    z.pipe(z.custom<Readonly<Record<string, string>>>(), z.transform(withoutUndefined)),
  ),
  secure: z._default(z.boolean(), true),
  peer: z.optional(z.string()),
} satisfies Record<keyof TestClientOptions, z.ZodMiniType>)

/**
 * Creates a client for tests. It uses no socket, and responses are the same as over HTTP. Paths and raw
 * queries are sent unchanged. Its methods reject with a TypeError for a path that does not start with a
 * slash.
 */
export function createTestClient(
  service: RequestHandler,
  given: TestClientOptions = {},
): TestClient {
  const options = completeOptions('createTestClient', shape, given) as TestClientOptions

  async function send(sent: Sent, request: TestRequest = {}): Promise<TestReply> {
    requireKnown('the test client', request, ['query', 'key', 'headers'])
    const { status, headers, body } = await service.handle(serviceRequest(sent, request, options))
    return {
      status,
      headers: new Headers(headers),
      body:
        body === ''
          ? { message: null, validations: [], status }
          : (JSON.parse(body) as TestReply['body']),
    }
  }

  return Object.freeze({
    get: (path, request) => send({ method: 'GET', path }, request),
    post: async (path, body, request) =>
      send({ method: 'POST', path, body: bytesOf(body) }, request),
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
    throw new TypeError(`The path must start with a slash, such as /sales/customers: ${path}`)
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
  requirePlainJson('The body', body, 'the test client')
  const loss = lossInJson(body)
  if (loss !== undefined) throw new TypeError(`The body ${loss}`)
  return new TextEncoder().encode(typeof body === 'string' ? body : stringifyJson(body))
}
