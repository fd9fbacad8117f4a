import { runtime } from '../../runtime.ts'
import type { EndpointRequest } from '../call.ts'
import { CallError } from '../call-error.ts'

const statuses = new Set([408, 425, 429, 502, 503, 504])
const codes = new Set(['CONNECTION_FAILED', 'NAME_NOT_FOUND'])
const firstDelay = 200
const maxDelay = 10_000

/** What is known when an attempt has failed. */
export interface FailedAttempt {
  readonly error: unknown
  /** The number of attempts so far. */
  readonly attempt: number
  /** Milliseconds that are left for the call. */
  readonly remaining: number
}

/** Returns whether sending a request twice has the effect of sending it once. */
export function isRepeatable({ method, options }: EndpointRequest): boolean {
  const isIdempotent = method === 'GET' || method === 'PUT' || method === 'DELETE'
  return isIdempotent || options.idempotencyKey !== undefined
}

/**
 * Returns the milliseconds to wait before the next attempt; undefined if there should be none. The delay is
 * random up to a limit that doubles (full jitter), or what the other service asked for if that fits.
 */
export function retryDelay({ error, attempt, remaining }: FailedAttempt): number | undefined {
  if (!(error instanceof CallError)) return undefined
  const { code, status, retryAfter } = error
  if (!codes.has(code) && !(code === 'STATUS' && statuses.has(status ?? 0))) return undefined
  const delay =
    retryAfter === null
      ? runtime.random() * Math.min(maxDelay, firstDelay * 2 ** (attempt - 1))
      : retryAfter * 1000
  return delay < remaining ? delay : undefined
}

/** Returns the seconds of a `Retry-After` header, which has a number or a date; undefined if it is invalid. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  // Date.parse accepts many other forms.
  if (!/^[A-Za-z]{3,9},? .+GMT$/.test(text)) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - runtime.dateNow()) / 1000))
}
