import type { IncomingMessage } from 'node:http'
import { types } from 'node:util'
import { ServiceError } from '../errors.ts'
import { maxBodyDepth } from '../protocol/json.ts'
import { bodyTooLarge } from './read.ts'

/** What body parsers set on a request. */
export interface ParsedRequest {
  /** The parsed body. */
  readonly body?: unknown
  /** The bytes or the string of the body, if your application makes its parser keep them. */
  readonly rawBody?: unknown
}

/**
 * Returns the bytes of a JSON body that a body parser has read: the bytes or the string if it kept them,
 * otherwise JSON of the parsed value. Throws BODY_TOO_LARGE above `limit` bytes, MALFORMED_BODY if an empty
 * object can't be distinguished from an empty body, and an Error if the body is lost.
 */
export function takeParsed(request: IncomingMessage & ParsedRequest, limit: number): Uint8Array {
  const bytes = kept(request.rawBody) ?? kept(request.body) ?? encoded(request)
  if (bytes.length > limit) throw bodyTooLarge(limit)
  return bytes
}

function kept(body: unknown): Uint8Array | undefined {
  if (typeof body === 'string') return Buffer.from(body)
  return types.isUint8Array(body) ? body : undefined
}

// Parsers return {} for an empty body, and some set {} without reading. So {} is accepted only if the
// headers show that {} was sent.
function encoded({ headers, body }: IncomingMessage & ParsedRequest): Uint8Array {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  const text = body === undefined ? undefined : textOf(body)
  if (text !== undefined && text !== '{}') return Buffer.from(text)
  if (coding === undefined && Number(length ?? 0) === 0) return new Uint8Array()
  if (text === undefined) throw lost()
  if (length === '2') return Buffer.from(text)
  // Parsers also return {} for an empty chunked body and for a byte order mark alone.
  if (length === undefined || length === '3') {
    throw new ServiceError(
      'MALFORMED_BODY',
      'The server cannot distinguish an empty request body from {}. To send an empty object, send {} with Content-Length: 2.',
    )
  }
  throw lost()
}

function lost(options?: ErrorOptions): Error {
  return new Error(
    'The request body was read before the service could read it, and it cannot be restored from the ' +
      'parsed request. Mount the service before body parsers and other code that reads bodies, or make ' +
      'the parser keep the bytes: express.json({ verify: (request, response, bytes) => ' +
      '{ request.rawBody = bytes } }).',
    options,
  )
}

function textOf(body: unknown): string | undefined {
  try {
    return jsonOf(body, 1)
  } catch (error) {
    throw lost({ cause: error })
  }
}

// JSON.stringify writes null for a number that is too large for a double, and throws for a body that is
// nested too deeply. Both are mistakes of the client, which decodeBody reports.
function jsonOf(value: unknown, depth: number): string | undefined {
  if (typeof value === 'number' && !Number.isNaN(value)) return numberOf(value)
  if (Array.isArray(value)) {
    const items: readonly unknown[] = depth > maxBodyDepth ? [] : value
    return `[${items.map((item) => jsonOf(item, depth + 1) ?? 'null').join()}]`
  }
  if (!isPlain(value)) return JSON.stringify(value)
  // One level too many is enough for decodeBody to reject the body.
  const members = depth > maxBodyDepth ? [] : Object.entries(value)
  const texts = members.flatMap(([name, member]) => {
    const text = jsonOf(member, depth + 1)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  return `{${texts.join()}}`
}

function numberOf(value: number): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value)
  return value > 0 ? '1e999' : '-1e999'
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
