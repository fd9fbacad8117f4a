import { requirePlainJson } from '../checks/plain-object.ts'
import type { Envelope } from '../protocol/envelope.ts'
import type { CompleteOptions } from './options.ts'
import { connectionError, RequestError, statusError, tooLarge } from './request-error.ts'

/** A request to a collection or an item. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** The path after `/rest/v1`, and the query. */
  readonly target: string
  readonly body?: object
  /** The ids of confirmed warnings. */
  readonly confirmed?: ReadonlySet<string>
  /** The tag of the version that may be changed. */
  readonly ifMatch?: string
  readonly signal?: AbortSignal | undefined
  /** In milliseconds. Default: the option of the client. */
  readonly timeout?: number
  /** The maximum number of bytes of the response. Default: the option of the client. */
  readonly maxBytes?: number
}

/** A response with status 200. */
export interface IncomingResponse {
  readonly envelope: Envelope
  /** Its tag; null if it is absent or not exposed. */
  readonly etag: string | null
  /** Returns a header with the brand prefix, such as `Next-Cursor`; null if it is absent or not exposed. */
  readonly header: (name: string) => string | null
}

/** Sends a request. Rejects with a RequestError for every other response, and without one. */
export type Send = (request: OutgoingRequest) => Promise<IncomingResponse>

const firstPause = 500
const maxPause = 30_000

/** Returns the function with which a client sends all its requests. */
export function createSend(options: CompleteOptions): Send {
  return async (request) => {
    requirePlainJson('The values', request.body, 'the client')
    const body = request.body === undefined ? {} : { body: JSON.stringify(request.body, finite) }
    const signals = [options.signal, request.signal].filter((signal) => signal !== undefined)
    const time = request.timeout ?? options.timeout
    const isWrite = request.method !== 'GET'
    // Each attempt has the same key.
    const key = isWrite && options.retryWrites ? { 'Idempotency-Key': newKey() } : {}
    for (let attempt = 0; ; attempt++) {
      try {
        return await within({ signals, time }, async (signal) => {
          const headers = { ...(await headersOf(request, options)), ...key }
          const init = {
            method: request.method,
            headers,
            ...body,
            redirect: 'manual',
            signal,
          } as const
          return readResponse(options, await exchange(options, request, init))
        })
      } catch (error) {
        const isRepeated = isWrite ? options.retryWrites && isLost(error) : isBusy(error)
        const wait = isRepeated ? pauseBefore(error, attempt) : undefined
        if (wait === undefined || attempt >= options.retries) throw error
        await pause(wait, signals)
      }
    }
  }
}

/** Resolves after a time in milliseconds. Rejects with a RequestError once a signal is aborted. */
export async function pause(time: number, signals: readonly AbortSignal[]): Promise<void> {
  await within({ signals, time: 2 ** 31 - 1 }, async (signal) => {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, time)
      signal.addEventListener('abort', () => clearTimeout(timer))
    })
  })
}

async function headersOf(
  { body, confirmed, ifMatch }: OutgoingRequest,
  { credential, brand }: CompleteOptions,
): Promise<Readonly<Record<string, string>>> {
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (ifMatch !== undefined) headers['If-Match'] = ifMatch
  if (confirmed !== undefined && confirmed.size > 0)
    headers[`X-${brand}-Ignore-Warnings`] = Array.from(confirmed, (id) => `"${id}"`).join(', ')
  try {
    return Object.assign(headers, await credential())
  } catch (cause) {
    throw new RequestError('CREDENTIAL_FAILED', 'The credential could not be obtained.', { cause })
  }
}

interface Exchanged {
  readonly response: Response
  readonly text: string
}

