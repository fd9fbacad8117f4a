import { StorageError } from './adapter.ts'

/** How long transactions wait for each other, in milliseconds. */
export const waitLimits = Object.freeze({
  /**
   * How long application code may wait with the lock before the lock is given back. Work that waits for
   * nothing but the database never takes so long, and so never meets a change made in between.
   */
  suspend: 20,
  /** How often a transaction that can't give the lock back is looked at. */
  check: 50,
  /** How long a transaction waits for those ahead of it. */
  queue: 2_000,
  /** How long application code may keep the lock after the first write of its transaction. */
  lock: 15_000,
  /** The same while a write of users or keys waits. */
  lockBeforeUrgent: 2_000,
  /** How long a write of users or keys waits: it outlives the slowest code that may be ahead of it. */
  urgent: 10_000,
})

/** The error of a transaction that was given up for the sake of others, or for what they changed. */
export function givenUp(reason: keyof typeof reasons): StorageError {
  return new StorageError('unavailable', { cause: new Error(reasons[reason]) })
}

const reasons = {
  stale: 'what the transaction had read was changed while application code waited',
  overdue: 'application code kept the write lock for too long',
  expired: 'the transaction waited too long for the transactions ahead of it',
  dependent: 'a transaction whose changes were read could not be committed',
} as const
