import { createHmac } from 'node:crypto'
import { unavailable } from '../../errors.ts'
import { runtime } from '../../runtime.ts'
import type { Attempt } from './attempts.ts'
import { hashPassword, isPassword, passwordMatches, unmatchable } from './password.ts'
import type { PasswordCost } from './password.ts'

/** A password to check, and the stored hash of its user. */
export interface PasswordClaim {
  readonly user: string
  readonly password: string
  /** The stored hash; null: there is none, and no password is correct. */
  readonly stored: string | null
}

/** Hashes and checks passwords within bounds; see {@link passwordChecks}. */
export interface PasswordChecks {
  /** Hashes a password. Rejects with a TypeError if its form is invalid. */
  hash(password: string): Promise<string>
  /**
   * Returns whether a password is correct. Takes the same time with and without a stored hash. `begin` is called if it needs
   * a hash: it may throw, and returns whether the check goes before others.
   */
  check(claim: PasswordClaim, begin?: () => Attempt): Promise<boolean>
}

/** The cost and the limits of hashing. */
export interface PasswordWork {
  readonly cost: PasswordCost
  /** The maximum number of hashes at the same time. */
  readonly concurrency: number
  /** The maximum number of waiting hashes; above it, calls reject with UNAVAILABLE. */
  readonly waiting: number
}

// The maximum number of cached passwords; above it, the least recently used is evicted.
const maxCached = 1_000

/**
 * Creates the checks of passwords. Hashing is slow on purpose, so equal checks at the same time share one
 * hash, and correct passwords are cached together with the stored hash: a changed password takes effect
 * at once.
 */
export function passwordChecks({ cost, concurrency, waiting }: PasswordWork): PasswordChecks {
  const bounded = boundedWork(concurrency, waiting)
  const noPassword = unmatchable(cost)
  const secret = runtime.randomBytes(32)
  const correct = new Set<string>()
  const pending = new Map<string, Promise<boolean>>()

  // A keyed hash: memory contains neither the password nor a hash that can be attacked offline.
  function fingerprintOf(user: string, password: string, stored: string): string {
    const text = JSON.stringify([user, password, stored])
    return createHmac('sha256', secret).update(text).digest('base64url')
  }

  function remember(fingerprint: string): void {
    correct.delete(fingerprint)
    if (correct.size >= maxCached) correct.delete(correct.values().next().value as string)
    correct.add(fingerprint)
  }

  async function compare(
    fingerprint: string,
    { password, stored }: { readonly password: string; readonly stored: string },
    { isKnown, ended }: Attempt,
  ): Promise<boolean> {
    let matches: boolean | undefined
    try {
      matches = await bounded(() => passwordMatches(password, stored), isKnown)
      if (matches) remember(fingerprint)
      return matches
    } finally {
      pending.delete(fingerprint)
      ended(matches)
    }
  }

  return {
    hash: async (password) => {
      if (!isPassword(password)) {
        throw new TypeError(
          'A password must have 1 to 1024 bytes in UTF-8 and no control characters.',
        )
      }
      return bounded(() => hashPassword(password, cost), true)
    },
    check: async ({ user, password, stored }, begin = unlimited) => {
      const against = stored ?? noPassword
      const fingerprint = fingerprintOf(user, password, against)
      if (correct.has(fingerprint)) {
        remember(fingerprint)
        return true
      }
      const running = pending.get(fingerprint)
      if (running !== undefined) return running
      const comparison = compare(fingerprint, { password, stored: against }, begin())
      pending.set(fingerprint, comparison)
      return comparison
    },
  }
}

const unlimited = (): Attempt => ({ isKnown: false, ended: () => undefined })

/** Runs work within limits; see {@link boundedWork}. */
export type BoundedWork = <Result>(
  work: () => Promise<Result>,
  isFirst?: boolean,
) => Promise<Result>

/**
 * Limits concurrent work: at most `concurrency` calls run, at most `waiting` calls wait in the order of
 * their arrival, and further calls reject with UNAVAILABLE. Work that goes first has a queue of its own.
 */
export function boundedWork(concurrency: number, waiting: number): BoundedWork {
  const first: (() => void)[] = []
  const others: (() => void)[] = []
  let running = 0

  function leave(): void {
    const next = first.shift() ?? others.shift()
    if (next === undefined) running--
    else next()
  }

  return async (work, isFirst = false) => {
    const queue = isFirst ? first : others
    if (running < concurrency) running++
    else if (queue.length < waiting) await new Promise<void>((admit) => queue.push(admit))
    else throw unavailable(new Error('The queue of password checks is full.'))
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
