import { parseExactly } from './exact-json.ts'
import { renew, session } from './session.ts'
import { cookies, serviceRoot, settings } from './settings.ts'
import { withWait } from './waiting.ts'

/** The values of an item by field. */
export type Item = Readonly<Record<string, unknown>>

/** A finding of a validation. */
export interface Finding {
  readonly message: string
  readonly severity: 'error' | 'warning' | 'information'
  readonly field?: string
  readonly validationId?: string
}

/** The body of every response of the service. */
export interface Envelope {
  readonly item?: Item
  readonly items?: readonly Item[]
  readonly count?: number | null
  readonly message: string | null
  readonly validations: readonly Finding[]
}

/** A request to the service. */
export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  /** The path after `/rest/v1/`, encoded. */
  readonly path: string
  readonly query?: URLSearchParams
  readonly body?: object
  /** The ids of the warnings that were confirmed. */
  readonly confirmed?: readonly string[]
  readonly ifMatch?: string | undefined
  readonly signal?: AbortSignal
}

/** A response of the service. */
export interface Reply {
  readonly status: number
  readonly envelope: Envelope
  readonly etag: string | undefined
  /** Returns a header with the brand prefix, such as `next-cursor`. */
  header(name: string): string | null
}

/** A request without a response that the page can show. The message is for people. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

/** Called after a 403: what the caller may do has changed. */
export const forbidden: { notify: () => void } = { notify: () => undefined }

/**
 * Sends a request. Resolves with the response also for a failed validation and a conflict, which forms show. Rejects with
 * a Failure for others. If the credential is rejected, the person can sign in again, and the request is repeated: it was
 * not executed. A change is not repeated for another user.
 */
export async function send(request: ApiRequest): Promise<Reply> {
  const sender = session.get()
  const response = await exchange(request)
  if (response.status === 401) {
    const signedIn = await renew(sender)
    const { method = 'GET' } = request
    if (signedIn === 'same' || (signedIn === 'other' && method === 'GET')) return send(request)
    throw new Failure(signedIn === 'other' ? otherUser : 'You are signed out.', 401)
  }
  const text = await response.text()
  const envelope = envelopeOf(text)
  const { status } = response
  if (status === 403) forbidden.notify()
  if (envelope === undefined || (status !== 200 && !isShownByForms(status)))
    throw new Failure(failureText(response, envelope), status)
  const header = (name: string) => response.headers.get(`x-${settings.brand}-${name}`)
  return { status, envelope, etag: response.headers.get('ETag') ?? undefined, header }
}

/** Fetches a page or an item. Rejects with a Failure for every response but a success. */
export async function read(
  path: string,
  query?: URLSearchParams,
  signal?: AbortSignal,
): Promise<Reply> {
  const reply = await send({ path, ...(query && { query }), ...(signal && { signal }) })
  if (reply.status === 200) return reply
  throw new Failure(textOf(reply.envelope, reply.status), reply.status)
}

const otherUser = 'You may have signed in as another user, so nothing was changed.'

async function exchange(request: ApiRequest): Promise<Response> {
  const { method = 'GET', path, query, body, confirmed = [], ifMatch, signal } = request
  const parameters = query?.toString() ?? ''
  const ids = confirmed.map((id) => `"${id}"`).join(', ')
  try {
    return await fetch(serviceRoot + path + (parameters === '' ? '' : `?${parameters}`), {
      method,
      headers: {
        Accept: 'application/json',
        ...session.get()?.headers,
        ...(body && { 'Content-Type': 'application/json' }),
        ...(ids !== '' && { [`X-${settings.brand}-Ignore-Warnings`]: ids }),
        ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      },
      credentials: cookies,
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new Failure(
      method === 'GET'
        ? 'The service could not be reached. Try again.'
        : 'The response was lost: the change may have been made. Look before you repeat it.',
    )
  }
}

// 409: items refer to it, or two changes met. 412 and 428: the version. 404: the item was deleted meanwhile.
function isShownByForms(status: number): boolean {
  return [400, 409, 412, 428].includes(status)
}

function failureText({ status, headers }: Response, envelope: Envelope | undefined): string {
  return withWait(textOf(envelope, status), headers)
}

function textOf(envelope: Envelope | undefined, status: number): string {
  const findings = envelope?.validations.map(({ message }) => message) ?? []
  return [envelope?.message ?? `The service responded ${status}.`, ...findings].join(' ')
}

function envelopeOf(text: string): Envelope | undefined {
  try {
    const body = parseExactly(text) as Envelope | null
    return body !== null && Array.isArray(body.validations) ? body : undefined
  } catch {
    return undefined
  }
}

/** Returns the text of an error for people. */
export function messageFor(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
