import { decodeFormPercent } from '../protocol/percent.ts'
import type { SecurityProvider } from './provider.ts'

/** Keeps credentials in a query string out of event parameters, logs and traces. */
export interface QueryCredentials {
  /** Removes the parameters that carry credentials from a query string. */
  readonly cleanQuery: (query: string) => string
  /**
   * Replaces the values of these parameters with `***`, for logs and traces, and the values of similar
   * parameters: a client may use the wrong case or the wrong name.
   */
  readonly hideCredentials: (query: string) => string
}

/** Handles the query parameters in which the providers find credentials. */
export function credentialsInQuery(providers: readonly SecurityProvider[]): QueryCredentials {
  const parameterNames = new Set(providers.flatMap(({ parameters = [] }) => parameters))
  const mistaken = providers.flatMap(({ hiddenParameters = [] }) => hiddenParameters)
  const hidden = new Set([...commonNames, ...parameterNames, ...mistaken].map(comparable))
  const isHidden = (pair: string): boolean => {
    const name = nameOf(pair)
    return name === undefined || hidden.has(comparable(name.split('=')[0] ?? ''))
  }
  return {
    cleanQuery: (query) => {
      if (parameterNames.size === 0 || query === '') return query
      const pairs = query.split('&')
      return pairs.filter((pair) => !parameterNames.has(nameOf(pair) ?? '')).join('&')
    },
    // Some clients separate parameters by semicolons.
    hideCredentials: (query) =>
      query.replace(/[^&;]+/g, (pair) =>
        isHidden(pair) ? pair.replace(/(=|%3d).*/is, '$1***') : pair,
      ),
  }
}

// Names that clients often send by mistake, independent of the providers.
const commonNames = ['key', 'api_key', 'apikey', 'x-api-key', 'token', 'access_token']

function comparable(name: string): string {
  return name.toLowerCase().replace(/[\s_-]|\[\]$/g, '')
}

function nameOf(pair: string): string | undefined {
  const at = pair.indexOf('=')
  return decodeFormPercent(at < 0 ? pair : pair.slice(0, at))
}
