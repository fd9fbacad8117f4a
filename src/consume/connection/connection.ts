import { stages, type Traces } from '../../observation/channels.ts'
import { runtime } from '../../runtime.ts'
import { authenticator, type Authenticator } from './authentication.ts'
import type { EndpointRequest, EndpointResponse } from '../call.ts'
import { CallError, isCallError } from '../call-error.ts'
import {
  completeConnection,
  type ConnectionOptions,
  type ConnectionSettings,
} from './connection-options.ts'
import { CredentialsError } from './credentials-error.ts'
import { withinTime, wait, type Deadline } from './deadline.ts'
import { exchange } from './exchange.ts'
import { reasonCodeOf } from './failure.ts'
import { guardedFetch, type FetchClient } from './guarded-fetch.ts'
import { prepareRequest } from './prepare-request.ts'
import { canSend } from '../body/request-body.ts'
import { ignoreBody, parseWholeBody, streamBody, type ReadBody } from './read-response.ts'
import { isRepeatable, retryDelay } from './retry.ts'
import { targetUrl } from './target-url.ts'

/** A connection to another service. */
export interface Connection {
  readonly baseUrl: string
  /**
   * Makes the call of an endpoint, and again if it may be retried. Rejects with a CallError, or with
   * the reason of the call's signal. Call endpoints instead.
   */
  exchange(request: EndpointRequest): Promise<EndpointResponse>
  /**
   * Makes a call likewise, and has the bytes of the response read within the time of the call. Call
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
  const calls = new ConnectionCalls(settings, client)
  return Object.freeze({
    baseUrl: settings.baseUrl,
    exchange: (request: EndpointRequest) => {
      const read = request.ignoresBody ? ignoreBody : parseWholeBody
      return calls.call(request, read, async (response) => response)
    },
    stream: <Result>(request: EndpointRequest, read: ReadStream<Result>) =>
      calls.call(request, streamBody, async (response) => {
        try {
          return await read(response)
        } finally {
          response.body.cancel()
        }
      }),
    close: client.close,
  })
}

/** Makes the calls of a connection: in time, traced, repeated and authenticated. */
class ConnectionCalls {
  readonly #settings: ConnectionSettings
  readonly #client: FetchClient
  readonly #authenticate: Authenticator

  constructor(settings: ConnectionSettings, client: FetchClient) {
    this.#settings = settings
    this.#client = client
    this.#authenticate = authenticator(settings.authentication, {
      ...settings,
      fetch: client.fetch,
    })
  }

  /** Makes a call, and has `use` use its response within the time of the call. */
  async call<Body, Result>(
    request: EndpointRequest,
    read: ReadBody<Body>,
    use: (response: EndpointResponse<Body>) => Promise<Result>,
  ): Promise<Result> {
    const { endpoint, method, template: path } = request
    const blank = { status: null, code: null, attempts: 0, milliseconds: null }
    const trace: Traces['rowgate:call'] = { endpoint, method, path, ...blank }
    const began = runtime.performanceNow()
    const work = async (): Promise<Result> => {
      try {
        return await withinTime(this.#limits(request), async (deadline) => {
          const response = await this.#callRepeatedly(request, { deadline, trace, read })
          trace.status = response.status
          return use(response)
        })
      } catch (error) {
        if (isCallError(error)) Object.assign(trace, { status: error.status, code: error.code })
        throw error
      } finally {
        trace.milliseconds = runtime.performanceNow() - began
      }
    }
    return stages.call.isWatched ? stages.call.run(trace, work) : work()
  }

  #limits({ endpoint, options }: EndpointRequest) {
    const late = (): Error => new CallError('TIMEOUT', endpoint)
    return { timeout: options.timeout ?? this.#settings.timeout, signal: options.signal, late }
  }

  async #callRepeatedly<Body>(
    request: EndpointRequest,
    call: Call<Body>,
  ): Promise<EndpointResponse<Body>> {
    const { deadline } = call
    const attempts = isRepeatable(request) ? this.#settings.attempts : 1
    const url = targetUrl(request, this.#settings)
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#callAuthenticated(request, url, call)
      } catch (error) {
        const remaining = deadline.remaining()
        const delay = retryDelay({ error, attempt, remaining })
        const isLast = attempt >= attempts || delay === undefined || !canSend(request)
        if (isLast || deadline.signal.aborted) throw error
        await wait(delay, deadline.signal)
        deadline.signal.throwIfAborted()
      }
    }
  }

  // A token may have been revoked: one that is rejected is replaced once.
  async #callAuthenticated<Body>(
    request: EndpointRequest,
    url: URL,
    { deadline: { signal }, trace, read }: Call<Body>,
  ): Promise<EndpointResponse<Body>> {
    const settings = this.#settings
    const { maxResponseBytes = settings.maxResponseBytes } = request.options
    const { largeNumbers = settings.largeNumbers } = request
    const limits = { maxDepth: settings.maxDepth, maxResponseBytes, largeNumbers }
    for (let isSecond = false; ; isSecond = true) {
      const credentials = await credentialsOf(this.#authenticate, request)
      const prepared = await prepareRequest(request, { url, credentials, settings })
      signal.throwIfAborted()
      trace.attempts++
      try {
        const attempt = { ...prepared, signal, read }
        return await exchange(this.#client.fetch, request, attempt, limits)
      } catch (error) {
        const isUnauthorized = isCallError(error) && error.status === 401
        if (!isUnauthorized || isSecond || !this.#authenticate.rejected(credentials)) throw error
        if (!canSend(request)) throw error
      }
    }
  }
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
    const isKnown = error instanceof CredentialsError
    const reason = isKnown ? error.message : reasonCodeOf(error)
    const detail =
      reason && `no credentials could be obtained${isKnown ? `: ${reason}` : ` (${reason})`}`
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
