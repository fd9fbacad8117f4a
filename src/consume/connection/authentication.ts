import {
  clientCredentials,
  type ClientCredentialsOptions,
  type TokenAccess,
} from './client-credentials.ts'
import { readSecret, type Secret } from './secret.ts'

/** How requests are authenticated. */
export type Authentication =
  | { readonly kind: 'none' }
  | { readonly kind: 'basic'; readonly user: string; readonly password: Secret }
  | {
      readonly kind: 'apiKey'
      readonly key: Secret
      /** The name of a header that contains the key. */
      readonly header?: string | undefined
      /** The name of a query parameter that contains the key. Prefer a header: URLs are logged. */
      readonly query?: string | undefined
    }
  | { readonly kind: 'bearer'; readonly token: Secret }
  | ({ readonly kind: 'clientCredentials' } & ClientCredentialsOptions)

/** The part of a request that authenticates it. */
export interface Credentials {
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
}

/** Authenticates the requests of a connection. */
export interface Authenticator {
  /** Returns the credentials of a request. May throw anything. */
  credentials(): Promise<Credentials>
  /**
   * Called when the other service responded 401 to a request with these credentials. Returns whether
   * the next credentials may be others.
   */
  rejected(credentials: Credentials): boolean
}

/** Returns the authenticator of a connection. */
export function authenticator(authentication: Authentication, access: TokenAccess): Authenticator {
  const fixed = (credentials: () => Promise<Credentials>): Authenticator => ({
    credentials,
    rejected: () => false,
  })
  switch (authentication.kind) {
    case 'none':
      return fixed(async () => ({}))
    case 'basic': {
      const { user, password } = authentication
      return fixed(async () => {
        const text = `${user}:${await readSecret(password)}`
        return authorization(`Basic ${Buffer.from(text).toString('base64')}`)
      })
    }
    case 'bearer': {
      const { token } = authentication
      return fixed(async () => authorization(`Bearer ${await readSecret(token)}`))
    }
    case 'apiKey': {
      const { key, header, query } = authentication
      return fixed(async () => {
        const value = await readSecret(key)
        if (header !== undefined) return { headers: { [header]: value } }
        return query === undefined ? {} : { query: { [query]: value } }
      })
    }
    case 'clientCredentials': {
      const tokens = clientCredentials(authentication, access)
      return {
        credentials: async () => authorization(`Bearer ${await tokens.read()}`),
        rejected: ({ headers }) => {
          tokens.drop(headers?.['authorization']?.slice('Bearer '.length))
          return true
        },
      }
    }
  }
}

function authorization(value: string): Credentials {
  return { headers: { authorization: value } }
}
