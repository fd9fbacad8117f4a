import { Failure, forbidden } from './api.ts'
import { collectionsOf, type Collection } from './collections.ts'
import type { Document } from './document.ts'
import { responseText } from './response-text.ts'
import { isGuarded } from './route.ts'
import { session } from './session.ts'
import { administration, cookies, serviceRoot, settings } from './settings.ts'
import { createStore } from './store.ts'

/** The collections that the caller may use, by their paths; undefined before the document is there. */
export const access = createStore<ReadonlyMap<string, Collection> | undefined>(undefined)

const url = `${serviceRoot}${settings.name}/document.json`
let known: string | undefined

/** Fetches and shows what the caller may do. Rejects with a Failure. */
export async function loadAccess(): Promise<void> {
  const show = await fetchAccess()
  show()
}

/** Fetches the document of the caller. Resolves with a function that shows what it says. Rejects with a Failure. */
export async function fetchAccess(): Promise<() => void> {
  const response = await fetch(url, {
    headers: { Accept: 'application/json', ...session.get()?.headers },
    credentials: cookies,
    cache: 'no-cache',
  }).catch(() => undefined)
  if (response === undefined) throw new Failure('The service could not be reached. Try again.')
  const text = await response.text().catch(() => '')
  if (!response.ok) throw new Failure(responseText(parsed(text), response), response.status)
  const collections = collectionsIn(text)
  return () => {
    // Nothing is rendered again if it is the same document.
    if (text === known) return
    known = text
    access.set(collections)
  }
}

function collectionsIn(text: string): ReadonlyMap<string, Collection> {
  try {
    return collectionsOf(parsed(text) as Document)
  } catch {
    throw new Failure('The response did not come from the service. Try again.')
  }
}

/** Returns undefined if a text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// The document has an ETag, so a check that nothing has changed is cheap. A screen that disappeared would take along what
// was entered in its form.
forbidden.notify = () => {
  if (!isGuarded()) void loadAccess().catch(() => undefined)
}

/** Returns a collection that the caller may use, by its path. */
export function useCollection(path: string): Collection | undefined {
  return access.use()?.get(path)
}

/** Returns a collection of the application for administrators, if the caller may use it. */
export function useAdministration(name: string): Collection | undefined {
  return useCollection(`${administration}/${name}`)
}
