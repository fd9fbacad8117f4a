import { createStore } from './store.ts'

/** What the hash of the address names: segments, still encoded, and parameters. */
export interface Route {
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

/** Resolves with whether another screen may be shown. */
type Guard = () => Promise<boolean>

/** The route of the address. */
export const route = createStore<Route>(parse(location.hash))

let current = location.hash
let guards: readonly Guard[] = []

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
  return guards.length > 0
}

/** Returns whether what was entered in a form may be lost: the person decides. */
export async function mayLeave(): Promise<boolean> {
  const guard = guards.at(-1)
  if (guard !== undefined && !(await guard())) return false
  endGuards()
  return true
}

/** Calls a function before another screen is shown. If there are several, the last one decides. Returns a function that ends that. */
export function guardLeaving(guard: Guard): () => void {
  guards = [...guards, guard]
  return () => {
    guards = guards.filter((one) => one !== guard)
  }
}

/** Ends all guards: nothing that could be lost is left. */
export function endGuards(): void {
  guards = []
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
  if (!isGuarded()) {
    follow()
    return
  }
  // The screen stays until the person has decided.
  history.pushState(null, '', current === '' ? location.pathname : current)
  void mayLeave().then((isSure) => {
    if (isSure) location.hash = wanted
  })
})

addEventListener('beforeunload', (event) => {
  if (isGuarded()) event.preventDefault()
})
