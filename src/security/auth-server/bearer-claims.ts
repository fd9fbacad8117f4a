import type { JWTPayload } from 'jose'
import type { Attributes } from '../../definition/principal.ts'
import { isLine } from '../check-call.ts'

/** The names of the claims that describe the caller. */
export interface ClaimNames {
  readonly userClaim: string
  readonly rolesClaim: string
  /** Claims by attribute name. */
  readonly attributes: Readonly<Record<string, string>>
}

/** The caller as described by the claims of a token. */
export interface BearerClaims {
  readonly user: string
  readonly roles: readonly string[]
  readonly attributes: Attributes
}

// The maximum length of `sub` in OpenID Connect.
const maxUserLength = 255

/**
 * Returns the caller that the claims of a verified token describe; undefined if there is no user, or if
 * the roles or an attribute have an unknown form.
 */
export function readClaims(claims: JWTPayload, names: ClaimNames): BearerClaims | undefined {
  const user = claimAt(claims, names.userClaim)
  const roles = readRoles(claimAt(claims, names.rolesClaim))
  const attributes = readAttributes(claims, names.attributes)
  if (!isLine(user) || user === '' || user.length > maxUserLength) return undefined
  return roles && attributes && { user, roles, attributes }
}

/** Returns a claim by name; a name with dots that is not a claim is a path into claims that are objects. */
function claimAt(claims: JWTPayload, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let found: unknown = claims
  for (const part of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    found = (found as Readonly<Record<string, unknown>>)[part]
  }
  return found
}

function readRoles(value: unknown): readonly string[] | undefined {
  const roles = typeof value === 'string' ? value.split(' ') : (value ?? [])
  if (!Array.isArray(roles) || !roles.every((role) => typeof role === 'string')) return undefined
  return Object.freeze(Array.from(new Set(roles.filter((role) => role !== ''))))
}

function readAttributes(
  claims: JWTPayload,
  names: Readonly<Record<string, string>>,
): Attributes | undefined {
  const found = Object.entries(names).flatMap(([attribute, name]) => {
    const value = claimAt(claims, name)
    return value === undefined ? [] : [[attribute, value] as const]
  })
  if (!found.every((entry): entry is readonly [string, Flat] => isFlat(entry[1]))) return undefined
  return Object.freeze(Object.fromEntries(found))
}

type Flat = Attributes[string]

function isFlat(value: unknown): value is Flat {
  return value === null || Number.isFinite(value) || ['string', 'boolean'].includes(typeof value)
}
