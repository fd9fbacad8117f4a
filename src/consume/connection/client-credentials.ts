import type { AuthorizationServer, Client, ClientAuth } from 'oauth4webapi'
import { runtime } from '../../runtime.ts'
import { withinTime } from './deadline.ts'
import type { Fetch } from './node-fetch.ts'
import { boundedBytes } from '../../bounded-bytes.ts'

/** The options of OAuth 2 client credentials (RFC 6749). */
export interface ClientCredentialsOptions {
  /** The token endpoint of the authorization server. */
  readonly tokenUrl: string
  readonly clientId: string
  /** The secret of the client, or a function that returns it. */
  readonly clientSecret: string | (() => string | Promise<string>)
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
  /** Milliseconds for the request of a token. */
  readonly timeout: number
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
  { fetch, allowHttp, timeout }: TokenAccess,
): Promise<Token> {
  const oauth = await import('oauth4webapi')
  const { tokenUrl, clientId, clientSecret, scope, parameters, clientAuthentication } = options
  const server: AuthorizationServer = { issuer: new URL(tokenUrl).origin, token_endpoint: tokenUrl }
  const client: Client = { client_id: clientId }
  const late = (): Error => new Error('The token endpoint did not respond in time.')
  return withinTime({ timeout, signal: undefined, late }, async ({ signal }) => {
    const secret = typeof clientSecret === 'function' ? await clientSecret() : clientSecret
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
        signal,
        // eslint-disable-next-line @typescript-eslint/no-deprecated -- The URL is https unless allowHttp is set.
        [oauth.allowInsecureRequests]: allowHttp,
        [oauth.customFetch]: async (url, init) => bounded(await fetch(url, init)),
      },
    )
    const token = await oauth.processClientCredentialsResponse(server, client, response)
    if (token.token_type !== 'bearer') throw new TypeError('The token is not a bearer token.')
    const seconds = token.expires_in ?? Infinity
    // Half of the lifetime of tokens that expire soon.
    const usable = Math.max(seconds * 1000 - leeway, seconds * 500)
    return { value: token.access_token, expiresAt: runtime.performanceNow() + usable }
  })
}

async function bounded(response: Response): Promise<Response> {
  const { status, headers } = response
  const bytes = await boundedBytes(response, maxTokenBytes)
  if (bytes === undefined) throw new TypeError('The token response is too large.')
  const isEmpty = bytes.length === 0 || status === 204 || status === 304
  return new Response(isEmpty ? null : new Uint8Array(bytes), { status, headers })
}
