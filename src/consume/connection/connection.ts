import { stages, type Traces } from '../../observation/channels.ts'
import { authenticator, type Authenticator } from './authentication.ts'
import type { EndpointRequest, EndpointResponse } from '../call.ts'
import { CallError, isCallError } from '../call-error.ts'
import {
  completeConnection,
  type ConnectionOptions,
  type ConnectionSettings,
} from './connection-options.ts'
import { withinTime, wait, type Deadline } from './deadline.ts'
import { exchange } from './exchange.ts'
import { reasonCodeOf } from './failure.ts'
import { guardedFetch, type FetchClient } from './guarded-fetch.ts'
import { prepareRequest } from './prepare-request.ts'
import { ignoreBody, readJsonBody, streamJsonBody, type ReadBody } from './read-response.ts'
import { isRepeatable, retryDelay } from './retry.ts'
import { targetUrl } from './target-url.ts'

/** A connection to another service. */
export interface Connection {
  readonly baseUrl: string
  /**
   * Sends the request of an endpoint, and again if it may be retried. Rejects with a CallError, or with
   * the reason of the call's signal. Call endpoints instead.
   */
  send(request: EndpointRequest): Promise<EndpointResponse>
  /**
   * Sends a request likewise, and has the bytes of the response read within the time of the call. Call
   * {@link readStream} instead.
   */
  stream<Result>(request: EndpointRequest, read: ReadStream<Result>): Promise<Result>
  /** Closes idle connections. Later calls open new ones. */
  close(): Promise<void>
}

/** Reads the bytes of a response. */
export type ReadStream<Result> = (
  response: EndpointResponse<AsyncIterable<Uint8Array>>,
) => Promise<Result>

/**
 * Describes how another service is reached. Connections are opened by calls. Throws a TypeError that
 * lists every mistake.
 */
export function connection(options: ConnectionOptions): Connection {
  const settings = completeConnection(options)
  const client = clientOf(settings)
  const authenticate = authenticator(settings.authentication, { ...settings, fetch: client.fetch })

  function send(request: EndpointRequest): Promise<EndpointResponse> {
    const read = request.ignoresBody ? ignoreBody : readJsonBody
    return sendTraced(request, read, async (response) => response)
  }

  function stream<Result>(request: EndpointRequest, read: ReadStream<Result>): Promise<Result> {
    return sendTraced(request, streamJsonBody, async (response) => {
      try {
        return await read(response)
      } finally {
        response.body.cancel()
      }
    })
  }

  async function sendTraced<Body, Result>(
    request: EndpointRequest,
    read: ReadBody<Body>,
    use: (response: EndpointResponse<Body>) => Promise<Result>,
  ): Promise<Result> {
    const { endpoint, options: own } = request
    const trace: Traces['rowgate:call'] = {
      endpoint: request.endpoint,
      method: request.method,
      path: request.template,
      status: null,
      code: null,
      attempts: 0,
      milliseconds: null,
    }
    const began = performance.now()
    const late = (): Error => new CallError('TIMEOUT', endpoint)
    const limits = { timeout: own.timeout ?? settings.timeout, signal: own.signal, late }
    const work = async (): Promise<Result> => {
      try {
        return await withinTime(limits, async (deadline) => {
          const response = await sendRepeatedly(request, { deadline, trace, read })
          trace.status = response.status
          return use(response)
        })
      } catch (error) {
        if (isCallError(error)) Object.assign(trace, { status: error.status, code: error.code })
        throw error
      } finally {
        trace.milliseconds = performance.now() - began
      }
    }
    return stages.call.isWatched ? stages.call.run(trace, work) : work()
  }

  async function sendRepeatedly<Body>(
    request: EndpointRequest,
    call: Call<Body>,
  ): Promise<EndpointResponse<Body>> {
    const { deadline } = call
    const attempts = isRepeatable(request) ? settings.attempts : 1
    const url = targetUrl(request, settings)
    for (let attempt = 1; ; attempt++) {
      try {
        return await sendAuthenticated(request, url, call)
      } catch (error) {
        const remaining = deadline.remaining()
        const delay = retryDelay({ error, attempt, remaining })
        if (attempt >= attempts || delay === undefined || deadline.signal.aborted) throw error
        await wait(delay, deadline.signal)
        deadline.signal.throwIfAborted()
      }
    }
  }

  // A token may have been revoked: one that is rejected is replaced once.
  async function sendAuthenticated<Body>(
    request: EndpointRequest,
    url: URL,
    { deadline: { signal }, trace, read }: Call<Body>,
  ): Promise<EndpointResponse<Body>> {
    const { maxDepth } = settings
    const { maxResponseBytes = settings.maxResponseBytes } = request.options
    for (let isSecond = false; ; isSecond = true) {
      const credentials = await credentialsOf(authenticate, request)
      const prepared = await prepareRequest(request, { url, credentials, settings })
      signal.throwIfAborted()
      trace.attempts++
      try {
        const sent = { ...prepared, signal, read }
        return await exchange(client.fetch, request, sent, { maxDepth, maxResponseBytes })
      } catch (error) {
        const isUnauthorized = isCallError(error) && error.status === 401
        if (!isUnauthorized || isSecond || !authenticate.rejected(credentials)) throw error
      }
    }
  }

  return Object.freeze({ baseUrl: settings.baseUrl, send, stream, close: client.close })
}

/** The state of a call. */
interface Call<Body> {
  readonly deadline: Deadline
  readonly trace: Traces['rowgate:call']
  readonly read: ReadBody<Body>
}

async function credentialsOf(authenticate: Authenticator, { endpoint }: EndpointRequest) {
  try {
    return await authenticate.credentials()
  } catch (error) {
    const reason = reasonCodeOf(error)
    const detail = reason === undefined ? undefined : `no credentials could be obtained (${reason})`
    throw new CallError('AUTHENTICATION_FAILED', endpoint, { detail })
  }
}

function clientOf({ fetch: given, allowPrivateAddresses, ca }: ConnectionSettings): FetchClient {
  const close = async (): Promise<void> => undefined
  if (given !== undefined) return { fetch: given, close }
  // Bun has no agents: without a check of addresses, its own function does.
  if (allowPrivateAddresses === true && ca === undefined && 'bun' in process.versions)
    return { fetch: (url, init) => fetch(url, init), close }
  return guardedFetch(allowPrivateAddresses === false ? [] : allowPrivateAddresses, ca)
}
