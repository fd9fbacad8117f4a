import * as z from 'zod'

/**
 * The error of a failed request. `rejected`: the service rejected it, and a retry would be rejected again.
 * `unavailable`: there was no valid response, or a status of 500 or above; a retry may succeed.
 */
export class RequestError extends Error {
  readonly kind: 'rejected' | 'unavailable'
  /** The HTTP status; null without a response. */
  readonly status: number | null

  constructor(
    kind: 'rejected' | 'unavailable',
    message: string,
    { status = null, cause }: { readonly status?: number | null; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'RequestError'
    this.kind = kind
    this.status = status
  }
}

/** The request that {@link sendRequest} sends. */
export interface OutgoingRequest<Body> {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  /** The shape of the response body. */
  readonly shape: z.ZodType<Body>
  /** Milliseconds until the complete response must have arrived. */
  readonly timeout: number
  readonly signal: AbortSignal | undefined
}

/** The body of an error response. */
const errorEnvelope = z.object({
  message: z.string().nullable(),
  validations: z.array(z.object({ message: z.string(), field: z.string().optional() })),
})

/**
 * Sends a request and returns the response body. Rejects with a RequestError, or with the reason of
 * `signal` once that is aborted. Redirects are not followed, since the key would be sent along.
 */
export async function sendRequest<Body>(request: OutgoingRequest<Body>): Promise<Body> {
  const { shape, signal } = request
  const timeout = AbortSignal.timeout(request.timeout)
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: {
        Accept: 'application/json',
        ...request.headers,
        ...(request.body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
      redirect: 'manual',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    const { status } = response
    if (status >= 300 && status < 400) {
      await response.body?.cancel()
      throw new RequestError('rejected', `The URL redirects (${status}). Use the target URL.`, {
        status,
      })
    }
    const body = parsed(await response.text())
    if (status !== 200) throw errorOf(status, body)
    const result = shape.safeParse(body)
    if (result.success) return result.data
    throw new RequestError('unavailable', 'The URL is not that of a service with releases.', {
      status,
    })
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof RequestError) throw error
    const reason = timeout.aborted ? 'it did not respond in time' : reasonOf(error)
    throw new RequestError('unavailable', `The service could not be reached: ${reason}.`, {
      cause: error,
    })
  }
}

function errorOf(status: number, body: unknown): RequestError {
  const { data } = errorEnvelope.safeParse(body)
  const findings = (data?.validations ?? []).map(({ message, field }) =>
    field === undefined ? message : `${field}: ${message}`,
  )
  const text = [data?.message ?? 'There was no message.', ...findings].join(' ')
  const kind = status >= 500 ? 'unavailable' : 'rejected'
  return new RequestError(kind, `The service responded ${status}: ${text}`, { status })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Returns the reason of a failed fetch, which is in its cause. */
function reasonOf(error: unknown): string {
  const { cause } = Object(error) as { readonly cause?: unknown }
  const deepest = cause instanceof Error ? cause : error
  const { code, message } = Object(deepest) as {
    readonly code?: unknown
    readonly message?: unknown
  }
  const text = typeof message === 'string' && message !== '' ? message : 'the connection failed'
  return typeof code === 'string' && !text.includes(code) ? `${text} (${code})` : text
}
