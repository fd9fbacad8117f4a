import type { MaybePromise } from '../../maybe-promise.ts'
import { runtime, unref, type Timer } from '../../runtime.ts'
import type { Row, StorageTransaction } from '../adapter.ts'
import type { Connection, Connections } from './connection.ts'
import { unavailable } from './failure.ts'
import { StatementSize, type JoinableWrite } from './joinable-write.ts'

// A row that waits for a lock holds up the others of its statement.
const maxRows = 16
// Statements of one shape that run at the same time, but for full ones. More would leave nothing to join.
const maxRunning = 2
// By how many milliseconds they delay a write: they may wait for a lock, or for a network.
const maxDelay = 20

/** A write that waits for a connection. */
export interface WaitingWrite {
  readonly write: JoinableWrite
  /** Writes it in a transaction of its own. */
  readonly alone: (on: StorageTransaction) => MaybePromise<Row | undefined>
  /** Ends it with its complete row. */
  readonly settle: (row: MaybePromise<Row | undefined>) => void
  readonly fail: (error: unknown) => void
  /** When its request ends, on the clock of `performance`. */
  readonly deadline: number | undefined
  /** When it began to wait, on the clock of `performance`. */
  readonly since: number
}

/** How the writes of a {@link WriteLane} run. */
export interface LaneRuns {
  readonly use: Connections['use']
  together(connection: Connection, writes: readonly WaitingWrite[]): Promise<void>
  alone(connection: Connection, write: WaitingWrite): Promise<void>
}

/**
 * The writes of one shape that wait for a connection. It is requested for those that arrive in the same turn of the event loop
 * together, and when it is there, they run in one statement with all others that wait by then.
 */
export class WriteLane {
  readonly #runs: LaneRuns
  readonly #waiting: WaitingWrite[] = []
  /** Those of them for which no connection is requested. */
  #unserved: WaitingWrite[] = []
  #running = 0
  /** Whether several writes may run in one statement. */
  #joins = true
  #isTurnAwaited = false
  #timer: Timer | undefined

  constructor(runs: LaneRuns) {
    this.#runs = runs
  }

  add(write: WaitingWrite): void {
    this.#waiting.push(write)
    this.#unserved.push(write)
    if (!this.#isTurnAwaited) runtime.setImmediate(() => this.#endTurn())
    this.#isTurnAwaited = true
  }

  #endTurn(): void {
    this.#isTurnAwaited = false
    this.#requestMissing()
  }

  #requestMissing(): void {
    while (this.#mayRequest()) void this.#request()
    if (this.#unserved.length > 0) this.#startTimer(maxDelay)
  }

  #mayRequest(): boolean {
    const { length } = this.#unserved
    return length > 0 && (this.#running < maxRunning || length >= maxRows || !this.#joins)
  }

  // Other writes may have run those that it was started for, so it looks at those that wait when it ends.
  #startTimer(milliseconds: number): void {
    if (this.#timer !== undefined) return
    this.#timer = runtime.setTimeout(() => {
      this.#timer = undefined
      const now = runtime.performanceNow()
      const due = ({ since }: WaitingWrite): number => since + maxDelay - now
      while (this.#unserved[0] !== undefined && due(this.#unserved[0]) <= 0) void this.#request()
      if (this.#unserved[0] !== undefined) this.#startTimer(Math.ceil(due(this.#unserved[0])))
    }, milliseconds)
    unref(this.#timer)
  }

  /** Requests a connection for the next writes. If there is none in time, they fail. */
  async #request(): Promise<void> {
    const served = this.#unserved.splice(0, this.#joins ? maxRows : 1)
    this.#running++
    try {
      await this.#runs.use((connection) => this.#runOn(connection, served), lastDeadline(served))
    } catch (error) {
      for (const write of served) if (this.#take(write)) write.fail(error)
    }
    this.#running--
    this.#requestMissing()
  }

  /** Runs writes of those that wait in one statement. Does nothing if they have run with others. */
  async #runOn(connection: Connection, served: readonly WaitingWrite[]): Promise<void> {
    this.#failEnded()
    // On a connection that may change, each write needs a transaction.
    this.#joins = connection.session !== undefined
    const next = served.find((write) => this.#waiting.includes(write)) ?? this.#waiting[0]
    if (next === undefined) return
    const chosen = this.#joins ? togetherWith(next, this.#waiting) : [next]
    for (const write of chosen) this.#take(write)
    const left = served.filter((write) => this.#waiting.includes(write))
    if (left.length > 0) {
      this.#unserved = [...left, ...this.#unserved]
      this.#requestMissing()
    }
    connection.use(lastDeadline(chosen))
    try {
      if (chosen.length === 1) await this.#runs.alone(connection, next)
      else await this.#runs.together(connection, chosen)
    } catch (error) {
      for (const { fail } of chosen) fail(error)
    }
  }

  #failEnded(): void {
    const now = runtime.performanceNow()
    for (const write of this.#waiting.filter(({ deadline = Infinity }) => deadline <= now)) {
      this.#take(write)
      write.fail(unavailable(new Error('the time of the request has ended')))
    }
  }

  /** Returns whether a write still waits, and ends that. */
  #take(write: WaitingWrite): boolean {
    const [index, unserved] = [this.#waiting.indexOf(write), this.#unserved.indexOf(write)]
    if (index >= 0) this.#waiting.splice(index, 1)
    if (unserved >= 0) this.#unserved.splice(unserved, 1)
    return index >= 0
  }
}

/** Returns when the last request of writes ends: the end of one must not be that of the others. Undefined: never. */
function lastDeadline(writes: readonly WaitingWrite[]): number | undefined {
  const last = Math.max(...writes.map(({ deadline = Infinity }) => deadline))
  return last === Infinity ? undefined : last
}

/**
 * Returns a write and the first others of those that wait that have different targets: a power of two, because each number
 * is another statement.
 */
function togetherWith(
  next: WaitingWrite,
  waiting: readonly WaitingWrite[],
): readonly WaitingWrite[] {
  const targets = new Set([targetOf(next)])
  const size = new StatementSize()
  size.add(next.write)
  const chosen = [next]
  // Rows without values can't be one statement.
  const most = next.write.statement.values.length === 0 ? 1 : maxRows
  for (const one of waiting) {
    if (chosen.length >= most) break
    const target = targetOf(one)
    const isRepeated = target !== undefined && targets.has(target)
    if (one === next || isRepeated || !size.accepts(one.write)) continue
    size.add(one.write)
    targets.add(target)
    chosen.push(one)
  }
  const count = 2 ** Math.floor(Math.log2(chosen.length))
  const inOrder = chosen
    .slice(0, count)
    .sort((one, other) => waiting.indexOf(one) - waiting.indexOf(other))
  // Statements of several processes lock their rows in the same order, so that they do not wait for each other.
  return inOrder.sort(byTarget)
}

function byTarget(one: WaitingWrite, other: WaitingWrite): number {
  const [a = '', b = ''] = [targetOf(one), targetOf(other)]
  return a < b ? -1 : a > b ? 1 : 0
}

/** Returns the row that an update changes. Inserts of one key are joined: if their statement fails, the first one wins. */
function targetOf({ write: { kind, target } }: WaitingWrite): string | undefined {
  return kind === 'update' ? target : undefined
}
