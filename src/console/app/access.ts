import { Failure, forbidden } from './api.ts'
import { collectionsOf, type Collection } from './collections.ts'
import type { Document } from './document.ts'
import { isGuarded } from './route.ts'
import { session } from './session.ts'
import { administration, cookies, serviceRoot, settings } from './settings.ts'
import { createStore } from './store.ts'

/** The collections that the caller may use, by their paths; undefined before the document is there. */
export const access = createStore<ReadonlyMap<string, Collection> | undefined>(undefined)

const url = `${serviceRoot}${settings.name}/document.json`
let known: string | undefined

/** Fetches the document of the caller. Rejects with a Failure. */
export async function loadAccess(): Promise<void> {
  const response = await fetch(url, {
    headers: { Accept: 'application/json', ...session.get()?.headers },
    credentials: cookies,
    cache: 'no-cache',
  }).catch(() => undefined)
  if (response === undefined) throw new Failure('The service could not be reached. Try again.')
  const text = await response.text()
  if (!response.ok) throw new Failure(rejection(text, response), response.status)
  // Nothing is rendered again if it is the same document.
  if (text === known) return
  known = text
  access.set(collectionsOf(JSON.parse(text) as Document))
}

function rejection(text: string, { status, headers }: Response): string {
  const seconds = headers.get('Retry-After')
  const wait = seconds === null ? '' : ` Try again in ${seconds} seconds.`
  try {
    return (JSON.parse(text) as { readonly message: string }).message + wait
  } catch {
    return `The service responded ${status}.${wait}`
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
