import { createStore } from './store.ts'

/** What the hash of the address names: segments, still encoded, and parameters. */
export interface Route {
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

/** The route of the address. */
export const route = createStore<Route>(parse(location.hash))

let current = location.hash
let guard: (() => Promise<boolean>) | undefined

/** Returns the hash of a screen. Segments are encoded; parameters without value are left out. */
export function hashOf(
  segments: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]))
  const text = new URLSearchParams(given).toString()
  return `#/${segments.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}

/** Returns the hash of an item, whose key may have several parts. */
export function itemHash(screen: string, place: readonly string[], key: readonly string[]): string {
  return `${hashOf([screen, ...place])}/${key.map(encodeURIComponent).join(',')}`
}

/** Returns the decoded parts of a segment. */
export function partsOf(segment: string): readonly string[] {
  return segment.split(',').map((part) => {
    try {
      return decodeURIComponent(part)
    } catch {
      return part
    }
  })
}

/** Goes to a screen. `replace` leaves no trace in the history. */
export function go(hash: string, { replace = false } = {}): void {
  if (hash === location.hash) return
  if (!replace) {
    location.hash = hash
    return
  }
  history.replaceState(null, '', hash)
  follow()
}

/** Returns whether a form has changes that leaving the screen would lose. */
export function isGuarded(): boolean {
  return guard !== undefined
}

/** Calls a function before another screen is shown, which resolves with whether it may be; undefined ends that. */
export function guardLeaving(mayLeave: (() => Promise<boolean>) | undefined): void {
  guard = mayLeave
}

function parse(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s)
  return {
    segments: path === '' ? [] : path.split('/'),
    query: new URLSearchParams(query),
  }
}

function follow(): void {
  current = location.hash
  route.set(parse(current))
}

addEventListener('hashchange', () => {
  if (location.hash === current) return
  const wanted = location.hash
  if (guard === undefined) {
    follow()
    return
  }
  // The screen stays until the person has decided.
  history.pushState(null, '', current === '' ? location.pathname : current)
  void guard().then((mayLeave) => {
    if (!mayLeave) return
    guard = undefined
    location.hash = wanted
  })
})

addEventListener('beforeunload', (event) => {
  if (guard !== undefined) event.preventDefault()
})
