import { decodeFormPercent } from '../protocol/percent.ts'
import type { SecurityProvider } from './provider.ts'

/** Takes the parameters that carry credentials off a query string, before anybody else reads it. */
export function credentialRemover(
  providers: readonly SecurityProvider[],
): (query: string) => string {
  const names = new Set(providers.flatMap(({ parameters = [] }) => parameters))
  if (names.size === 0) return (query) => query
  return (query) => {
    if (query === '') return query
    const pairs = query.split('&')
    return pairs.filter((pair) => !names.has(nameOf(pair) ?? '')).join('&')
  }
}

function nameOf(pair: string): string | undefined {
  const at = pair.indexOf('=')
  return decodeFormPercent(at < 0 ? pair : pair.slice(0, at))
}