async function exchange(
  { root, fetch, maxResponseBytes }: CompleteOptions,
  { target, maxBytes = maxResponseBytes }: OutgoingRequest,
  init: RequestInit,
): Promise<Exchanged> {
  try {
    const response = await fetch(`${root}/rest/v1${target}`, init, maxBytes)
    const { status, type, redirected } = response
    // The credential would be sent along.
    if (redirected || type === 'opaqueredirect' || (status >= 300 && status < 400)) {
      response.body?.cancel().catch(() => undefined)
      const code = status === 0 ? '' : ` (${status})`
      throw new RequestError('REDIRECT', `The URL redirects${code}. Use the target URL.`, {
        status,
      })
    }
    return { response, text: await readText(response, maxBytes) }
  } catch (error) {
    throw error instanceof RequestError ? error : connectionError(error, maxBytes)
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  // React Native has no streams.
  const body = response.body as ReadableStream<Uint8Array> | null | undefined
  if (body === null || body === undefined) return response.text()
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let left = maxBytes; ;) {
    const { value } = await reader.read()
    if (value === undefined) return text + decoder.decode()
    left -= value.byteLength
    if (left < 0) {
      reader.cancel().catch(() => undefined)
      throw tooLarge(maxBytes)
    }
    text += decoder.decode(value, { stream: true })
  }
}

function readResponse({ brand }: CompleteOptions, { response, text }: Exchanged): IncomingResponse {
  const { status, headers } = response
  const envelope = envelopeOf(text)
  if (status !== 200) throw statusError(status, envelope, retryAfterOf(headers))
  if (envelope === undefined)
    throw new RequestError('INVALID_RESPONSE', 'There is no service at this URL.', { status })
  const header = (name: string) => headers.get(`X-${brand}-${name}`)
  return { envelope, etag: headers.get('ETag'), header }
}

function envelopeOf(text: string): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const { validations, items } = Object(value) as Partial<Envelope>
    const isEnvelope = isList(validations) && (items === undefined || isList(items))
    return isEnvelope ? (value as Envelope) : undefined
  } catch {
    return undefined
  }
}

/** Returns whether a value is an array of objects. */
function isList(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'object' && entry !== null)
}

function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('Retry-After') ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - Date.now()) / 1000))
}

// crypto.randomUUID is missing in pages that came over plain HTTP.
function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}

function isBusy(error: unknown): boolean {
  const { status } = error as Partial<RequestError>
  return status === 429 || status === 503
}

/**
 * Returns whether a write with a key is repeated: the service is busy, its response was lost, or its first attempt is
 * running. A 500 comes from the service itself, which has failed.
 */
function isLost(error: unknown): boolean {
  const { isTemporary = false, status, retryAfter } = error as Partial<RequestError>
  return status === 409 ? typeof retryAfter === 'number' : isTemporary && status !== 500
}

/** Returns how long to wait before a request is repeated, in milliseconds; undefined if it is not. */
function pauseBefore(error: unknown, attempt: number): number | undefined {
  const { retryAfter } = error as Partial<RequestError>
  const time =
    typeof retryAfter === 'number'
      ? retryAfter * 1000
      : firstPause * 2 ** attempt * (0.5 + Math.random() / 2)
  return time > maxPause ? undefined : time
}

/** Runs work until it ends, the time in milliseconds is over, or a signal is aborted. */
async function within<Result>(
  { signals, time }: { readonly signals: readonly AbortSignal[]; readonly time: number },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const control = new AbortController()
  // The function of a credential and a custom fetch may ignore the signal.
  let stop: (error: RequestError) => void = () => undefined
  const stopped = new Promise<never>((_, reject) => {
    stop = (error) => {
      reject(error)
      control.abort(error)
    }
  })
  stopped.catch(() => undefined)
  const abort = ({ target }: { readonly target: unknown }): void => {
    const cause: unknown = (target as AbortSignal).reason
    stop(new RequestError('ABORTED', 'The request was aborted.', { cause }))
  }
  const timer = setTimeout(() => {
    stop(
      new RequestError('TIMEOUT', 'The service could not be reached: it did not respond in time.'),
    )
  }, time)
  for (const signal of signals) {
    if (signal.aborted) abort({ target: signal })
    signal.addEventListener('abort', abort)
  }
  try {
    return await Promise.race([stopped, control.signal.aborted ? stopped : work(control.signal)])
  } finally {
    clearTimeout(timer)
    for (const signal of signals) signal.removeEventListener('abort', abort)
  }
}

// JSON has no such numbers: null would remove the value.
function finite(name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`${name} must be a finite number`)
  return value
}
