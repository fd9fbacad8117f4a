import type { RejectionReason } from '../../observation.ts'
import type { KeyRecord } from './key-store.ts'

/** How often a key was rejected for a reason since that was last written down. */
export interface Rejections {
  readonly key: Pick<KeyRecord, 'keyId' | 'user' | 'provider'>
  readonly reason: RejectionReason
  readonly times: number
  /** The latest of them. */
  readonly at: Date
}

/** Counts rejections, so that each key and reason is written down at most once a minute. */
export interface RejectionCounter {
  /** Counts one. True: there is something new to take. */
  count(key: Rejections['key'], reason: RejectionReason, at: Date): boolean
  /** Looks, at most once a minute, for counts whose minute is over. True: there are some to take. */
  sweep(at: Date): boolean
  /** Lets everything be taken that was counted. */
  release(): void
  /** What is to be written now. It is no longer counted then. */
  take(): readonly Rejections[]
  /** Counts again what could not be written. */
  giveBack(rejections: readonly Rejections[]): void
}

interface Count {
  readonly key: Rejections['key']
  readonly reason: RejectionReason
  times: number
  at: Date
  /** The time from which on it was not written again. */
  since: number | undefined
}

const minute = 60_000

/** Whether a time is less than a minute ago. A clock that was set back makes it long ago. */
export function isRecent(time: number | undefined, now: Date): time is number {
  if (time === undefined) return false
  const passed = now.getTime() - time
  return passed >= 0 && passed < minute
}

/** A counter that remembers a bounded number of keys and reasons. */
export function rejectionCounter(capacity: number): RejectionCounter {
  const counts = new Map<string, Count>()
  const due = new Set<Count>()
  let swept: number | undefined

  function find(key: Rejections['key'], reason: RejectionReason, at: Date): Count {
    const name = nameOf(key, reason)
    const known = counts.get(name)
    if (known !== undefined) return known
    if (counts.size >= capacity) forgetOldest()
    const { keyId, user, provider } = key
    const made = { key: { keyId, user, provider }, reason, times: 0, at, since: undefined }
    counts.set(name, made)
    return made
  }

  function forgetOldest(): void {
    const [name, oldest] = counts.entries().next().value as [string, Count]
    counts.delete(name)
    if (oldest.times > 0) due.add(oldest)
  }

  function sweep(at: Date): boolean {
    if (counts.size === 0 || isRecent(swept, at)) return false
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
      for (const count of counts.values()) if (count.times > 0) due.add(count)
    },
    take() {
      const taken = Array.from(due, ({ key, reason, times, at }) => ({ key, reason, times, at }))
      for (const count of due) count.times = 0
      due.clear()
      return taken.filter(({ times }) => times > 0)
    },
    giveBack(rejections) {
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
