import type { RejectionReason } from '../../observation/reports.ts'
import type { KeyRecord } from './key-store.ts'

/** The number of rejections of a key for a reason since they were last written. */
export interface Rejections {
  readonly key: Pick<KeyRecord, 'keyId' | 'user' | 'provider'>
  readonly reason: RejectionReason
  readonly times: number
  /** The time of the latest rejection. */
  readonly at: Date
}

/** Counts rejections, so that each key and reason is written at most once a minute. */
export interface RejectionCounter {
  /** Counts a rejection. Returns whether counts are due to be written. */
  count(key: Rejections['key'], reason: RejectionReason, at: Date): boolean
  /** Finds counts whose minute is over, at most once a minute. Returns whether counts are due. */
  sweep(at: Date): boolean
  /** Makes all counts due. */
  release(): void
  /** Returns the counts that are due, and resets them. */
  take(): readonly Rejections[]
  /** Adds counts that could not be written. */
  restore(rejections: readonly Rejections[]): void
}

interface Count {
  readonly key: Rejections['key']
  readonly reason: RejectionReason
  times: number
  at: Date
  /** The time when it was last due. */
  since: number | undefined
}

const minute = 60_000

/** Returns whether a time is less than a minute ago. Times in the future are not recent. */
export function isRecent(time: number | undefined, now: Date): time is number {
  const passed = now.getTime() - (time ?? NaN)
  return passed >= 0 && passed < minute
}

/** Creates a counter that tracks at most `capacity` pairs of key and reason. */
export function rejectionCounter(capacity: number): RejectionCounter {
  const counts = new Map<string, Count>()
  const due = new Set<Count>()
  let swept: number | undefined

  function find(key: Rejections['key'], reason: RejectionReason, at: Date): Count {
    const name = nameOf(key, reason)
    const known = counts.get(name)
    if (known !== undefined) return known
    if (counts.size >= capacity) evictOldest()
    const { keyId, user, provider } = key
    const made = { key: { keyId, user, provider }, reason, times: 0, at, since: undefined }
    counts.set(name, made)
    return made
  }

  function evictOldest(): void {
    const [name, oldest] = counts.entries().next().value as [string, Count]
    counts.delete(name)
    due.add(oldest)
  }

  function sweep(at: Date): boolean {
    // Stryker disable next-line ConditionalExpression: sweeping more often gives the same, more slowly
    if (isRecent(swept, at)) return false
    swept = at.getTime()
    let found = false
    for (const [name, count] of counts) {
      if (isRecent(count.since, at)) continue
      if (count.times === 0) counts.delete(name)
      else found = makeDue(count, at)
    }
    return found
  }

  function makeDue(count: Count, at: Date): true {
    count.since = at.getTime()
    due.add(count)
    return true
  }

  return {
    count(key, reason, at) {
      const found = find(key, reason, at)
      found.times += 1
      found.at = at
      const isDue = !isRecent(found.since, at) && makeDue(found, at)
      return sweep(at) || isDue
    },
    sweep,
    release() {
      for (const count of counts.values()) due.add(count)
    },
    take() {
      const taken = Array.from(due, ({ key, reason, times, at }) => ({ key, reason, times, at }))
      for (const count of due) count.times = 0
      due.clear()
      return taken.filter(({ times }) => times > 0)
    },
    restore(rejections) {
      for (const { key, reason, times } of rejections) {
        const count = counts.get(nameOf(key, reason))
        if (count !== undefined) count.times += times
      }
    },
  }
}

function nameOf({ keyId }: Rejections['key'], reason: RejectionReason): string {
  return `${keyId} ${reason}`
}
