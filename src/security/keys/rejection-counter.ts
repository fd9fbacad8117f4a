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

/** Counts rejections, so that each key and reason is written at most once a minute. */
export class RejectionCounter {
  readonly #capacity: number
  readonly #counts = new Map<string, Count>()
  readonly #due = new Set<Count>()
  #swept: number | undefined

  /** `capacity` is the maximum number of pairs of key and reason. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Counts a rejection. Returns whether counts are due to be written. */
  count(key: Rejections['key'], reason: RejectionReason, at: Date): boolean {
    const found = this.#find(key, reason, at)
    found.times += 1
    found.at = at
    const isDue = !isRecent(found.since, at) && this.#makeDue(found, at)
    return this.sweep(at) || isDue
  }

  /** Finds counts whose minute is over, at most once a minute. Returns whether counts are due. */
  sweep(at: Date): boolean {
    // Stryker disable next-line ConditionalExpression: sweeping more often gives the same, more slowly
    if (isRecent(this.#swept, at)) return false
    this.#swept = at.getTime()
    let found = false
    for (const [name, count] of this.#counts) {
      if (isRecent(count.since, at)) continue
      if (count.times === 0) this.#counts.delete(name)
      else found = this.#makeDue(count, at)
    }
    return found
  }

  /** Makes all counts due. */
  release(): void {
    for (const count of this.#counts.values()) this.#due.add(count)
  }

  /** Returns the counts that are due, and resets them. */
  take(): readonly Rejections[] {
    const due = [...this.#due]
    const taken = due.map(({ key, reason, times, at }) => ({ key, reason, times, at }))
    for (const count of due) count.times = 0
    this.#due.clear()
    return taken.filter(({ times }) => times > 0)
  }

  /** Adds counts that could not be written. */
  restore(rejections: readonly Rejections[]): void {
    for (const { key, reason, times } of rejections) {
      const count = this.#counts.get(nameOf(key, reason))
      if (count !== undefined) count.times += times
    }
  }

  #find(key: Rejections['key'], reason: RejectionReason, at: Date): Count {
    const name = nameOf(key, reason)
    const known = this.#counts.get(name)
    if (known !== undefined) return known
    if (this.#counts.size >= this.#capacity) this.#evictOldest()
    const { keyId, user, provider } = key
    const made = { key: { keyId, user, provider }, reason, times: 0, at, since: undefined }
    this.#counts.set(name, made)
    return made
  }

  #evictOldest(): void {
    const [name, oldest] = this.#counts.entries().next().value as [string, Count]
    this.#counts.delete(name)
    this.#due.add(oldest)
  }

  #makeDue(count: Count, at: Date): true {
    count.since = at.getTime()
    this.#due.add(count)
    return true
  }
}

function nameOf({ keyId }: Rejections['key'], reason: RejectionReason): string {
  return `${keyId} ${reason}`
}
