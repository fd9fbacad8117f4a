import type { JWTPayload } from 'jose'
import type { Attributes } from '../../definition/principal.ts'
import { isLine } from '../check-call.ts'

/** Where in a token the caller is described. */
export interface ClaimNames {
  readonly userClaim: string
  readonly rolesClaim: string
  /** Claims by attribute name. */
  readonly attributes: Readonly<Record<string, string>>
}

/** What a token says about the caller. */
export interface BearerClaims {
  readonly user: string
  readonly roles: readonly string[]
  readonly attributes: Attributes
}

// As long as the `sub` of OpenID Connect may be.
const longestUser = 255

/**
 * Reads the caller from the claims of a verified token: undefined when they name no user, or when roles
 * or an attribute have a form that is not understood.
 */
export function readClaims(claims: JWTPayload, names: ClaimNames): BearerClaims | undefined {
  const user = claimAt(claims, names.userClaim)
  const roles = readRoles(claimAt(claims, names.rolesClaim))
  const attributes = readAttributes(claims, names.attributes)
  if (!isLine(user) || user === '' || user.length > longestUser) return undefined
  return roles && attributes && { user, roles, attributes }
}

/** The claim of a name; a name with dots that is no claim is a path into claims that are objects. */
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
  const texts = typeof value === 'string' ? value.split(' ') : (value ?? [])
  if (!Array.isArray(texts) || !texts.every((text) => typeof text === 'string')) return undefined
  return Object.freeze(Array.from(new Set(texts.filter((text) => text !== ''))))
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
