import type { IncomingMessage } from 'node:http'
import { types } from 'node:util'
import { ServiceError } from '../errors.ts'
import { maximumDepth } from '../protocol/json.ts'
import { bodyTooLarge } from './read.ts'

/** What body parsers leave on a request. */
export interface ParsedRequest {
  /** What a parser made of the body. */
  readonly body?: unknown
  /** The bytes, or the text, where the host has its parser keep them. */
  readonly rawBody?: unknown
}

/**
 * The bytes of a JSON body that somebody else has read: the bytes or the text where they were kept, and
 * else JSON text of what was parsed. Throws BODY_TOO_LARGE above `limit` bytes, MALFORMED_BODY when
 * nothing tells an empty object from no body at all, and an Error when nothing of the body is left.
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

// Parsers make {} of no body, and some leave {} where they have read nothing. It counts as what was
// sent only where nothing else could have been.
function encoded({ headers, body }: IncomingMessage & ParsedRequest): Uint8Array {
  const { 'content-length': length, 'transfer-encoding': coding } = headers
  const text = body === undefined ? undefined : textOf(body)
  if (text !== undefined && text !== '{}') return Buffer.from(text)
  if (coding === undefined && Number(length ?? 0) === 0) return new Uint8Array()
  if (text === undefined) throw lost()
  if (length === '2') return Buffer.from(text)
  // Nothing in chunks, and a byte order mark with nothing behind it, were made {} as well.
  if (length === undefined || length === '3') {
    throw new ServiceError(
      'MALFORMED_BODY',
      'The request body is empty or an empty object, and which of the two is not known here: send {} with Content-Length: 2.',
    )
  }
  throw lost()
}

function lost(options?: ErrorOptions): Error {
  return new Error(
    'The request body was read before the service could read it, and what is left on the request does ' +
      'not tell what it was. Mount the service in front of body parsers and of all else that reads ' +
      'bodies, or have the parser keep the bytes: express.json({ verify: (request, response, bytes) ' +
      '=> { request.rawBody = bytes } }).',
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

// JSON.stringify would write null for a number beyond all doubles, and fail for a body that is nested
// too deep. Both are the consumer's mistakes, to be found where the text is read.
function jsonOf(value: unknown, depth: number): string | undefined {
  if (typeof value === 'number' && !Number.isNaN(value)) return numberOf(value)
  if (Array.isArray(value)) {
    const items: readonly unknown[] = depth > maximumDepth ? [] : value
    return `[${items.map((item) => jsonOf(item, depth + 1) ?? 'null').join()}]`
  }
  if (!isPlain(value)) return JSON.stringify(value)
  // One level more than allowed is enough to be refused.
  const members = depth > maximumDepth ? [] : Object.entries(value)
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
