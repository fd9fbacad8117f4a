import { z } from 'zod'

/**
 * A request that did not do what it was for. `refused`: the service has answered that it won't, and
 * would again. `unreached`: there was no answer of the service, or that it can't now; the next request
 * may fare better.
 */
export class RequestError extends Error {
  readonly kind: 'refused' | 'unreached'
  /** The HTTP status; null without an answer. */
  readonly status: number | null

  constructor(
    kind: 'refused' | 'unreached',
    message: string,
    { status = null, cause }: { readonly status?: number | null; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'RequestError'
    this.kind = kind
    this.status = status
  }
}

/** One request. */
export interface OutgoingRequest<Body> {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  /** What the body of the answer has to be. */
  readonly shape: z.ZodType<Body>
  /** Milliseconds until the whole answer has to be there. */
  readonly timeout: number
  readonly signal: AbortSignal | undefined
}

/** An answer without its item or items. */
const refusal = z.object({
  message: z.string().nullable(),
  validations: z.array(z.object({ message: z.string(), field: z.string().optional() })),
})

/**
 * Sends a request and reads its answer. Throws a RequestError; and the reason of `signal` once that is
 * aborted. Nothing follows a redirect: it would take the key along.
 */
export async function sendRequest<Body>(request: OutgoingRequest<Body>): Promise<Body> {
  const { shape, signal } = request
  const late = AbortSignal.timeout(request.timeout)
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
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    })
    const { status } = response
    if (status >= 300 && status < 400) {
      await response.body?.cancel()
      throw new RequestError('refused', `The address leads elsewhere (${status}): ask there.`, {
        status,
      })
    }
    const body = parsed(await response.text())
    if (status !== 200) throw refusalOf(status, body)
    const result = shape.safeParse(body)
    if (result.success) return result.data
    throw new RequestError('unreached', 'What answers at this address is no such service.', {
      status,
    })
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof RequestError) throw error
    const reason = late.aborted ? 'it did not answer in time' : reasonOf(error)
    throw new RequestError('unreached', `The service could not be reached: ${reason}.`, {
      cause: error,
    })
  }
}

function refusalOf(status: number, body: unknown): RequestError {
  const { data } = refusal.safeParse(body)
  const findings = (data?.validations ?? []).map(({ message, field }) =>
    field === undefined ? message : `${field}: ${message}`,
  )
  const text = [data?.message ?? 'No reason was given.', ...findings].join(' ')
  const kind = status >= 500 ? 'unreached' : 'refused'
  return new RequestError(kind, `The service answered ${status}: ${text}`, { status })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Fetch says only that it has failed; why stands below. */
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
