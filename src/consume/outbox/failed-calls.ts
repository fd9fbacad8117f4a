import { parseJson, stringifyJson } from '../../protocol/json-text.ts'
import type { CallError, CallErrorCode } from '../call-error.ts'

// 401 and 403 are about the credentials of this side, which can be corrected.
const transientStatuses = new Set([401, 403, 408, 409, 425, 429])
const finalCodes = new Set<CallErrorCode>(['INVALID_INPUT', 'FORBIDDEN_URL'])
const unreadableCodes = new Set<CallErrorCode>([
  'RESPONSE_TOO_LARGE',
  'RESPONSE_TOO_DEEP',
  'RESPONSE_NOT_JSON',
  'INVALID_JSON',
  'INVALID_RESPONSE',
])

/**
 * Returns whether further calls would fail in the same way, or must not be made: a response of 200 to 299 says that the
 * call had its effect, even if its body can't be read.
 */
export function isFinal({ code, status }: CallError): boolean {
  if (finalCodes.has(code)) return true
  if (status === null) return false
  if (unreadableCodes.has(code)) return status >= 200 && status < 300
  return code === 'STATUS' && status >= 400 && status < 500 && !transientStatuses.has(status)
}

/**
 * Returns whether a function has said that further calls of it would fail in the same way. Other errors are of calls that
 * it makes, such as one for a token: they don't show whether the function had its effect.
 */
export function isFinalOfFunction({ code }: CallError): boolean {
  return code === 'INVALID_INPUT'
}

/** What is stored of the response of a failed call. */
export interface FailedResponse {
  readonly status: number
  /** The beginning of its body; null if that was empty, or could not be read at all. */
  readonly excerpt: string | null
}

/** Returns the JSON of what is stored of the response of a failed call; null if there was none. */
export function encodeFailedResponse({ status, excerpt }: CallError): string | null {
  if (status === null) return null
  return (
    stringifyJson({ status, excerpt: excerpt?.toWellFormed() ?? null } satisfies FailedResponse) ??
    null
  )
}

/** Returns what {@link encodeFailedResponse} has stored; undefined for other JSON. */
export function decodeFailedResponse(json: string): FailedResponse | undefined {
  let stored: unknown
  try {
    stored = parseJson(json)
  } catch {
    return undefined
  }
  const { status, excerpt = null } = Object(stored) as Readonly<Record<string, unknown>>
  if (typeof status !== 'number' || !Number.isSafeInteger(status)) return undefined
  return typeof excerpt === 'string' || excerpt === null ? { status, excerpt } : undefined
}
