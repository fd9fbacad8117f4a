import { createStore } from './store.ts'
import { cookies, serviceRoot, settings, type SignInMethod } from './settings.ts'

/** Who is signed in. The headers are only here, and those of a session also in the storage of the tab. */
export interface Session {
  readonly headers: Readonly<Record<string, string>>
  readonly user: string | undefined
  /** The session that signing out revokes; undefined if the credential itself is used. */
  readonly keyId: string | undefined
}

/** What a person enters to sign in. */
export interface Entered {
  readonly method: SignInMethod
  readonly user: string
  /** The key, password or token. */
  readonly secret: string
}

/** The session of this tab: undefined before signing in. */
export const session = createStore<Session | undefined>(undefined)

/** Whether the form for signing in covers the page, because the credential was rejected. */
export const renewal = createStore<((isSignedIn: boolean) => void) | undefined>(undefined)

const storageKey = `rowgate console ${location.pathname}`
const sessionsUrl = `${serviceRoot}${settings.brand}-admin/sessions`

/** Returns the session that a reload has kept. */
export function storedSession(): Session | undefined {
  const text = sessionStorage.getItem(storageKey)
  if (text !== null) return JSON.parse(text) as Session
  return settings.isOpen ? { headers: {}, user: undefined, keyId: undefined } : undefined
}

/**
 * Signs in. If the service has a session for what was entered, that is exchanged for a key with a life of minutes. Rejects
 * with an Error whose message is for people.
 */
export async function signIn({ method, user, secret }: Entered): Promise<void> {
  const headers = headersOf({ method, user, secret })
  const name = method.type === 'basic' ? user : undefined
  if (!settings.hasSessions) {
    session.set({ headers, user: name, keyId: undefined })
    return
  }
  const response = await fetch(sessionsUrl, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    credentials: cookies,
    body: '{}',
  }).catch(() => undefined)
  if (response === undefined) throw new Error('The service could not be reached. Try again.')
  if (response.status === 400) {
    // There is no session for it, such as for a token with roles of its own: the page keeps it itself, in memory.
    session.set({ headers, user: name, keyId: undefined })
    return
  }
  const envelope = (await response.json().catch(() => ({}))) as {
    readonly message?: string | null
    readonly validations?: readonly { readonly message: string }[]
    readonly item?: {
      readonly key: string
      readonly header: string
      readonly user: string
      readonly keyId: string
    }
  }
  if (!response.ok || !envelope.item) throw new Error(messageOf(response, envelope))
  const { key, header, user: owner, keyId } = envelope.item
  const started: Session = { headers: { [header]: key }, user: owner, keyId }
  sessionStorage.setItem(storageKey, JSON.stringify(started))
  session.set(started)
}

function messageOf(
  { status, headers }: Response,
  {
    message,
    validations,
  }: {
    readonly message?: string | null
    readonly validations?: readonly { readonly message: string }[]
  },
): string {
  const found = validations?.map((one) => one.message).join(' ')
  const text = [found, message, `The service responded ${status}.`].find(Boolean) ?? ''
  const seconds = headers.get('Retry-After')
  return seconds === null ? text : `${text} Try again in ${seconds} seconds.`
}

function headersOf({ method, user, secret }: Entered): Readonly<Record<string, string>> {
  switch (method.type) {
    case 'apiKey':
      return { [method.header]: secret.trim() }
    case 'bearer':
      return { Authorization: `Bearer ${secret.trim()}` }
    case 'basic': {
      const bytes = new TextEncoder().encode(`${user}:${secret}`)
      return { Authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` }
    }
  }
}

/** Signs out: revokes the session, and forgets it even if that fails. */
export async function signOut(): Promise<void> {
  const ended = session.get()
  forget()
  if (ended?.keyId !== undefined) {
    const url = `${sessionsUrl}/${encodeURIComponent(ended.keyId)}`
    await fetch(url, {
      method: 'DELETE',
      headers: ended.headers,
      credentials: cookies,
      keepalive: true,
    }).catch(() => undefined)
  }
  // Nothing that was read stays in memory.
  history.replaceState(null, '', location.pathname)
  location.reload()
}

/** Forgets the session. */
export function forget(): void {
  sessionStorage.removeItem(storageKey)
  session.set(undefined)
}

let renewing: Promise<boolean> | undefined

/**
 * Covers the page with the form for signing in, so that what was entered in other forms stays. Resolves with whether the
 * person has signed in again.
 */
export function renew(): Promise<boolean> {
  sessionStorage.removeItem(storageKey)
  renewing ??= new Promise<boolean>((resolve) => {
    renewal.set((isSignedIn) => {
      renewal.set(undefined)
      renewing = undefined
      resolve(isSignedIn)
    })
  })
  return renewing
}
