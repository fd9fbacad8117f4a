import { decodeFormPercent } from '../protocol/percent.ts'
import type { SecurityProvider } from './provider.ts'

/** What keeps credentials in a query string to those who ask for them. */
export interface QueryCredentials {
  /** Takes the parameters that carry credentials off a query string, before anybody else reads it. */
  readonly cleanQuery: (query: string) => string
  /** Puts `***` in the place of their values, for logs. */
  readonly hideCredentials: (query: string) => string
}

/** Knows the parameters in which providers look for credentials. */
export function credentialsInQuery(providers: readonly SecurityProvider[]): QueryCredentials {
  const names = new Set(providers.flatMap(({ parameters = [] }) => parameters))
  const isCredential = (pair: string): boolean => names.has(nameOf(pair) ?? '')
  if (names.size === 0) return { cleanQuery: untouched, hideCredentials: untouched }
  return {
    cleanQuery: (query) => {
      if (query === '') return query
      return query
        .split('&')
        .filter((pair) => !isCredential(pair))
        .join('&')
    },
    hideCredentials: (query) =>
      query
        .split('&')
        .map((pair) => (isCredential(pair) ? pair.replace(/=.*/s, '=***') : pair))
        .join('&'),
  }
}

function untouched(query: string): string {
  return query
}

function nameOf(pair: string): string | undefined {
  const at = pair.indexOf('=')
  return decodeFormPercent(at < 0 ? pair : pair.slice(0, at))
}
