import type { JWTPayload } from 'jose'
import { keepLatest } from '../../keep-latest.ts'

/** The times that limit how long a verified token is valid, in seconds. */
export interface TokenTimes {
  readonly clockTolerance: number
  /** Undefined: tokens may have any age. */
  readonly maxTokenAge?: number | undefined
}

/** The callers of tokens that were verified, until one of the token's times or the key set changes that. */
export interface VerifiedTokens<Caller> {
  /** Returns the caller of a token that is still valid with the same key set. */
  find(token: string, keySet: object | undefined, now: Date): Caller | undefined
  /** Keeps a caller. `claims` and `keySet` are those with which the token was verified. */
  keep(token: string, verified: Verified<Caller>): void
}

interface Verified<Caller> {
  readonly caller: Caller
  readonly claims: Times
  readonly keySet: object
}

type Times = { readonly [Claim in 'exp' | 'nbf' | 'iat']?: JWTPayload[Claim] | undefined }

const maxTokens = 4_000
// Access tokens usually have 1,000 to 2,000 characters. Longer ones are verified each time.
const maxTokenLength = 4_096

/**
 * Creates a store of at most 4,000 tokens of at most 4,096 characters, by the token itself: a hash would take
 * longer than the search, and without Node it would have to be awaited.
 */
export function verifiedTokens<Caller>(times: TokenTimes): VerifiedTokens<Caller> {
  const tokens = new Map<string, Verified<Caller>>()
  return {
    find(token, keySet, now) {
      const known = tokens.get(token)
      if (known === undefined) return undefined
      if (known.keySet === keySet && isWithinTimes(known.claims, times, now)) return known.caller
      tokens.delete(token)
      return undefined
    },
    keep(token, { caller, claims: { exp, nbf, iat }, keySet }) {
      if (token.length > maxTokenLength) return
      keepLatest(tokens, token, { caller, claims: { exp, nbf, iat }, keySet }, maxTokens)
    },
  }
}

// The same comparisons, in whole seconds, as in the verification. An invalid clock meets none of them.
function isWithinTimes(
  { exp = -Infinity, nbf = -Infinity, iat = -Infinity }: Times,
  { clockTolerance, maxTokenAge }: TokenTimes,
  date: Date,
): boolean {
  const now = Math.floor(date.getTime() / 1000)
  if (!(nbf <= now + clockTolerance && exp > now - clockTolerance)) return false
  if (maxTokenAge === undefined) return true
  const age = now - iat
  return age - clockTolerance <= maxTokenAge && age >= -clockTolerance
}
