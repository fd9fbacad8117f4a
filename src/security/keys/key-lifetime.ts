import { withoutZeroFraction } from '../../definition/value-forms.ts'
import type { KeyProvider } from '../provider.ts'
import type { KeyRecord } from './key-store.ts'

const minute = 60_000
const latest = Date.parse('9999-12-31T23:59:59.999Z')

/** Returns a date as an instant on the wire: `YYYY-MM-DDThh:mm:ss[.fff]Z`. */
export function instantOf(date: Date): string {
  return withoutZeroFraction(date.toISOString())
}

/**
 * Returns the instant at which a new key expires, or null if it does not expire. Throws a TypeError for a
 * lifetime in minutes that the provider does not allow; lifetimes are not clamped.
 */
export function expiryOf(
  provider: Pick<KeyProvider, 'defaultExpiry' | 'maxExpiry'>,
  expiresIn: number | undefined,
  now: Date,
  call: string,
): string | null {
  const lifetime = expiresIn ?? provider.defaultExpiry ?? provider.maxExpiry
  if (lifetime === null) return null
  if (provider.maxExpiry !== null && lifetime > provider.maxExpiry) {
    throw new TypeError(
      `${call}.expiresIn must not be above the provider's maxExpiry: ${provider.maxExpiry} minutes`,
    )
  }
  return minutesAfter(now, lifetime, `${call}.expiresIn`)
}

/** Returns the instant some minutes later. Throws a TypeError after the year 9999. */
export function minutesAfter(now: Date, minutes: number, place: string): string {
  const time = now.getTime() + minutes * minute
  if (time <= latest) return instantOf(new Date(time))
  throw new TypeError(`${place} must be fewer minutes: the date would be after the year 9999`)
}

/** Returns why a key is inactive; undefined if it is active. */
export function inactiveReason(
  { revoked, expires }: Pick<KeyRecord, 'revoked' | 'expires'>,
  now: Date,
): 'revoked' | 'expired' | undefined {
  if (revoked !== null) return 'revoked'
  return isReached(expires, now) ? 'expired' : undefined
}

/** Returns whether an instant is reached; it is reached at the instant itself. */
function isReached(instant: string | null, now: Date): boolean {
  if (instant === null) return false
  // Negated so that an invalid clock or date makes the key inactive: comparisons with NaN are false.
  return !(now.getTime() < Date.parse(instant))
}
