import { readBytes, type BoundedBytes } from '../../bounded-bytes.ts'
import { charsetOf, isJsonType } from '../body/media-type.ts'
import type { EndpointRequest, ResponseFormat } from '../call.ts'
import { CallError, type CallErrorCode } from '../call-error.ts'
import { codingsOf } from './decompress.ts'
import { callErrorOf, reasonCodeOf } from './failure.ts'
import { largeNumberAdvice, parseResponse, type LargeNumbers } from './json-text.ts'

/** The limits of a response. */
export interface ResponseLimits {
  /** The maximum number of bytes after decompression. */
  readonly maxResponseBytes: number
  readonly maxDepth: number
  readonly largeNumbers: LargeNumbers
}

type Request = Pick<EndpointRequest, 'endpoint' | 'as'>

/** Reads the body of a successful response. */
export type ReadBody<Body> = (
  response: Response,
  request: Request,
  limits: ResponseLimits,
) => Promise<Body>

/** Reads and parses the body of a response. Rejects with a CallError. */
export async function parseWholeBody(
  response: Response,
  request: Request,
  limits: ResponseLimits,
): Promise<unknown> {
  return parseBody(await readBody(response, request, limits), response, request, limits)
}

/** Reads the bytes of a response, up to its limit. Rejects with a CallError. */
export async function readBody(
  response: Response,
  request: Request,
  { maxResponseBytes }: ResponseLimits,
): Promise<BoundedBytes> {
  requireKnownEncoding(response, request)
  try {
    return await readBytes(response, maxResponseBytes)
  } catch (error) {
    const failure = callErrorOf(error, request.endpoint)
    // The end may be missing because the connection was closed.
    if (failure.code !== 'RESPONSE_NOT_JSON' || reasonCodeOf(error) === 'Z_BUF_ERROR') throw failure
    throw failing(response, request)('RESPONSE_NOT_JSON', 'the compressed response is damaged')
  }
}

/**
 * Parses a body as the endpoint states; an empty one is null, or has no lines or no text. Throws a CallError.
 */
export function parseBody(
  { bytes, isWhole }: BoundedBytes,
  response: Response,
  request: Request,
  limits: ResponseLimits,
): unknown {
  const fail = failing(response, request, excerptOf(bytes))
  if (!isWhole) throw fail('RESPONSE_TOO_LARGE', tooLarge(limits))
  const { as } = request
  const type = response.headers.get('content-type') ?? ''
  if (as === 'text') return textOf(bytes, type, fail)
  if (bytes.length === 0) return as === 'lines' ? [] : null
  requireJsonType(type, as, fail)
  const text = decoded(bytes)
  if (text === undefined) throw fail('INVALID_JSON', 'the response is not valid UTF-8')
  if (as !== 'lines') return parseValue(text, limits, fail)
  const within = { ...limits, maxDepth: limits.maxDepth - 1 }
  return text
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, number }, index) => parseValue(line, within, fail, { index, number }))
}

type Fail = ReturnType<typeof failing>

/** The position of a value among the lines that have one, from 0, and the number of its line in the body, from 1. */
interface Line {
  readonly index: number
  readonly number: number
}

/** Parses a JSON value, or the value of a line. Throws a CallError. */
function parseValue(text: string, limits: ResponseLimits, fail: Fail, line?: Line): unknown {
  const parsed = parseResponse(text, limits)
  if ('value' in parsed) return parsed.value
  const where = line === undefined ? 'the response' : `line ${line.number}`
  if (parsed.problem === 'duplicate name')
    throw fail('INVALID_JSON', `${where} has an object with a duplicate name`)
  if (parsed.problem === 'invalid')
    throw fail('INVALID_JSON', line === undefined ? undefined : `${where} is invalid JSON`)
  if (parsed.problem === 'large number') {
    const place = line === undefined ? parsed.place : `/${line.index}${parsed.place}`
    throw fail('INVALID_JSON', largeNumberDetail(place, limits))
  }
  throw fail('RESPONSE_TOO_DEEP', `the response is nested deeper than ${limits.maxDepth} levels`)
}

/** Throws unless a media type is JSON, which an endpoint may assume, in UTF-8. */
function requireJsonType(type: string, as: ResponseFormat | undefined, fail: Fail): void {
  const isJson = as !== undefined || isJsonType(type)
  if (!isJson || !/^utf-?8$/.test(charsetOf(type) ?? 'utf-8')) throw fail('RESPONSE_NOT_JSON')
}

function textOf(bytes: Uint8Array, type: string, fail: Fail): string {
  const charset = charsetOf(type) ?? 'utf-8'
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    throw fail('INVALID_RESPONSE', 'the response is not text in its charset')
  }
}

const maxExcerptBytes = 8_192

/** Returns the beginning of a body as text; undefined if it is empty. */
export function excerptOf(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return undefined
  return new TextDecoder().decode(bytes.subarray(0, maxExcerptBytes))
}

/** Leaves a body unread. */
export const ignoreBody: ReadBody<unknown> = async (response) => {
  discardBody(response)
  return null
}

/** The bytes of a body as they arrive. */
export interface StreamedBody extends AsyncIterable<Uint8Array> {
  /** Ends reading, so that the connection is released. */
  cancel(): void
}

/**
 * Returns the bytes of a body as they arrive. Reading them rejects with a CallError if there are too many or if the
 * connection fails. Whether they are JSON is for the reader to find out.
 */
export const streamBody: ReadBody<StreamedBody> = async (response, request, limits) => {
  const fail = failing(response, request)
  requireKnownEncoding(response, request)
  try {
    if (request.as !== 'text')
      requireJsonType(response.headers.get('content-type') ?? '', request.as, fail)
  } catch (error) {
    discardBody(response)
    throw error
  }
  const body = response.body as ReadableStream<Uint8Array> | null
  const reader = body?.getReader()
  const cancel = (): void => {
    reader?.cancel().catch(() => undefined)
  }
  async function* read(): AsyncGenerator<Uint8Array, void, undefined> {
    let length = 0
    try {
      for (;;) {
        const { done = true, value } = (await reader?.read()) ?? {}
        if (done || value === undefined) return
        length += value.byteLength
        if (length > limits.maxResponseBytes) throw fail('RESPONSE_TOO_LARGE', tooLarge(limits))
        yield value
      }
    } catch (error) {
      throw callErrorOf(error, request.endpoint)
    } finally {
      cancel()
    }
  }
  return { [Symbol.asyncIterator]: read, cancel }
}

/** Cancels a body that is not read, so that its connection is released. */
export function discardBody({ body }: Response): void {
  body?.cancel().catch(() => undefined)
}

function failing({ status }: Response, { endpoint }: Request, excerpt?: string) {
  return (code: CallErrorCode, detail?: string): CallError =>
    new CallError(code, endpoint, { status, detail, excerpt })
}

function largeNumberDetail(place: string, { largeNumbers }: ResponseLimits): string {
  return `${largeNumberAdvice(place, largeNumbers)} in the endpoint or the connection`
}

function tooLarge({ maxResponseBytes }: ResponseLimits): string {
  return `the response has more than ${maxResponseBytes} bytes`
}

function requireKnownEncoding(response: Response, request: Request): void {
  // fetch does not decode an unknown content coding.
  if (codingsOf(response.headers.get('content-encoding')) !== undefined) return
  discardBody(response)
  const detail = 'the compression of the response is not supported'
  throw failing(response, request)('RESPONSE_NOT_JSON', detail)
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    // It drops a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
