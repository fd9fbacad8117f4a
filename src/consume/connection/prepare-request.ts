import type { Credentials } from './authentication.ts'
import { readSecret, type Secret } from './secret.ts'
import type { EndpointRequest, RequestBody, ResponseFormat } from '../call.ts'
import { CallError } from '../call-error.ts'
import { idempotencyHeader, type ConnectionSettings } from './connection-options.ts'

/** What a connection adds to a request. */
export interface RequestContext {
  readonly url: URL
  readonly credentials: Credentials
  readonly settings: ConnectionSettings
}

/**
 * Returns the URL and headers of a request. Credentials and the query of the connection replace parameters of the
 * endpoint; headers of the endpoint replace headers of the connection. Rejects with AUTHENTICATION_FAILED if a secret
 * can't be read or sent.
 */
export async function prepareRequest(
  request: EndpointRequest,
  { url, credentials, settings }: RequestContext,
): Promise<{ readonly url: URL; readonly headers: Headers }> {
  const { endpoint, body, options } = request
  const headers = new Headers({ accept: accepted[request.as ?? 'json'] })
  const set = (name: string, value: string): void => {
    if (!isHeaderValue(value)) throw new CallError('AUTHENTICATION_FAILED', endpoint)
    headers.set(name, value)
  }
  for (const [name, value] of await readAll(settings.headers, endpoint)) set(name, value)
  for (const [name, value] of request.headers) headers.set(name, value)
  if (request.accept !== undefined) headers.set('accept', request.accept)
  if (body !== undefined) headers.set('content-type', body.type)
  const size = bodySize(body)
  if (size !== undefined) headers.set('content-length', String(size))
  if (options.idempotencyKey !== undefined) {
    const { quoted = false } = settings.idempotency
    const key = idempotencyKey(options.idempotencyKey, quoted, endpoint)
    headers.set(idempotencyHeader(settings.idempotency), key)
  }
  for (const [name, value] of Object.entries(credentials.headers ?? {})) set(name, value)
  const target = new URL(url)
  // Callers may choose the parameters of an endpoint, but can't replace the parameters of every request.
  for (const [name, value] of await readAll(settings.query, endpoint))
    target.searchParams.set(name, value)
  for (const [name, value] of Object.entries(credentials.query ?? {}))
    target.searchParams.set(name, value)
  return { url: target, headers }
}

const accepted = {
  json: 'application/json',
  lines: 'application/x-ndjson, application/jsonl, application/json;q=0.5',
  text: 'text/*, */*;q=0.8',
} as const satisfies Readonly<Record<ResponseFormat, string>>

/** Returns the size of a body that is read while it is sent; undefined for others, whose size the transport knows. */
function bodySize(body: RequestBody | undefined): number | undefined {
  const content = body?.content
  return typeof content === 'object' && !(content instanceof Uint8Array) ? content.size : undefined
}

/** Returns whether text can be the value of a header. */
export function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text)
}

/**
 * Returns whether text can be an idempotency key: 1 to 255 printable ASCII characters, without a space at either end,
 * which a header does not keep.
 */
export function isIdempotencyKey(text: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(text)
}

async function readAll(
  secrets: Readonly<Record<string, Secret>>,
  endpoint: string,
): Promise<readonly (readonly [string, string])[]> {
  try {
    return await Promise.all(
      Object.entries(secrets).map(
        async ([name, value]) => [name, await readSecret(value)] as const,
      ),
    )
  } catch {
    throw new CallError('AUTHENTICATION_FAILED', endpoint)
  }
}

function idempotencyKey(key: string, quoted: boolean, endpoint: string): string {
  if (!isIdempotencyKey(key))
    throw new CallError('INVALID_INPUT', endpoint, { detail: 'the idempotency key is not valid' })
  return quoted ? `"${key.replace(/[\\"]/g, '\\$&')}"` : key
}
