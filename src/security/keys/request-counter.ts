import { isRecent } from './rejection-counter.ts'

/** How many requests a key had on a day since they were last written. */
export interface RequestCount {
  /** The identifier of the key; {@link allKeys} for the sum. */
  readonly keyId: string
  /** A day of UTC. */
  readonly day: string
  readonly requests: number
}

/** Stands for the sum of all keys. */
export const allKeys = 'all'

interface Day {
  readonly day: string
  readonly byKey: Map<string, number>
  sum: number
}

const dayLength = 86_400_000

// Counts that can't be written for longer are dropped.
const maxDays = 2

/** Counts the requests of keys by day, so that they are written at most once a minute. */
export class RequestCounter {
  readonly #capacity: number
  #days: readonly Day[] = []
  /** The day of the latest request, and its number since 1970. */
  #current: Day | undefined
  #number: number | undefined
  /** The time of the first request that was not written. */
  #since: number | undefined
  #written: number | undefined

  /** `capacity` is the maximum number of keys in a minute. The requests of further ones are only in the sum. */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Counts a request. */
  count(keyId: string, at: Date): void {
    const time = at.getTime()
    const number = Math.floor(time / dayLength)
    if (this.#current === undefined || number !== this.#number) {
      this.#number = number
      this.#current = this.#dayOf(at.toISOString().slice(0, 10))
    }
    this.#since ??= time
    this.#current.sum += 1
    this.#add(this.#current, keyId, 1)
  }

  /** Returns whether counts can be written together with something else: at most once a minute. */
  isPending(at: Date): boolean {
    return this.#since !== undefined && !isRecent(this.#written, at)
  }

  /** Returns whether counts have waited for a minute. */
  isDue(at: Date): boolean {
    return this.isPending(at) && !isRecent(this.#since, at)
  }

  /** Returns the counts, and resets them. */
  take(at: Date): readonly RequestCount[] {
    const taken = this.#days
    this.#days = []
    this.#current = undefined
    this.#since = undefined
    this.#written = at.getTime()
    return taken.flatMap(({ day, byKey, sum }) => [
      ...Array.from(byKey, ([keyId, requests]) => ({ keyId, day, requests })),
      { keyId: allKeys, day, requests: sum },
    ])
  }

  /** Adds counts that could not be written. */
  restore(counts: readonly RequestCount[], at: Date): void {
    for (const { keyId, day, requests } of counts) {
      const found = this.#dayOf(day)
      if (keyId === allKeys) found.sum += requests
      else this.#add(found, keyId, requests)
      this.#since ??= at.getTime()
    }
  }

  #dayOf(day: string): Day {
    const known = this.#days.find((one) => one.day === day)
    if (known !== undefined) return known
    const made = { day, byKey: new Map<string, number>(), sum: 0 }
    this.#days = [...this.#days, made].toSorted(byDay).slice(-maxDays)
    return made
  }

  #add({ byKey }: Day, keyId: string, requests: number): void {
    const before = byKey.get(keyId)
    if (before === undefined && byKey.size >= this.#capacity) return
    byKey.set(keyId, (before ?? 0) + requests)
  }
}

function byDay(left: Day, right: Day): number {
  return left.day < right.day ? -1 : 1
}
