import { withoutZeroFraction } from '../../definition/calendar.ts'
import type { KeyProvider } from '../provider.ts'
import type { KeyRecord } from './key-store.ts'

const minute = 60_000
const latest = Date.parse('9999-12-31T23:59:59.999Z')

/** An instant on the wire: `YYYY-MM-DDThh:mm:ss[.fff]Z`. */
export function instantOf(date: Date): string {
  return withoutZeroFraction(date.toISOString())
}

/**
 * When a new key expires (D41), or null when it does not. Throws a TypeError for a lifetime that the
 * provider does not allow: nothing is clamped.
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

/** The instant some minutes later. Throws a TypeError beyond the year 9999. */
export function minutesAfter(now: Date, minutes: number, place: string): string {
  const time = now.getTime() + minutes * minute
  if (time <= latest) return instantOf(new Date(time))
  throw new TypeError(`${place} must be fewer minutes: the date would be beyond the year 9999`)
}

/** Why a key is dead (D41, D42); undefined while it is alive. */
export function deathOf(
  { revoked, expires }: Pick<KeyRecord, 'revoked' | 'expires'>,
  now: Date,
): 'revoked' | 'expired' | undefined {
  if (revoked !== null) return 'revoked'
  return hasCome(expires, now) ? 'expired' : undefined
}

/** Whether an instant has come (D41): at the instant itself it has. */
function hasCome(instant: string | null, now: Date): boolean {
  if (instant === null) return false
  // The other way round a broken clock or date would bring a key to life.
  return !(now.getTime() < Date.parse(instant))
}
