import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

/** How often each fault happens in a simulation: probabilities for each call, and milliseconds. */
export interface FaultRates {
  /** A connection is lost before its call reaches the database, or after it was executed. */
  readonly lostBefore: number
  readonly lostAfter: number
  /** The same after a commit: the process does not know whether it was executed. */
  readonly lostCommit: number
  /** A statement takes up to some seconds. */
  readonly slow: number
  /** The same for the polls of versions: one that is late must not extend what is remembered. */
  readonly slowPolls: number
  /** A transaction is undone as a conflict. */
  readonly conflict: number
  /** The mean time between the crashes of processes, between suspensions, and between failures of the network. */
  readonly crashEvery: number
  readonly freezeEvery: number
  readonly cutEvery: number
  /** The mean time between the steps of a wall clock, which may go back. */
  readonly clockEvery: number
  /** A commit is acknowledged and forgotten: no storage may do this. */
  readonly forgets: number
}

/** Chooses how often each fault happens: some simulations have few kinds of faults, and some have many. */
export function chooseRates(random: Random, forgets: boolean): FaultRates {
  const none = random.chance(0.15) ? 1 : 0.4
  const rate = (most: number): number => (random.chance(none) ? 0 : most * random.next())
  const every = (least: number): number =>
    random.chance(none) ? Infinity : least * (1 + 9 * random.next())
  return {
    lostBefore: rate(0.02),
    lostAfter: rate(0.02),
    lostCommit: rate(0.1),
    slow: rate(0.03),
    slowPolls: rate(0.9),
    conflict: rate(0.1),
    // What a process loses step by step shows only if it lives for long.
    crashEvery: every(random.pick([1_500, 15_000])),
    freezeEvery: every(1_500),
    cutEvery: every(1_500),
    clockEvery: every(random.pick([200, 1_000])),
    forgets: forgets ? 0.01 : 0,
  }
}

/**
 * Names what may be left out of a simulation, faults and the actions of clients, so that a failure can be repeated with a
 * few of them: `crash.2` is the second crash, `ada.7` the seventh action of ada.
 */
export class Choices {
  /** The names of those that have happened, with descriptions. */
  readonly taken = new Map<string, string>()
  /** No more faults happen once this is set. */
  isCalm = false
  readonly #only: ReadonlySet<string> | undefined
  readonly #scheduler: Scheduler
  readonly #counts = new Map<string, number>()

  constructor(scheduler: Scheduler, only: ReadonlySet<string> | undefined) {
    this.#scheduler = scheduler
    this.#only = only
  }

  /** Returns whether something happens that was chosen at random. */
  take(kind: string, what: string): boolean {
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    const name = `${kind}.${count}`
    if (this.#only?.has(name) === false) return false
    this.taken.set(name, what)
    this.#scheduler.note(`${name}: ${what}`)
    return true
  }

  /** Returns whether a fault of a probability happens. */
  fault(random: Random, [kind, probability]: readonly [string, number], what: string): boolean {
    return random.chance(probability) && !this.isCalm && this.take(kind, what)
  }
}
