import {
  createLocalJWKSet,
  errors,
  jwtVerify,
  type CryptoKey,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
} from 'jose'
import { isServiceError, unavailable } from '../../errors.ts'
import { fetchedKeys, type KeySource } from './fetched-keys.ts'
import type { CompleteAuthServer } from './auth-server-options.ts'
import type { Rejected } from '../provider.ts'
import { isFlat, type Attributes } from '../../definition/principal.ts'
import { isLine } from '../check-call.ts'

/** Verifies tokens with the keys of an authorization server. */
export interface TokenCheck {
  /** Returns the claims of a token that is valid now, or the reason why it is rejected. */
  verify(token: string, now: Date): Promise<VerifiedClaims | Rejected>
  /** Returns the key set of the verification at this time; undefined if it has to be fetched first. */
  keySet(): object | undefined
}

/** The claims of a valid token. */
export interface VerifiedClaims {
  readonly claims: JWTPayload
  /** The key set with which it was verified; undefined if that changed meanwhile. */
  readonly keySet: object | undefined
}

const maxTokenLength = 16 * 1024
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/
const expired: Rejected = Object.freeze({ rejected: 'expired' })
const malformed: Rejected = Object.freeze({ rejected: 'malformed' })
const unknown: Rejected = Object.freeze({ rejected: 'unknown' })

/**
 * Creates the check of signed JSON Web Tokens (RFC 7519, RFC 8725). It rejects with UNAVAILABLE if the keys
 * can't be fetched. Its errors contain nothing of the token.
 */
export function tokenCheck(options: CompleteAuthServer): TokenCheck {
  const { issuer, audience, algorithms, clockTolerance, maxTokenAge } = options
  const { find, keySet } = keysOf(options)
  const fixed: JWTVerifyOptions = {
    issuer,
    audience: typeof audience === 'string' ? audience : [...audience],
    algorithms,
    clockTolerance,
    requiredClaims: ['exp', ...options.requiredClaims],
    ...(maxTokenAge === undefined ? {} : { maxTokenAge }),
  }

  return {
    keySet,
    async verify(token, currentDate) {
      if (token.length > maxTokenLength || !compactForm.test(token)) return malformed
      const before = keySet()
      try {
        const claims = await verify(token, find, { ...fixed, currentDate })
        return { claims, keySet: keySet() === before ? before : undefined }
      } catch (error) {
        if (error instanceof errors.JOSEError) return rejectionOf(error)
        throw isServiceError(error) ? error : unavailable(keyFailure(error))
      }
    },
  }
}

async function verify(
  token: string,
  keys: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return claimsOf(await jwtVerify(token, keys, options))
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    return verifyByAny(error, (key) => jwtVerify(token, key, options))
  }
}

// ID tokens and logout tokens of the same server can have all the required claims, but another type
// (RFC 8725, 3.11). The type is optional.
function claimsOf({ payload, protectedHeader: { typ } }: JWTVerifyResult): JWTPayload {
  if (typ === undefined || tokenType.test(typ)) return payload
  throw new errors.JWTInvalid('The token is of another type.')
}

// Media types of RFC 9068 and RFC 7519, usually without `application/`.
const tokenType = /^(?:application\/)?(?:at\+)?jwt$/i

// The token does not name its key, so every key that fits is tried.
async function verifyByAny(
  keys: AsyncIterable<CryptoKey>,
  verifyBy: (key: CryptoKey) => Promise<JWTVerifyResult>,
): Promise<JWTPayload> {
  for await (const key of keys) {
    try {
      return claimsOf(await verifyBy(key))
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
    }
  }
  throw new errors.JWSSignatureVerificationFailed()
}

/** Returns the source of the keys. Failures that the token did not cause become UNAVAILABLE. */
function keysOf({ jwks, timeout, cooldown }: CompleteAuthServer): KeySource {
  const { find, keySet } =
    typeof jwks === 'string'
      ? fetchedKeys(new URL(jwks), { timeout, cooldown })
      : { find: createLocalJWKSet(jwks as JSONWebKeySet), keySet: () => jwks }
  const findKey: JWTVerifyGetKey = async (header, token) => {
    try {
      return await find(header, token)
    } catch (error) {
      throw tokenErrors.some((type) => error instanceof type)
        ? error
        : unavailable(keyFailure(error))
    }
  }
  return { find: findKey, keySet }
}

const tokenErrors = [
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
  errors.JOSENotSupported,
]

function rejectionOf(error: errors.JOSEError): Rejected {
  if (error instanceof errors.JWTExpired) return expired
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.reason === 'check_failed' ? unknown : malformed
  }
  const isUnknown =
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWSSignatureVerificationFailed
  return isUnknown ? unknown : malformed
}

// The original error is not kept: errors of jose may contain the claims, errors of fetch the response.
function keyFailure(error: unknown): Error {
  return new Error(`The keys of the authorization server cannot be used: ${reasonOf(error)}.`)
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JOSEError) return error.message
  if (!(error instanceof Error)) return 'unknown error'
  const { code } = Object(error.cause) as { readonly code?: unknown }
  return typeof code === 'string' ? code : error.name
}

/** The names of the claims that describe the caller. */
export interface ClaimNames {
  readonly userClaim: string
  readonly rolesClaim: string
  /** Claims by attribute name. */
  readonly attributes: Readonly<Record<string, string>>
}

/** The caller as described by the claims of a token. */
interface BearerClaims {
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
  if (!found.every((entry): entry is readonly [string, Attributes[string]] => isFlat(entry[1])))
    return undefined
  return Object.freeze(Object.fromEntries(found))
}
