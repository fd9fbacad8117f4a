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
import { fetchedKeys } from './fetched-keys.ts'
import type { CompleteAuthServer } from './auth-server-options.ts'
import type { Rejected } from '../provider.ts'

/** The claims of a token that is good at this moment, or why it is rejected. */
export type TokenCheck = (
  token: string,
  now: Date,
) => Promise<{ readonly claims: JWTPayload } | Rejected>

const longestToken = 16 * 1024
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/
const expired: Rejected = Object.freeze({ rejected: 'expired' })
const malformed: Rejected = Object.freeze({ rejected: 'malformed' })
const unknown: Rejected = Object.freeze({ rejected: 'unknown' })

/**
 * Checks signed JSON Web Tokens (RFC 7519, RFC 8725). What it returns rejects with UNAVAILABLE when the
 * keys can't be had (D29), and says nothing about the token in any error.
 */
export function tokenCheck(options: CompleteAuthServer): TokenCheck {
  const { issuer, audience, algorithms, clockTolerance, maxTokenAge } = options
  const keys = keysOf(options)
  const fixed: JWTVerifyOptions = {
    issuer,
    audience: typeof audience === 'string' ? audience : [...audience],
    algorithms,
    clockTolerance,
    requiredClaims: ['exp', ...options.requiredClaims],
    ...(maxTokenAge === undefined ? {} : { maxTokenAge }),
  }

  // Nothing is remembered about a token: a key that was withdrawn and the clock count on each request.
  return async (token, currentDate) => {
    if (token.length > longestToken || !compactForm.test(token)) return malformed
    try {
      return { claims: await verify(token, keys, { ...fixed, currentDate }) }
    } catch (error) {
      if (error instanceof errors.JOSEError) return rejectionOf(error)
      throw isServiceError(error) ? error : unavailable(faultOf(error))
    }
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

// A token of another type, such as an ID token or a logout token that the same server has signed, may
// have all the claims (RFC 8725, 3.11). The type is optional.
function claimsOf({ payload, protectedHeader: { typ } }: JWTVerifyResult): JWTPayload {
  if (typ === undefined || tokenType.test(typ)) return payload
  throw new errors.JWTInvalid('The token is of another type.')
}

// RFC 9068 and RFC 7519: media types, usually without `application/`.
const tokenType = /^(?:application\/)?(?:at\+)?jwt$/i

// The token names no key, and several of the set could be it.
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

/** The keys; what is not the fault of the token is UNAVAILABLE. */
function keysOf({ jwks, timeout, cooldown }: CompleteAuthServer): JWTVerifyGetKey {
  const keys =
    typeof jwks === 'string'
      ? fetchedKeys(new URL(jwks), { timeout, cooldown })
      : createLocalJWKSet(jwks as JSONWebKeySet)
  return async (header, token) => {
    try {
      return await keys(header, token)
    } catch (error) {
      throw faultsOfToken.some((fault) => error instanceof fault)
        ? error
        : unavailable(faultOf(error))
    }
  }
}

const faultsOfToken = [
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
  errors.JOSENotSupported,
]

function rejectionOf(error: errors.JOSEError): Rejected {
  if (error instanceof errors.JWTExpired) return expired
  if (error instanceof errors.JWTClaimValidationFailed) {
    return error.reason === 'check_failed' ? unknown : malformed
  }
  const isStranger =
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWSSignatureVerificationFailed
  return isStranger ? unknown : malformed
}

// A new error: what jose throws may carry the claims, and what fetch throws may quote the answer.
function faultOf(error: unknown): Error {
  return new Error(`The keys of the auth server can not be used: ${reasonOf(error)}.`)
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JOSEError) return error.message
  if (!(error instanceof Error)) return 'unknown error'
  const { code } = Object(error.cause) as { readonly code?: unknown }
  return typeof code === 'string' ? code : error.name
}
