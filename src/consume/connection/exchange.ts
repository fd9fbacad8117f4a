import type { EndpointRequest, EndpointResponse, RequestBody } from '../call.ts'
import { CallError } from '../call-error.ts'
import { callErrorOf } from './failure.ts'
import type { Fetch, TransportInit } from './node-fetch.ts'
import { discardBody, excerptOf, parseBody, readBody } from './read-response.ts'
import type { ReadBody, ResponseLimits } from './read-response.ts'
import { retryAfterOf } from './retry.ts'

/** A request with its URL, headers and credentials, and what is done with the body of its response. */
export interface PreparedRequest<Body> {
  readonly url: URL
  readonly headers: Headers
  readonly signal: AbortSignal
  readonly read: ReadBody<Body>
}

const maxRedirects = 5
const maxErrorBytes = 64 * 1024
const redirects = new Set([301, 302, 303, 307, 308])

/**
 * Sends a request once and reads its response. Rejects with a CallError for anything but a status of 200
 * to 299 with a body that can be read.
 */
export async function exchange<Body>(
  fetch: Fetch,
  request: EndpointRequest,
  prepared: PreparedRequest<Body>,
  limits: ResponseLimits,
): Promise<EndpointResponse<Body>> {
  const { endpoint } = request
  try {
    const { response, from } = await follow(fetch, request, prepared)
    const { status, headers } = response
    const url = from.origin + from.pathname
    if (response.ok)
      return { status, headers, url, body: await prepared.read(response, request, limits) }
    const { body, excerpt } = await readErrorBody(response, request, limits)
    const retryAfter = retryAfterOf(headers)
    throw new CallError('STATUS', endpoint, {
      status,
      retryAfter,
      excerpt,
      response: { status, headers, url, body },
    })
  } catch (error) {
    throw callErrorOf(error, endpoint)
  }
}

/** Sends a GET request again to where the other service redirects it, within the same origin. */
async function follow(
  fetch: Fetch,
  { endpoint, method, body, as }: EndpointRequest,
  { url, headers, signal }: Omit<PreparedRequest<unknown>, 'read'>,
): Promise<{ readonly response: Response; readonly from: URL }> {
  let target = url
  for (let count = 0; ; count++) {
    const init: TransportInit = {
      method,
      headers,
      signal,
      redirect: 'manual',
      ...sentBody(body),
      // Text and lines may end anywhere.
      ...((as === 'text' || as === 'lines') && { needsEnd: true }),
    }
    const response = await fetch(target.href, init)
    const { status } = response
    if (response.type !== 'opaqueredirect' && !redirects.has(status))
      return { response, from: target }
    discardBody(response)
    const next = nextUrl(response, target)
    if (method !== 'GET' || next === undefined || count === maxRedirects)
      throw new CallError('REDIRECT', endpoint, { status: status === 0 ? undefined : status })
    target = next
  }
}

function sentBody(body: RequestBody | undefined): RequestInit {
  if (body === undefined) return {}
  const { content } = body
  if (typeof content === 'string') return { body: content }
  if (content instanceof Uint8Array) return { body: content as Uint8Array<ArrayBuffer> }
  return { body: content.open(), duplex: 'half' }
}

/** Returns the URL of a redirect if it has the same origin. */
function nextUrl({ headers }: Response, from: URL): URL | undefined {
  const location = headers.get('location')
  if (location === null || !URL.canParse(location, from.href)) return undefined
  const url = new URL(location, from)
  return url.origin === from.origin && url.username === '' && url.password === '' ? url : undefined
}

// A failure to read it is not important: the status is the error.
async function readErrorBody(
  response: Response,
  request: EndpointRequest,
  limits: ResponseLimits,
): Promise<{ readonly body: unknown; readonly excerpt?: string | undefined }> {
  const own = { ...limits, maxResponseBytes: Math.min(maxErrorBytes, limits.maxResponseBytes) }
  let excerpt: string | undefined
  try {
    const read = await readBody(response, request, own)
    excerpt = excerptOf(read.bytes)
    // Errors have the media types of errors.
    const as = request.as === 'json' ? request.as : undefined
    return { body: parseBody(read, response, { ...request, as }, own), excerpt }
  } catch {
    return { body: null, excerpt }
  }
}
