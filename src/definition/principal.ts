/** Who asks: the user behind a request or an in-process call, as a security provider found it. */
export interface Principal {
  /** The user's identifier; null for a caller that nobody named (open access). */
  readonly user: string | null
  readonly roles: readonly string[]
  /** Whatever else the host knows about the user, for handlers and rules. */
  readonly attributes: Readonly<Record<string, string | number | boolean | null>>
}

/** The caller of a service whose definition says that access is open. */
export const anonymous: Principal = Object.freeze({
  user: null,
  roles: Object.freeze([]),
  attributes: Object.freeze({}),
})

/** A principal for in-process calls: `principal('maria', { roles: ['Sales'] })`. */
export function principal(user: string, rest: Partial<Omit<Principal, 'user'>> = {}): Principal {
  return Object.freeze({
    user,
    roles: Object.freeze([...(rest.roles ?? [])]),
    attributes: Object.freeze({ ...rest.attributes }),
  })
}
