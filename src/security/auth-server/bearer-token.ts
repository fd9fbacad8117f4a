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

/** Returns the claims of a token that is valid now, or the reason why it is rejected. */
export type TokenCheck = (
  token: string,
  now: Date,
) => Promise<{ readonly claims: JWTPayload } | Rejected>

const maxTokenLength = 16 * 1024
const compactForm = /^[\w-]+\.[\w-]+\.[\w-]+$/
const expired: Rejected = Object.freeze({ rejected: 'expired' })
const malformed: Rejected = Object.freeze({ rejected: 'malformed' })
const unknown: Rejected = Object.freeze({ rejected: 'unknown' })

/**
 * Returns a function that verifies signed JSON Web Tokens (RFC 7519, RFC 8725). That function rejects with
 * UNAVAILABLE if the keys can't be fetched. Its errors contain nothing of the token.
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

  // Tokens are not cached, so that withdrawn keys and expiry take effect at once.
  return async (token, currentDate) => {
    if (token.length > maxTokenLength || !compactForm.test(token)) return malformed
    try {
      return { claims: await verify(token, keys, { ...fixed, currentDate }) }
    } catch (error) {
      if (error instanceof errors.JOSEError) return rejectionOf(error)
      throw isServiceError(error) ? error : unavailable(keyFailure(error))
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
function keysOf({ jwks, timeout, cooldown }: CompleteAuthServer): JWTVerifyGetKey {
  const keys =
    typeof jwks === 'string'
      ? fetchedKeys(new URL(jwks), { timeout, cooldown })
      : createLocalJWKSet(jwks as JSONWebKeySet)
  return async (header, token) => {
    try {
      return await keys(header, token)
    } catch (error) {
      throw tokenErrors.some((type) => error instanceof type)
        ? error
        : unavailable(keyFailure(error))
    }
  }
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

// The original error is not kept: that of jose may contain the claims, that of fetch the response.
function keyFailure(error: unknown): Error {
  return new Error(`The keys of the authorization server can not be used: ${reasonOf(error)}.`)
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JOSEError) return error.message
  if (!(error instanceof Error)) return 'unknown error'
  const { code } = Object(error.cause) as { readonly code?: unknown }
  return typeof code === 'string' ? code : error.name
}
