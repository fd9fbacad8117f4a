import { store, stored } from './browser-storage.ts'
import { createStore } from './store.ts'
import { cookies, serviceRoot, settings, type SignInMethod } from './settings.ts'
import { responseText } from './response-text.ts'

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

/** Whether the session is being revoked. Then the page is loaded again, so nothing can be entered before. */
export const isSigningOut = createStore(false)

/** Who has signed in again over a page: the user of what it shows, another one, or no one. */
export type SignedIn = 'same' | 'other' | 'none'

/** The form for signing in again that covers the page, because the credential was rejected. */
export interface Renewal {
  /** The user of what the page shows, if that is known. */
  readonly user: string | undefined
  /** Closes the form. Does nothing if it is closed, even if another one is open. */
  readonly settle: (signedIn: SignedIn) => void
}

/** The open form for signing in again over the page; undefined if it is closed. */
export const renewal = createStore<Renewal | undefined>(undefined)

const maxRevocation = 5000
const ofTab = (): Storage => sessionStorage
const storageKey = `rowgate console ${location.pathname}`
const sessionsUrl = `${serviceRoot}${settings.brand}-admin/sessions`

/** Returns the session that a reload has kept. */
export function storedSession(): Session | undefined {
  const found = stored(ofTab, storageKey) as Session | undefined
  if (typeof found?.headers === 'object') return found
  return settings.isOpen ? { headers: {}, user: undefined, keyId: undefined } : undefined
}

/**
 * Returns the session for what was entered, without starting it. If the service has sessions, what was entered is exchanged
 * for a key with a life of minutes. Rejects with an Error whose message is for people.
 */
export async function signIn({ method, user, secret }: Entered): Promise<Session> {
  const headers = headersOf({ method, user, secret })
  const name = method.type === 'basic' ? user : undefined
  const own: Session = { headers, user: name, keyId: undefined }
  if (!settings.hasSessions) return own
  const response = await fetch(sessionsUrl, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    credentials: cookies,
    body: '{}',
  }).catch(() => undefined)
  if (response === undefined) throw new Error('The service could not be reached. Try again.')
  // There is no session for it, such as for a token with roles of its own: the page keeps it itself, in memory.
  if (response.status === 400) return own
  const envelope = (await response.json().catch(() => undefined)) as
    | {
        readonly item?: {
          readonly key: string
          readonly header: string
          readonly user: string
          readonly keyId: string
        }
      }
    | null
    | undefined
  if (!response.ok || !envelope?.item) throw new Error(responseText(envelope, response))
  const { key, header, user: owner, keyId } = envelope.item
  return { headers: { [header]: key }, user: owner, keyId }
}

/** Starts a session. A reload keeps it if it can be revoked. */
export function start(next: Session): void {
  if (next.keyId !== undefined) store(ofTab, storageKey, next)
  session.set(next)
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
  isSigningOut.set(true)
  forget()
  await revoke(ended)
  // Nothing that was read stays in memory.
  history.replaceState(null, '', location.pathname)
  location.reload()
}

/** Revokes a session, if it is one. Never rejects, and does not wait for a service that does not respond. */
export async function revoke(ended: Session | undefined): Promise<void> {
  if (ended?.keyId === undefined) return
  const url = `${sessionsUrl}/${encodeURIComponent(ended.keyId)}`
  await fetch(url, {
    method: 'DELETE',
    headers: ended.headers,
    credentials: cookies,
    keepalive: true,
    signal: AbortSignal.timeout(maxRevocation),
  }).catch(() => undefined)
}

/** Goes back to a session that was rejected, which a reload does not keep. What the page shows stays. */
export function goBackTo(before: Session | undefined): void {
  store(ofTab, storageKey, undefined)
  session.set(before)
}

/** Forgets the session. */
export function forget(): void {
  store(ofTab, storageKey, undefined)
  session.set(undefined)
}

let renewing: Promise<SignedIn> | undefined

/**
 * Covers the page with the form for signing in, so that what was entered in other forms stays. Resolves with who has signed
 * in again: without the form if that was while the response was late that has rejected the `sender`.
 */
export async function renew(sender: Session | undefined): Promise<SignedIn> {
  const now = session.get()
  if (renewing === undefined && now !== sender) return now ? comparedWith(sender, now) : 'none'
  store(ofTab, storageKey, undefined)
  renewing ??= openRenewal()
  return renewing
}

// Of two keys without a user, nothing says that they have the same one.
function comparedWith(before: Session | undefined, now: Session): SignedIn {
  return before?.user !== undefined && before.user === now.user ? 'same' : 'other'
}

function openRenewal(): Promise<SignedIn> {
  const opened = new Promise<SignedIn>((resolve) => {
    const settle = (signedIn: SignedIn): void => {
      if (renewing !== opened) return
      renewal.set(undefined)
      renewing = undefined
      resolve(signedIn)
    }
    renewal.set({ user: session.get()?.user, settle })
  })
  return opened
}
