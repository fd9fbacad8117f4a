import { AsyncResource } from 'node:async_hooks'
import { replaceRuntime, type ProcessRuntime, type Timer } from '../../src/runtime.ts'
import { hashOf, Random } from './random.ts'

/** What events belong to: a process, the database, or a client. The events of one that is dead do not happen. */
export interface Owner {
  readonly name: string
  readonly random: Random
  isAlive: boolean
  /** The time until which it does nothing: it is suspended. */
  frozenUntil: number
  /** Milliseconds that its wall clock differs from the time of the simulation. */
  clockOffset: number
  /** When its wall clock was changed last. */
  clockChangedAt: number
  /** The number of events that it waits for. */
  pending: number
}

interface Step {
  at: number
  order: number
  readonly owner: Owner
  readonly what: string
  readonly run: () => void
  isDone: boolean
}

/** Creates an owner of events. Its random numbers depend on the seed of the simulation and on its name. */
export function createOwner(seed: string, name: string): Owner {
  const random = new Random(`${seed} ${name}`)
  return {
    name,
    random,
    isAlive: true,
    frozenUntil: 0,
    clockOffset: 0,
    clockChangedAt: 0,
    pending: 0,
  }
}

const start = Date.parse('2026-01-01T00:00:00Z')
const turnsBetweenYields = 2_000

/**
 * Owns the time, and the order in which everything happens. One event is one step: it runs, and so does all code that was
 * waiting for it, before the next one.
 */
export class Scheduler {
  /** Milliseconds since the start of the simulation. */
  time = 0
  /** The number of events that have happened. */
  steps = 0
  /** A hash of all events, with their times and owners. */
  trace = 0
  /** The last events, for reports. */
  readonly recent: string[] = []
  readonly #queue: Step[] = []
  #order = 0
  #current: Owner

  constructor(world: Owner) {
    this.#current = world
  }

  /** Returns the wall clock of a process: milliseconds since 1970. */
  wallClock({ clockOffset }: Owner): number {
    return Math.floor(start + this.time + clockOffset)
  }

  /** Sets the wall clock of a process to a difference from the time of the simulation. */
  setClock(owner: Owner, clockOffset: number): void {
    Object.assign(owner, { clockOffset, clockChangedAt: this.time })
  }

  /** Lets something happen after some milliseconds. */
  after(milliseconds: number, owner: Owner, what: string, run: () => void): Step {
    const at = this.time + Math.max(0, milliseconds)
    const step: Step = { at, order: this.#order++, owner, what, run, isDone: false }
    owner.pending += 1
    this.#push(step)
    return step
  }

  /** Takes an event back. */
  cancel(step: Step): void {
    if (!step.isDone) step.owner.pending -= 1
    step.isDone = true
  }

  /** Adds facts to the trace. */
  note(text: string): void {
    this.trace = hashOf(text, this.trace)
    this.recent.push(`${this.steps} ${this.time.toFixed(2)} ${text}`)
    if (this.recent.length > 20_000) this.recent.splice(0, 10_000)
  }

  /** Runs events until `isOver`, which is called after each of them. May be called again. */
  async run(isOver: () => boolean): Promise<void> {
    replaceRuntime(this.#runtime())
    try {
      await new Promise<void>((resolve, reject) => {
        const turn = (): void => {
          try {
            if (isOver() || !this.#step()) {
              resolve()
              return
            }
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)))
            return
          }
          // All code that was waiting runs before a callback of process.nextTick that a microtask has added.
          if (this.steps % turnsBetweenYields === 0) setImmediate(turn)
          else queueMicrotask(() => process.nextTick(turn))
        }
        setImmediate(turn)
      })
    } finally {
      replaceRuntime()
    }
  }

  #step(): boolean {
    for (;;) {
      const step = this.#pop()
      if (step === undefined) return false
      if (step.isDone) continue
      const { owner } = step
      if (owner.isAlive && owner.frozenUntil > step.at) {
        step.at = owner.frozenUntil
        this.#push(step)
        continue
      }
      step.isDone = true
      owner.pending -= 1
      if (!owner.isAlive) continue
      this.time = step.at
      this.steps += 1
      this.note(`${owner.name} ${step.what}`)
      this.#current = owner
      step.run()
      return true
    }
  }

  /** Returns the runtime of whichever owner runs. */
  #runtime(): ProcessRuntime {
    const timer = (milliseconds: number, what: string, callback: () => void): SimulatedTimer => {
      const resource = new AsyncResource(what)
      const run = (): void => {
        resource.runInAsyncScope(callback)
      }
      return new SimulatedTimer(this, this.#current, { what, run, milliseconds })
    }
    const clear = (given: Timer | undefined): void => {
      if (given instanceof SimulatedTimer) given.clear()
    }
    const random = (): Random => this.#current.random
    return {
      dateNow: () => this.wallClock(this.#current),
      performanceNow: () => this.time,
      setTimeout: (callback, milliseconds = 1) =>
        timer(Math.max(1, milliseconds), 'timeout', callback),
      clearTimeout: clear,
      setInterval: (callback, milliseconds) => {
        const interval = timer(milliseconds, 'interval', () => {
          interval.refresh()
          callback()
        })
        return interval
      },
      clearInterval: clear,
      setImmediate: (callback) => void timer(0, 'immediate', callback),
      random: () => random().next(),
      randomUUID: () => {
        const hex = randomBytesOf(random(), 16).toString('hex')
        return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
      },
      randomBytes: (length) => randomBytesOf(random(), length),
    }
  }

  #push(step: Step): void {
    const queue = this.#queue
    let index = queue.length
    queue.push(step)
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!isBefore(step, queue[parent] as Step)) break
      queue[index] = queue[parent] as Step
      index = parent
    }
    queue[index] = step
  }

  #pop(): Step | undefined {
    const queue = this.#queue
    const first = queue[0]
    const last = queue.pop()
    if (last === undefined || queue.length === 0) return first
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= queue.length) break
      if (child + 1 < queue.length && isBefore(queue[child + 1] as Step, queue[child] as Step))
        child += 1
      if (!isBefore(queue[child] as Step, last)) break
      queue[index] = queue[child] as Step
      index = child
    }
    queue[index] = last
    return first
  }
}

function isBefore(one: Step, other: Step): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}

function randomBytesOf(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.below(256)))
}

interface Timed {
  readonly what: string
  readonly run: () => void
  readonly milliseconds: number
}

class SimulatedTimer {
  readonly #scheduler: Scheduler
  readonly #owner: Owner
  readonly #given: Timed
  #step: Step

  constructor(scheduler: Scheduler, owner: Owner, given: Timed) {
    this.#scheduler = scheduler
    this.#owner = owner
    this.#given = given
    this.#step = this.#schedule()
  }

  refresh(): void {
    this.clear()
    this.#step = this.#schedule()
  }

  clear(): void {
    this.#scheduler.cancel(this.#step)
  }

  #schedule(): Step {
    const { milliseconds, what, run } = this.#given
    return this.#scheduler.after(milliseconds, this.#owner, what, run)
  }
}
