import { StorageError } from '../../src/storage/adapter.ts'
import type { Database } from './database.ts'
import type { Choices, FaultRates } from './faults.ts'
import type { Random } from './random.ts'
import type { Owner, Scheduler } from './scheduler.ts'
import { Waits, type Session } from './session.ts'
import { Violation } from './violation.ts'

/** What the connections of a process are made of. */
export interface LinkDependencies {
  readonly scheduler: Scheduler
  readonly choices: Choices
  readonly rates: FaultRates
  readonly database: Database
  /** The process of the database. */
  readonly server: Owner
  readonly process: Owner
}

const callTimeout = 10_000
const lockTimeout = 2_000
const lossNoticedAfter = 30

/**
 * The connections of a process to the database. A call takes time, and may be lost before it is executed or after it.
 */
export class Link {
  readonly #on: LinkDependencies
  /** The time until which the network delivers nothing. */
  cutUntil = 0
  /** The time until which other processes may not hear of this one in time. */
  troubledUntil = 0
  /** The calls that were made after `close`. */
  readonly callsAfterClose: string[] = []
  isClosed = false

  constructor(dependencies: LinkDependencies) {
    this.#on = dependencies
  }

  get time(): number {
    return this.#on.scheduler.time
  }

  get random(): Random {
    return this.#on.server.random
  }

  /** Rejects a call of a storage that is closed. */
  requireOpen(what: string): void {
    if (!this.isClosed) return
    this.callsAfterClose.push(what)
    throw new StorageError('unavailable', { message: 'the storage is closed' })
  }

  /** Ends the simulation with a broken promise that was found in code of the service. */
  breaks(violation: Violation): void {
    const { scheduler, server } = this.#on
    scheduler.after(0, server, 'breaks a promise', () => {
      throw violation
    })
  }

  close(): void {
    this.isClosed = true
  }

  /** Executes work at the database, in a transaction or alone. */
  call<Result>(what: string, work: () => Result, session?: Session): Promise<Result> {
    if (this.isClosed) this.callsAfterClose.push(what)
    const { scheduler, server, process } = this.#on
    return new Promise<Result>((resolve, reject) => {
      const answer = (settle: () => void, way = this.#latency()): void => {
        scheduler.after(way, process, `has ${what}`, settle)
      }
      const lose = (isExecuted: boolean): void => {
        // A connection that is lost delivers no further statements, although the server keeps its rows locked for longer.
        session?.fail()
        scheduler.after(lossNoticedAfter, server, 'notices a loss', () => session?.rollback())
        const text = isExecuted ? 'lost after it' : 'lost before it'
        const error = new StorageError('unavailable', { message: `${what}: ${text}` })
        // While the network is cut, nothing arrives, not even that a connection is lost.
        const cut = Math.min(callTimeout, Math.max(0, this.cutUntil - this.time))
        answer(() => reject(error), 5 + cut + this.#latency())
      }
      if (this.#isLost('lostBefore', what)) {
        lose(false)
        return
      }
      const { random } = server
      const { choices, rates } = this.#on
      const slow = what === 'poll' ? rates.slowPolls : rates.slow
      const wait = choices.fault(random, ['slow', slow], what)
        ? random.pick([500, 8_000]) * random.next()
        : 0
      const isSlowBefore = random.chance(0.5)
      this.#isTroubledFor(wait)
      const execute = (): void => {
        // What a crashed process has sent may be lost with it.
        if (!process.isAlive && random.chance(0.5)) return
        this.#execute(what, session, work, {
          done: (result) => {
            if (this.#isLost(what === 'commit' ? 'lostCommit' : 'lostAfter', what)) lose(true)
            else answer(() => resolve(result), (isSlowBefore ? 0 : wait) + this.#latency())
          },
          failed: (error) => answer(() => reject(error)),
        })
      }
      scheduler.after(
        (isSlowBefore ? wait : 0) + this.#latency(),
        server,
        `executes ${what} of ${process.name}`,
        execute,
      )
    })
  }

  /** Commits a transaction, unless the storage forgets it. */
  commit(session: Session): void {
    const { choices, rates, server } = this.#on
    const isForgotten = choices.fault(server.random, ['forgets', rates.forgets], 'a commit')
    if (isForgotten) session.rollback()
    else session.commit(this.time)
  }

  /** Rolls a transaction back, without waiting. */
  abandon(session: Session): void {
    const { scheduler, server } = this.#on
    scheduler.after(this.#latency(), server, 'rolls back', () => session.rollback())
  }

  /** Ends the transactions of the process, which has crashed. */
  crashed(): void {
    const { scheduler, server, database } = this.#on
    scheduler.after(
      lossNoticedAfter + 500 * server.random.next(),
      server,
      'notices a crash',
      () => {
        for (const session of [...database.sessions])
          if (session.process === this) session.rollback()
      },
    )
  }

  #execute<Result>(
    what: string,
    session: Session | undefined,
    work: () => Result,
    { done, failed }: { done: (result: Result) => void; failed: (error: Error) => void },
  ): void {
    const { scheduler, server, choices, rates } = this.#on
    const state = { isOver: false }
    const attempt = (): void => {
      if (state.isOver) return
      try {
        if (
          session !== undefined &&
          choices.fault(server.random, ['conflict', rates.conflict], what)
        ) {
          session.fail()
          throw new StorageError('unavailable', { message: 'a conflict', isConflict: true })
        }
        const result = work()
        state.isOver = true
        done(result)
      } catch (error) {
        if (error instanceof Violation) throw error
        if (error instanceof Waits) return
        state.isOver = true
        failed(error as Error)
      }
    }
    if (session !== undefined) {
      session.retry = () => void scheduler.after(0, server, 'a row is free', attempt)
    }
    attempt()
    if (state.isOver) return
    scheduler.after(lockTimeout, server, 'a row is locked for too long', () => {
      if (state.isOver) return
      state.isOver = true
      session?.fail()
      const message = 'a row is locked for too long'
      failed(new StorageError('unavailable', { message, isConflict: true, isLocked: true }))
    })
  }

  #isLost(kind: 'lostBefore' | 'lostAfter' | 'lostCommit', what: string): boolean {
    const { scheduler, server, choices, rates } = this.#on
    const isLost =
      this.cutUntil > scheduler.time || choices.fault(server.random, [kind, rates[kind]], what)
    if (isLost) this.#isTroubledFor(1_000)
    return isLost
  }

  #isTroubledFor(milliseconds: number): void {
    if (milliseconds === 0) return
    const until = this.#on.scheduler.time + milliseconds
    this.troubledUntil = Math.max(this.troubledUntil, until)
  }

  #latency(): number {
    const { random } = this.#on.server
    return 0.1 + 4 * random.next() ** 4 * (random.chance(0.05) ? 10 : 1)
  }
}
