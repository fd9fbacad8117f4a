import { requireKnown } from '../checks/options.ts'
import { describe, isPlainObject } from '../checks/plain-object.ts'

/** The caller of a request or an in-process call. */
export interface Principal {
  /**
   * `user`: an authenticated caller, or one of {@link principal}. `anonymous`: a caller without a name.
   * `system`: your application itself, whom no right restricts; only {@link system} has this kind.
   */
  readonly kind: 'user' | 'anonymous' | 'system'
  /** The identifier of the user; null for the other kinds. */
  readonly user: string | null
  readonly roles: readonly string[]
  /** Further data about the user, for row rules, handlers and validations. */
  readonly attributes: Attributes
  /** The name of the security provider that authenticated the caller; null in process and under open access. */
  readonly provider: string | null
  /** The identifier of the API key of the request; null without one. Never the key itself. */
  readonly keyId: string | null
}

/**
 * Data about a user by name, besides its roles. The values are flat, so that a row rule can only compare with them: an
 * object would be its operators.
 */
export type Attributes = Readonly<Record<string, string | number | boolean | null>>

// They are immutable and of the right kind, so they need not be checked and copied again.
const created = new WeakSet<object>()

const nameless = {
  user: null,
  roles: Object.freeze([]),
  attributes: {},
  provider: null,
  keyId: null,
}

/** The caller of a request under open access. */
export const anonymous: Principal = create({ kind: 'anonymous', ...nameless })

/**
 * The caller for application code that acts with every right: no roles, row rules or field rights apply, and
 * it may set read-only fields. For in-process calls only: `service.as(system)`. A copy is not accepted.
 */
export const system: Principal = create({ kind: 'system', ...nameless })

const known = ['roles', 'attributes', 'provider', 'keyId']
// Whole users and principals may be given, as in `principal(found.user, found)`.
const ignored = ['user', 'enabled', 'kind']

/**
 * Creates a principal of the kind `user` for providers and in-process calls: `principal('maria', { roles:
 * ['Sales'] })`. Throws a TypeError for unknown options and wrong types, such as an attribute that is an object.
 */
export function principal(user: string, rest: Partial<Omit<Principal, 'user'>> = {}): Principal {
  requireKnown('principal', rest, known, ignored)
  const { kind = 'user', roles = [], attributes = {}, provider = null, keyId = null } = rest
  if (typeof user !== 'string') throw new TypeError('principal: the user must be a string')
  const ownRoles = listOfStrings(roles)
  if (ownRoles === undefined) {
    throw new TypeError(`principal: roles must be a list, such as ['Sales']`)
  }
  const mistake = attributesMistake(attributes)
  if (mistake !== undefined) throw new TypeError(`principal: ${mistake}`)
  if (kind !== 'user') throw new TypeError('principal: its kind is always user')
  return create({ kind, user, roles: ownRoles, attributes, provider, keyId })
}

/**
 * Returns an immutable principal with the members of a value from application code; undefined if the value
 * is not a principal. Its kind follows from its user, so it is never `system`, and a value that claims
 * another kind is not a principal.
 */
export function withoutSystemRights(given: unknown): Principal | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  if (created.has(given)) return given === system ? undefined : (given as Principal)
  // Each member is read once: a getter could return something else after the check.
  const { kind, user, roles, attributes, provider = null, keyId = null } = given as Claims
  const ownKind = user === null ? 'anonymous' : 'user'
  const ownRoles = listOfStrings(roles)
  if (kind !== undefined && kind !== ownKind) return undefined
  if (ownRoles === undefined || attributesMistake(attributes) !== undefined) return undefined
  if (!isStringOrNull(user) || !isStringOrNull(provider) || !isStringOrNull(keyId)) return undefined
  const ownAttributes = attributes as Attributes
  return create({
    kind: ownKind,
    user,
    roles: ownRoles,
    attributes: ownAttributes,
    provider,
    keyId,
  })
}

/** Returns the mistake in the attributes of a principal, without their values; undefined if there is none. */
export function attributesMistake(given: unknown): string | undefined {
  if (!isPlainObject(given)) return `attributes must be an object of values, not ${describe(given)}`
  const wrong = Object.keys(given).find((name) => given[name] !== undefined && !isFlat(given[name]))
  if (wrong === undefined) return undefined
  return `the attribute ${wrong} must be a string, a finite number, a boolean or null, not ${describe(given[wrong])}`
}

/** Returns whether a value can be an attribute. */
export function isFlat(value: unknown): value is Attributes[string] {
  return value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value)
}

/** Returns the principal for an in-process call. Throws a TypeError if the value is not a principal. */
export function requirePrincipal(given: unknown): Principal {
  const accepted = given === system ? system : withoutSystemRights(given)
  if (accepted !== undefined) return accepted
  throw new TypeError(
    `as: the caller must be a principal, such as principal('maria', { roles: ['Sales'] }), or system itself`,
  )
}

type Claims = Partial<Record<keyof Principal, unknown>>

// Spread objects would be slow to use: V8 gives each that is frozen, or extended, a hidden class of its own.
function create({ kind, user, roles, attributes, provider, keyId }: Principal): Principal {
  const own = Object.freeze(Object.fromEntries(Object.entries(attributes)))
  const principal = Object.freeze({ kind, user, roles, attributes: own, provider, keyId })
  created.add(principal)
  return principal
}

// Not with its iterator or methods, which the list could replace.
function listOfStrings(given: unknown): readonly string[] | undefined {
  if (!Array.isArray(given)) return undefined
  const { length } = given
  const copy = Array.from({ length }, (_, index): unknown => given[index])
  return copy.every((entry) => typeof entry === 'string') ? Object.freeze(copy) : undefined
}

function isStringOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}
