import { createHmac, randomBytes } from 'node:crypto'
import { boundedWork } from './bounded-work.ts'
import { hashPassword, isPassword, passwordMatches, unmatchable } from './password.ts'
import type { PasswordCost } from './password.ts'

/** What a password is checked against. */
export interface PasswordClaim {
  readonly user: string
  readonly password: string
  /** The stored hash; null: there is none, and no password is right. */
  readonly stored: string | null
}

/** Hashes and checks passwords within bounds; see {@link passwordChecks}. */
export interface PasswordChecks {
  /** Rejects with a TypeError for what can't be a password. */
  hash(password: string): Promise<string>
  /** Whether the password is right. Takes as long without a stored hash as with one. */
  check(claim: PasswordClaim): Promise<boolean>
}

/** How passwords are hashed. */
export interface PasswordWork {
  readonly cost: PasswordCost
  /** Hashes at the same time. */
  readonly concurrency: number
  /** Hashes that may wait; beyond, what is asked rejects with UNAVAILABLE. */
  readonly waiting: number
}

// Passwords that were right are remembered up to this number; beyond, the least recently used is let go.
const mostRemembered = 1_000

/**
 * Checks passwords, a slow thing by intention: equal checks that meet share one hash, and a password
 * that was right is remembered. What is remembered holds for the stored hash that it was checked against
 * and no other, so a changed password is in force at once (D46).
 */
export function passwordChecks({ cost, concurrency, waiting }: PasswordWork): PasswordChecks {
  const bounded = boundedWork(concurrency, waiting)
  const nothing = unmatchable(cost)
  const secret = randomBytes(32)
  const right = new Set<string>()
  const pending = new Map<string, Promise<boolean>>()

  // Neither the password nor a hash that could be tried offline stays in memory.
  function fingerprintOf(user: string, password: string, stored: string): string {
    const text = JSON.stringify([user, password, stored])
    return createHmac('sha256', secret).update(text).digest('base64url')
  }

  function remember(fingerprint: string): void {
    right.delete(fingerprint)
    if (right.size >= mostRemembered) right.delete(right.values().next().value as string)
    right.add(fingerprint)
  }

  async function compare(fingerprint: string, password: string, stored: string): Promise<boolean> {
    try {
      const matches = await bounded(() => passwordMatches(password, stored))
      if (matches) remember(fingerprint)
      return matches
    } finally {
      pending.delete(fingerprint)
    }
  }

  return {
    hash: async (password) => {
      if (!isPassword(password)) {
        throw new TypeError(
          'A password must have 1 to 1024 bytes in UTF-8 and no control characters.',
        )
      }
      return bounded(() => hashPassword(password, cost))
    },
    check: async ({ user, password, stored }) => {
      const against = stored ?? nothing
      const fingerprint = fingerprintOf(user, password, against)
      if (right.has(fingerprint)) {
        remember(fingerprint)
        return true
      }
      const met = pending.get(fingerprint)
      if (met !== undefined) return met
      const comparison = compare(fingerprint, password, against)
      pending.set(fingerprint, comparison)
      return comparison
    },
  }
}
