import { whenDone, type MaybePromise } from '../../maybe-promise.ts'
import { asTransaction } from '../../observation/open-transaction.ts'
import type { StorageTransaction, TransactionOptions } from '../../storage/adapter.ts'
import { Budget } from './budget.ts'
import { Contention, type ContentionOptions } from './contention.ts'
import { Rollback } from '../guard.ts'
import type { Runtime } from '../runtime.ts'
import type { StorageCalls } from './storage-calls.ts'

/** The deepest nesting of events that handlers invoke. */
const maxDepth = 16

/** How a unit of work begins and ends. */
export interface UnitOptions<Result>
  extends Pick<TransactionOptions, 'mode' | 'brief' | 'oneWrite'>, ContentionOptions {
  /** Whether it has no transaction, because functions serve the collection of its event. Default false. */
  readonly isServed?: boolean
  /** Returns the result of work that threw a {@link Rollback}; its transaction was rolled back. */
  readonly undone: (rollback: Rollback) => Result
  /**
   * Called if the work has ended and the commit fails, for instance because of a deferred constraint. Undefined: the
   * unit fails with the error.
   */
  readonly rejectedAtCommit?: (error: unknown) => Result | undefined
}

/**
 * Runs work of the library around that of an event, in the transaction of its unit: before it, and after it with its result,
 * before the commit. Returns the result. If it throws, the transaction is rolled back, and nothing of it is a rejected save.
 * It MUST NOT change anything else, because a unit is repeated after a conflict.
 */
export type Surround = <Result>(
  transaction: StorageTransaction,
  work: () => MaybePromise<Result>,
) => MaybePromise<Result>

/** What a unit of work has done so far. */
interface Log {
  /** Whether it has a transaction that writes. */
  isWriting: boolean
  /** Whether its work has ended, so that only the commit can fail. */
  hasEnded: boolean
  failure: { readonly error: unknown } | undefined
  hasCalledCode: boolean
  hasTimedOut: boolean
  readonly committed: (() => void)[]
}

/**
 * A unit of work: what an event and the events that its code invokes do in one transaction. All of it is kept, or none.
 * An event runs in the unit in progress, or begins its own with {@link Unit.run}.
 */
export class Unit {
  readonly runtime: Runtime
  /**
   * Undefined outside of a transaction, and for an event of a served collection: each event that its code invokes is a
   * unit of its own.
   */
  readonly transaction: StorageTransaction | undefined
  /** How many events are nested in each other. */
  readonly depth: number
  /** The time of the request. */
  readonly budget: Budget
  readonly #log: Log
  /** The unit around it, which also counts the writes of this one. */
  readonly #around: Unit | undefined
  #writes = 0
  #isOutermost = false
  #surround: Surround | undefined
  #onWriting: (() => void) | undefined

  private constructor(
    {
      runtime,
      transaction,
      depth,
      budget,
    }: Pick<Unit, 'runtime' | 'transaction' | 'depth' | 'budget'>,
    log: Log,
    around?: Unit,
  ) {
    this.runtime = runtime
    this.transaction = transaction
    this.depth = depth
    this.budget = budget
    this.#log = log
    this.#around = around
  }

  /**
   * Returns the unit in which an event runs that no other event has invoked. `surround` runs in the transaction of that event, but in
   * none that its `prepare` begins. `budget` is the time of its request. Default: one that begins now.
   */
  static outside(
    runtime: Runtime,
    surround?: Surround,
    budget = new Budget(runtime.requestTimeout),
  ): Unit {
    const unit = new Unit({ runtime, transaction: undefined, depth: 0, budget }, emptyLog())
    unit.#isOutermost = true
    unit.#surround = surround
    return unit
  }

  /** Whether its event was not invoked by another event. */
  get isOutermost(): boolean {
    return this.#isOutermost
  }

