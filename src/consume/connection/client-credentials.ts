import type { AuthorizationServer, Client, ClientAuth } from 'oauth4webapi'
import { isPlainObject } from '../../checks/plain-object.ts'
import { runtime } from '../../runtime.ts'
import { CallError } from '../call-error.ts'
import { CredentialsError, tokenError } from './credentials-error.ts'
import { readSecret, type Secret } from './secret.ts'
import { wait, withinTime, type Deadline } from './deadline.ts'
import { callErrorOf } from './failure.ts'
import type { Fetch } from './node-fetch.ts'
import { boundedBytes } from '../../bounded-bytes.ts'
import { retryAfterOf, retryDelay } from './retry.ts'

/** The options of OAuth 2 client credentials (RFC 6749). */
export interface ClientCredentialsOptions {
  /** The token endpoint of the authorization server. */
  readonly tokenUrl: string
  readonly clientId: string
  /** The secret of the client, or a function that returns it. */
  readonly clientSecret: Secret
  /** The scopes, separated by spaces. Default: those that the server chooses. */
  readonly scope?: string | undefined
  /** Further parameters of the token request, such as `audience`. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
  /** Whether the client's secret is sent in a Basic header or in the body. Default: `basic`. */
  readonly clientAuthentication?: 'basic' | 'body' | undefined
}

/** Access tokens, cached until shortly before they expire. */
export interface Tokens {
  /** Returns a token. Calls at the same time share one request. */
  read(): Promise<string>
  /** Removes a token that was rejected from the cache, unless it has been replaced. */
  drop(token: string | undefined): void
}

/** How tokens are requested. */
export interface TokenAccess {
  readonly fetch: Fetch
  readonly allowHttp: boolean
  /** Milliseconds for the request of a token, with all its retries. */
  readonly timeout: number
  /** The maximum number of attempts to request a token. */
  readonly attempts: number
}

interface Token {
  readonly value: string
  /** In milliseconds of `performance.now()`. */
  readonly expiresAt: number
}

const maxTokenBytes = 64 * 1024
/** Tokens are replaced before they expire, since a request takes time. */
const leeway = 30_000

/** Returns the access tokens of a client. */
export function clientCredentials(options: ClientCredentialsOptions, access: TokenAccess): Tokens {
  let cached: Token | undefined
  let pending: Promise<Token> | undefined

  async function renew(): Promise<Token> {
    try {
      return (cached = await requestToken(options, access))
    } finally {
      pending = undefined
    }
  }

  return {
    read: async () => {
      if (cached !== undefined && runtime.performanceNow() < cached.expiresAt) return cached.value
      pending ??= renew()
      return (await pending).value
    },
    drop: (token) => {
      if (cached?.value === token) cached = undefined
    },
  }
}

async function requestToken(
  options: ClientCredentialsOptions,
  access: TokenAccess,
): Promise<Token> {
  const { allowHttp, timeout } = access
  const oauth = await import('oauth4webapi')
  const { tokenUrl, clientId, clientSecret, scope, parameters, clientAuthentication } = options
  const server: AuthorizationServer = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl }
  const client: Client = { client_id: clientId }
  const late = (): Error => new Error('The token endpoint did not respond in time.')
  return withinTime({ timeout, signal: undefined, late }, async (deadline) => {
    const secret = await readSecret(clientSecret)
    const authenticate: ClientAuth =
      clientAuthentication === 'body'
        ? oauth.ClientSecretPost(secret)
        : oauth.ClientSecretBasic(secret)
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      authenticate,
      { ...parameters, ...(scope !== undefined && { scope }) },
      {
        signal: deadline.signal,
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- The URL is https unless allowHttp is set.
        [oauth.allowInsecureRequests]: allowHttp,
        [oauth.customFetch]: (url, init) =>
          fetchToken(access, deadline, (fetch) => fetch(url, init)),
      },
    )
    const token = await oauth
      .processClientCredentialsResponse(server, client, response)
      .catch((error: unknown) => {
        throw tokenError(response.status, error)
      })
    if (token.token_type !== 'bearer')
      throw new CredentialsError(
        'the token endpoint responded with a token that is not a bearer token',
      )
    const seconds = token.expires_in ?? Infinity
    // Half of the lifetime of tokens that expire soon.
    const usable = Math.max(seconds * 1000 - leeway, seconds * 500)
    return { value: token.access_token, expiresAt: runtime.performanceNow() + usable }
  })
}

/** Requests a token, and again after a connection error or a status that may pass: no token is lost by that. */
async function fetchToken(
  { fetch, attempts }: TokenAccess,
  deadline: Deadline,
  request: (fetch: Fetch) => Promise<Response>,
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    let result: Response | undefined
    let failure: unknown
    try {
      result = await bounded(await request(fetch))
      if (result.ok) return result
      const { status, headers } = result
      failure = new CallError('STATUS', 'token', { status, retryAfter: retryAfterOf(headers) })
    } catch (error) {
      failure = error
    }
    const error = callErrorOf(failure, 'token')
    const delay = retryDelay({ error, attempt, remaining: deadline.remaining() })
    if (attempt >= attempts || delay === undefined || deadline.signal.aborted) {
      if (result !== undefined) return result
      throw failure
    }
    await wait(delay, deadline.signal)
  }
}

async function bounded(response: Response): Promise<Response> {
  const { status, headers } = response
  const bytes = await boundedBytes(response, maxTokenBytes)
  if (bytes === undefined)
    throw new CallError('RESPONSE_TOO_LARGE', 'token', {
      status,
      detail: 'the token response is too large',
    })
  // Some servers respond 201 with the token.
  const init = { status: status === 201 ? 200 : status, headers: new Headers(headers) }
  if (bytes.length === 0 || status === 204 || status === 304) return new Response(null, init)
  const members = membersOf(bytes)
  if (members === undefined) return new Response(new Uint8Array(bytes), init)
  init.headers.set('content-type', 'application/json')
  return new Response(JSON.stringify(members), init)
}

/**
 * Returns the members of a token response as RFC 6749 has them; undefined if it is not a JSON object. Some servers send null
 * for what is absent, or no type of the token, or JSON with the type of other text.
 */
function membersOf(bytes: Uint8Array): object | undefined {
  try {
    const response: unknown = JSON.parse(new TextDecoder().decode(bytes))
    if (!isPlainObject(response)) return undefined
    const stated = Object.entries(response).filter(([, value]) => value !== null)
    return { token_type: 'bearer', ...Object.fromEntries(stated) }
  } catch {
    return undefined
  }
}
