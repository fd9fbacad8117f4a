import type { ServiceError } from '../../errors.ts'
import { boundedMap } from '../../keep-latest.ts'
import { clientKeyOf } from '../../protocol/ip-address.ts'
import { tooMany } from '../limiting.ts'

/** How many wrong passwords are checked before further ones are rejected with 429. */
export interface AttemptLimits {
  /** Wrong passwords for one user name, known or not, in each period. Default 30. */
  readonly perName?: number
  /** Wrong passwords from one address in each period; an IPv6 address counts by its first 64 bits. Default 30. */
  readonly perAddress?: number
  /** The period in seconds, from its first wrong password. Default 60. */
  readonly seconds?: number
}

/** A password that is to be checked. */
export interface Attempt {
  /** Whether its user has sent the right password lately, so that it is checked before others. */
  readonly isKnown: boolean
  /** Called with the result of the check; undefined if it was not checked. */
  ended(isRight: boolean | undefined): void
}

/** Limits the attempts to find a password. */
export interface Attempts {
  /**
   * Begins to check a password. Throws TOO_MANY_REQUESTS if its name or its address has had too many wrong ones; those that
   * are being checked count as wrong. A name that has sent the right password from the same address lately is limited by its
   * wrong ones from there alone, and by none that are being checked.
   */
  begin(user: string, peer: string | undefined, now: Date): Attempt
}

interface Count {
  wrong: number
  readonly until: number
}

interface Counted {
  readonly count: Count
  readonly maximum: number
  /** Whether an attempt counts as wrong until it has ended. */
  readonly atOnce: boolean
}

/** How long a right password is remembered, in milliseconds. */
const lately = 24 * 3_600_000
// Clients choose the names, and many addresses.
const bounds = { maxEntries: () => 10_000, maxBytes: () => 4 * 1024 * 1024 }

/** Creates the limits of one provider. Undefined: attempts are not limited. */
export function passwordAttempts(limits: Required<AttemptLimits> | undefined): Attempts {
  const counts = boundedMap<Count>(bounds)
  // Names, and names at an address, by the time of their last right password.
  const right = boundedMap<number>(bounds)

  function countOf(key: string, now: number): Count {
    const known = counts.get(key)
    if (known !== undefined && known.until > now) return known
    const until = now + (limits?.seconds ?? 0) * 1_000
    const made = { wrong: 0, until }
    counts.set(key, made, bytesOf(key))
    return made
  }

  function isRecent(key: string, now: number): boolean {
    const at = right.get(key)
    return at !== undefined && now - at < lately
  }

  /** Returns what counts an attempt, each with its maximum. */
  function countedBy(user: string, address: string | undefined, now: number): readonly Counted[] {
    if (limits === undefined) return []
    const atAddress = keyOf(user, address)
    if (isRecent(atAddress, now)) {
      const count = countOf(atAddress, now)
      if (count.wrong < limits.perName) return [{ count, maximum: limits.perName, atOnce: false }]
      // Another client at this address tries passwords.
      right.delete(atAddress)
    }
    const byName = { count: countOf(keyOf(user), now), maximum: limits.perName, atOnce: true }
    if (address === undefined) return [byName]
    return [byName, { count: countOf(address, now), maximum: limits.perAddress, atOnce: true }]
  }

  return {
    begin(user, peer, date) {
      const now = date.getTime()
      const address = peer === undefined ? undefined : clientKeyOf(peer)
      const counted = countedBy(user, address, now)
      const full = counted.filter(({ count, maximum }) => count.wrong >= maximum)
      if (full.length > 0) throw rejection(full, now)
      for (const { count, atOnce } of counted) if (atOnce) count.wrong++
      const isKnown = isRecent(keyOf(user), now)
      return {
        isKnown,
        ended(isRight) {
          for (const { count, atOnce } of counted) {
            if (isRight === false && !atOnce) count.wrong++
            else if (isRight !== false && atOnce) count.wrong--
          }
          if (isRight !== true) return
          for (const key of [keyOf(user), keyOf(user, address)]) right.set(key, now, bytesOf(key))
        },
      }
    },
  }
}

function rejection(full: readonly Counted[], now: number): ServiceError {
  return tooMany(Math.max(...full.map(({ count }) => count.until)) - now)
}

// A name may look like an address.
function keyOf(user: string, address?: string): string {
  return JSON.stringify(address === undefined ? [user] : [user, address])
}

function bytesOf(key: string): number {
  return 150 + 2 * key.length
}
