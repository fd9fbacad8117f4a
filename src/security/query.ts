import { decodeFormPercent } from '../protocol/percent.ts'
import type { SecurityProvider } from './provider.ts'

/** What keeps credentials in a query string to those who ask for them. */
export interface QueryCredentials {
  /** Takes the parameters that carry credentials off a query string, before anybody else reads it. */
  readonly cleanQuery: (query: string) => string
  /** Puts `***` in the place of their values, and of those that were put there by mistake, for logs. */
  readonly hideCredentials: (query: string) => string
}

/** Knows the parameters in which providers look for credentials. */
export function credentialsInQuery(providers: readonly SecurityProvider[]): QueryCredentials {
  const looked = new Set(providers.flatMap(({ parameters = [] }) => parameters))
  const mistaken = providers.flatMap(({ hiddenParameters = [] }) => hiddenParameters)
  const hidden = new Set([...looked, ...mistaken])
  return {
    cleanQuery: (query) => {
      if (looked.size === 0 || query === '') return query
      const pairs = query.split('&')
      return pairs.filter((pair) => !looked.has(nameOf(pair) ?? '')).join('&')
    },
    hideCredentials: (query) => {
      const pairs = query.split('&')
      return pairs
        .map((pair) => (hidden.has(nameOf(pair) ?? '') ? pair.replace(/=.*/s, '=***') : pair))
        .join('&')
    },
  }
}

function nameOf(pair: string): string | undefined {
  const at = pair.indexOf('=')
  return decodeFormPercent(at < 0 ? pair : pair.slice(0, at))
}
