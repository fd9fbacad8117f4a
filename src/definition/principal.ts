import { requireKnown } from './options.ts'

/** The caller of a request or an in-process call. */
export interface Principal {
  /** The identifier of the user; null under open access. */
  readonly user: string | null
  readonly roles: readonly string[]
  /** Further data about the user, for row rules, handlers and validations. */
  readonly attributes: Attributes
  /** The name of the security provider that authenticated the caller; null in process and under open access. */
  readonly provider: string | null
  /** The identifier of the API key of the request; null without one. Never the key itself. */
  readonly keyId: string | null
}

/** Data about a user by name, besides its roles. */
export type Attributes = Readonly<Record<string, string | number | boolean | null>>

/** The caller of a request under open access. */
export const anonymous: Principal = freeze({ user: null })

/**
 * The caller for application code that acts with every right: no roles, row rules or field rights apply, and
 * it may set read-only fields. For in-process calls only: `service.as(system)`.
 */
export const system: Principal = freeze({ user: null })

const known = ['roles', 'attributes', 'provider', 'keyId']
// Whole users and principals may be given, as in `principal(found.user, found)`.
const ignored = ['user', 'enabled']

/** Creates a principal for in-process calls: `principal('maria', { roles: ['Sales'] })`. */
export function principal(user: string, rest: Partial<Omit<Principal, 'user'>> = {}): Principal {
  requireKnown('principal', rest, known, ignored)
  const { roles, attributes } = rest
  if (typeof user !== 'string') throw new TypeError('principal: the user must be a string')
  if (roles !== undefined && !Array.isArray(roles)) {
    throw new TypeError(`principal: roles must be a list, such as ['Sales']`)
  }
  if (attributes !== undefined && Object(attributes) !== attributes) {
    throw new TypeError('principal: attributes must be an object')
  }
  return freeze({ ...rest, user })
}

/** Returns a value if it is a principal. Throws a TypeError otherwise. */
export function requirePrincipal(given: unknown): Principal {
  const { user, roles, attributes } = Object(given) as Partial<Record<keyof Principal, unknown>>
  const isUser = user === null || typeof user === 'string'
  if (isUser && Array.isArray(roles) && Object(attributes) === attributes) return given as Principal
  throw new TypeError(
    `as: the caller must be a principal, such as principal('maria', { roles: ['Sales'] }), or system`,
  )
}

function freeze(given: Partial<Principal> & Pick<Principal, 'user'>): Principal {
  return Object.freeze({
    user: given.user,
    roles: frozen(given.roles) ?? Object.freeze([...(given.roles ?? [])]),
    attributes: frozen(given.attributes) ?? Object.freeze({ ...given.attributes }),
    provider: given.provider ?? null,
    keyId: given.keyId ?? null,
  })
}

function frozen<Value extends object>(value: Value | undefined): Value | undefined {
  return value !== undefined && Object.isFrozen(value) ? value : undefined
}
