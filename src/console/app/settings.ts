/** How people sign in. */
export type SignInMethod =
  | { readonly type: 'apiKey'; readonly header: string }
  | { readonly type: 'basic' }
  | { readonly type: 'bearer' }

/** What the HTML of the page says about its service. */
export interface Settings {
  /** The name of the page, below which its files are. */
  readonly name: string
  readonly title: string
  readonly brand: string
  readonly methods: readonly SignInMethod[]
  /** Whether requests may be sent without signing in first. */
  readonly isOpen: boolean
  /** Whether a sign-in can be exchanged for a key of a short life. */
  readonly hasSessions: boolean
}

/** The settings of this page. */
export const settings = JSON.parse(document.body.dataset['settings'] ?? '{}') as Settings

/** The path of the service, with a slash at its end. The page itself is directly below. */
export const serviceRoot = new URL('.', location.href).pathname

/** The application with which people administer the service. */
export const administration = `${settings.brand}-admin`

// With cookies, a browser opens a dialog of its own when a response has the challenge Basic.
export const cookies: RequestCredentials = settings.methods.some(({ type }) => type === 'basic')
  ? 'omit'
  : 'same-origin'
