import type { OpenAccess, SecurityProvider } from '../security/provider.ts'

/** How a caller can sign in on a page. */
export type SignInMethod =
  | { readonly type: 'apiKey'; readonly header: string }
  | { readonly type: 'basic' }
  | { readonly type: 'bearer' }

/** How callers can sign in on a page of a service. */
export interface SignIn {
  /** In the order of the priority of the providers. */
  readonly methods: readonly SignInMethod[]
  /** Whether a page may request something without signing in first. */
  readonly isOpen: boolean
}

/** Returns how callers can sign in with the providers of a service that are enabled. */
export function signInOf(security: readonly (SecurityProvider | OpenAccess)[]): SignIn {
  const providers = security.flatMap((one) => ('anyone' in one || one.enabled === false ? [] : one))
  const methods = providers
    .toSorted((one, other) => one.priority - other.priority)
    .map(methodOf)
    .filter((method) => method !== undefined)
  // Providers without a form, such as session providers, find their credential in cookies.
  const isOpen = security.some((one) => 'anyone' in one) || methods.length < providers.length
  return { methods, isOpen }
}

/** Returns how a provider's credentials can be entered, by its challenge; undefined if they can't. */
function methodOf({ challenge }: SecurityProvider): SignInMethod | undefined {
  const header = /^ApiKey header="([^"]+)"/i.exec(challenge)?.[1]
  if (header !== undefined) return { type: 'apiKey', header }
  if (/^Basic\b/i.test(challenge)) return { type: 'basic' }
  return /^Bearer\b/i.test(challenge) ? { type: 'bearer' } : undefined
}

/** Returns a string as it can be the value of an HTML attribute in double quotes. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
