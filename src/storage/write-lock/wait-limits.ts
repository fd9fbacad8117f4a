import { StorageError } from '../adapter.ts'

/** How long transactions wait for each other, in milliseconds. */
export const waitLimits = Object.freeze({
  /**
   * How long application code may wait while it holds the lock, before the lock is given back. Work that
   * waits only for the database takes less time, so it is never interrupted.
   */
  suspend: 20,
  /** The interval of the checks of a transaction that can't give the lock back. */
  check: 50,
  /** How long a transaction waits for the transactions ahead of it. */
  queue: 2_000,
  /** How long application code may keep the lock after the first write of its transaction. */
  lock: 15_000,
  /** The same, while a write of users or keys is waiting. */
  lockBeforeUrgent: 2_000,
  /** How long a write of users or keys waits: longer than any code ahead of it may hold the lock. */
  urgent: 10_000,
})

/** Creates the `unavailable` error of a transaction that was ended because of other transactions. */
export function givenUp(reason: keyof typeof reasons): StorageError {
  return new StorageError('unavailable', { cause: new Error(reasons[reason]) })
}

const reasons = {
  stale: 'what the transaction had read was changed while application code waited',
  overdue: 'application code kept the write lock for too long',
  expired: 'the transaction waited too long for the transactions ahead of it',
  dependent: 'a transaction whose changes were read could not be committed',
} as const