  /**
   * Runs work as a unit of its own. A transaction that conflicts with another one is repeated, unless application code
   * was called that must not run twice.
   */
  async run<Result>(
    options: UnitOptions<Result>,
    work: (unit: Unit) => MaybePromise<Result>,
  ): Promise<Result> {
    const contention = new Contention(this.runtime, options, this.budget)
    const isOneWrite = this.#isOneWrite(options)
    try {
      for (;;) {
        const log = emptyLog()
        const attempt = (transaction?: StorageTransaction): MaybePromise<Result> => {
          const { runtime, depth, budget } = this
          const unit = new Unit({ runtime, transaction, depth, budget }, log)
          log.isWriting = transaction !== undefined && options.mode === 'write'
          // Storage, or the code before, may have taken longer than the client waits.
          budget.requireLeft()
          const own = (): MaybePromise<Result> =>
            whenDone(work(unit), (result) => {
              if (log.failure !== undefined) throw log.failure.error
              // The client may have been told that storage is late. One write may be committed already.
              if (log.isWriting && !isOneWrite) budget.requireLeft()
              return result
            })
          const surround = this.#surround
          const isPlain = surround === undefined || transaction === undefined
          return whenDone(isPlain ? own() : surround(transaction, own), (result) => {
            log.hasEnded = true
            return result
          })
        }
        let result: Result
        try {
          const isServed = options.isServed === true
          result = await (isServed ? attempt() : this.#begin(options, contention, attempt))
        } catch (error) {
          if (error instanceof Rollback) return options.undone(error)
          const rejected = log.hasEnded ? options.rejectedAtCommit?.(error) : undefined
          if (rejected !== undefined) return rejected
          // Code that has not ended in time may still run, beside a repetition.
          const conflict = log.hasTimedOut
            ? undefined
            : contention.conflictOf(error, log.hasCalledCode)
          if (conflict === undefined) throw error
          await contention.pause(conflict, log.hasCalledCode).catch(() => {
            throw error
          })
          continue
        }
        for (const announce of log.committed) announce()
        return result
      }
    } finally {
      contention.leave()
    }
  }

  // What surrounds the work writes as well.
  #isOneWrite({ oneWrite }: Pick<TransactionOptions, 'oneWrite'>): boolean {
    return oneWrite === true && this.#surround === undefined
  }

  #begin<Result>(
    given: UnitOptions<Result>,
    contention: Contention,
    attempt: (transaction: StorageTransaction) => MaybePromise<Result>,
  ): Promise<Result> {
    const { mode, brief } = given
    const { deadline } = this.budget
    const oneWrite = this.#isOneWrite(given)
    const options = { mode, brief, deadline, ...(oneWrite && { oneWrite }) }
    const work = contention.attempt(attempt)
    this.budget.requireLeft()
    const begin = (): Promise<Result> =>
      this.runtime.adapter.transaction(options, mode === 'write' ? asTransaction(work) : work)
    return contention.enter()?.then(begin) ?? begin()
  }

  /** Returns this unit for an event in it. Throws a TypeError if events are nested too deeply. */
  nested(): Unit {
    if (this.depth >= maxDepth) throw new TypeError('Handlers invoke events without end.')
    return this.#inner(this.depth + 1)
  }

  /** Returns this unit for a part of it, whose writes are also counted on their own. */
  part(): Unit {
    return this.#inner(this.depth)
  }

  #inner(depth: number): Unit {
    const { runtime, transaction, budget } = this
    return new Unit({ runtime, transaction, depth, budget }, this.#log, this)
  }

  /** Returns this unit for one event, which calls a function when it waits for its own write. */
  untilWriting(call: (() => void) | undefined): Unit {
    if (call === undefined) return this
    const unit = this.part()
    unit.#onWriting = call
    return unit
  }

  /** Called while the event in it waits for its own write, not for those of its handlers. */
  isWaitingForWrite(): void {
    const around = this.#around
    if (around !== undefined) around.#onWriting?.()
  }

  /**
   * Returns the unit of code that runs before the transaction of an event. Without a transaction around it, the code
   * writes nothing that could be rolled back, so that its failures do not concern this unit.
   */
  preparing(): Unit {
    const inner = this.nested()
    return inner.transaction === undefined ? new Unit(inner, emptyLog()) : inner
  }

  /** Returns this unit with its calls of storage counted while they are in progress. */
  countedBy(calls: StorageCalls): Unit {
    const runtime = { ...this.runtime, adapter: calls.adapter(this.runtime.adapter) }
    const transaction = this.transaction && calls.transaction(this.transaction)
    const { depth, budget } = this
    return new Unit({ runtime, transaction, depth, budget }, this.#log, this)
  }

  /** Returns the transaction. Throws an Error if there is none. */
  requireTransaction(): StorageTransaction {
    if (this.transaction === undefined) throw new Error('The event runs without a transaction.')
    return this.transaction
  }

  /** Whether it is part of a transaction that writes. */
  get isWriting(): boolean {
    return this.#log.isWriting
  }

  /** How many rows were written in it, also by events that its code has invoked. */
  get writes(): number {
    return this.#writes
  }

  /** Counts rows that were written, here and in the units around it. */
  wrote(rows = 1): void {
    this.#writes += rows
    this.#around?.wrote(rows)
  }

  /** Makes the unit fail even if application code catches the error, because its writes must be rolled back. */
  fail(error: unknown): void {
    this.#log.failure ??= { error }
  }

  /** Called before application code, after which the unit is not repeated. */
  callsCode(): void {
    this.#log.hasCalledCode = true
  }

  /** Called if application code has not ended in time, so that it may still run. */
  timedOut(): void {
    this.#log.hasTimedOut = true
  }

  /** Calls a function after the commit, or the end of a unit without a transaction. It MUST NOT throw. */
  onCommit(announce: () => void): void {
    this.#log.committed.push(announce)
  }
}

function emptyLog(): Log {
  return {
    isWriting: false,
    hasEnded: false,
    failure: undefined,
    hasCalledCode: false,
    hasTimedOut: false,
    committed: [],
  }
}
