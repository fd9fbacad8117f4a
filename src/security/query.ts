import { decodeFormPercent } from '../protocol/percent.ts'
import type { SecurityProvider } from './provider.ts'

/** What keeps credentials in a query string to those who ask for them. */
export interface QueryCredentials {
  /** Takes the parameters that carry credentials off a query string, before anybody else reads it. */
  readonly cleanQuery: (query: string) => string
  /**
   * Replaces their values with `***`, for logs and traces, and the values of parameters that look like
   * them: a client may have written the name in another case, or chosen the wrong name.
   */
  readonly hideCredentials: (query: string) => string
}

/** Knows the parameters in which providers look for credentials. */
export function credentialsInQuery(providers: readonly SecurityProvider[]): QueryCredentials {
  const looked = new Set(providers.flatMap(({ parameters = [] }) => parameters))
  const mistaken = providers.flatMap(({ hiddenParameters = [] }) => hiddenParameters)
  const hidden = new Set([...usualNames, ...looked, ...mistaken].map(comparable))
  const isHidden = (pair: string): boolean => {
    const name = nameOf(pair)
    return name === undefined || hidden.has(comparable(name.split('=')[0] ?? ''))
  }
  return {
    cleanQuery: (query) => {
      if (looked.size === 0 || query === '') return query
      const pairs = query.split('&')
      return pairs.filter((pair) => !looked.has(nameOf(pair) ?? '')).join('&')
    },
    // Some clients separate parameters by semicolons.
    hideCredentials: (query) =>
      query.replace(/[^&;]+/g, (pair) =>
        isHidden(pair) ? pair.replace(/(=|%3d).*/is, '$1***') : pair,
      ),
  }
}

// What clients send by mistake, whatever the providers are.
const usualNames = ['key', 'api_key', 'apikey', 'x-api-key', 'token', 'access_token']

function comparable(name: string): string {
  return name.toLowerCase().replace(/[\s_-]|\[\]$/g, '')
}

function nameOf(pair: string): string | undefined {
  const at = pair.indexOf('=')
  return decodeFormPercent(at < 0 ? pair : pair.slice(0, at))
}
