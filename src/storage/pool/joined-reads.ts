import { runtime, type Timer } from '../../runtime.ts'
import { isStorageError } from '../adapter.ts'
import type { BoundStatement, Connection, Connections, TextRow } from './connection.ts'
import { joinedStatement, partsOf, type Read } from './reads.ts'
import type { BoundValue, Sql } from '../sql/fragments.ts'

/** How a read outside of transactions gets its connection. */
export interface ReadRoute {
  readonly use: Connections['use']
  /**
   * Returns how many writes the reads that begin to wait now must show. Default: the server shows every write that has
   * ended before a statement is sent.
   */
  readonly writes?: () => number
}

/** What {@link JoinedReads} need. */
export interface JoiningReads {
  /** Runs work with a connection of a route. The work may run twice. */
  readonly run: <Value>(
    route: ReadRoute,
    work: (connection: Connection) => Promise<Value>,
    deadline: number | undefined,
  ) => Promise<Value>
  /**
   * Returns one statement for several that differ in their values, see {@link Dialect.joined}.
   */
  readonly join: (statements: readonly BoundStatement[]) => BoundStatement
  /** Milliseconds after which no more reads join one that still waits: it may be given up soon. */
  readonly maxWait: number
}

/** The most reads in one statement. */
const maxReads = 16
// Statements of one shape that run at the same time. More would leave nothing to join.
const maxRunning = 4
// By how much other reads may delay one: by half of its time, and by so many milliseconds.
const maxDelay = 5
// After how many reads alone joining is tried again at most, if it has delayed them.
const maxPatience = 64
// After so many joined statements that have failed although each read alone succeeds, the shape is not joined again.
const maxDoubts = 3

/**
 * Reads outside of transactions. Equal reads that wait are run once, and those that differ only in their values are one
 * statement, in which each keeps its own values. While few statements of its shape run, a read waits only for those that arrive
 * in the same turn of the event loop. It is sent after it has arrived, so that it shows every write that had ended then.
 */
export class JoinedReads<Result> {
  readonly #options: JoiningReads
  // Statements of one shape have the same object.
  readonly #lanes = new WeakMap<Sql, Lane<Result>>()

  constructor(options: JoiningReads) {
    this.#options = options
  }

  /** Runs a read, alone or with others. `deadline` is when its request ends, on the clock of `performance`. */
  read(route: ReadRoute, read: Read<Result>, deadline?: number): Promise<Result> {
    const { sql } = read.statement
    let lane = this.#lanes.get(sql)
    if (lane === undefined) {
      lane = new Lane(this.#options)
      this.#lanes.set(sql, lane)
    }
    return lane.read(route, read, deadline)
  }
}

/** The reads of one shape. */
class Lane<Result> {
  readonly #options: JoiningReads
  /** Reads that have not been sent, and that others may join. */
  #open: Batch<Result> | undefined
  readonly #queue: Batch<Result>[] = []
  #isTurnAwaited = false
  #running = 0
  /** How many reads may be one statement at the moment. */
  #limit = maxRunning
  /** When the limit was last changed, on the clock of `performance`. */
  #limitedAt = 0
  /** The usual milliseconds of a statement of one read, on the server and until this process goes on with it. */
  #usual = 0
  /** About how many milliseconds a turn of the event loop takes. */
  #turn = 0
  /** After how many more reads alone joining is tried again, and after how many it was tried the last time. */
  #alone = 0
  #patience = 1
  #doubts = 0

  constructor(options: JoiningReads) {
    this.#options = options
  }

  read(route: ReadRoute, read: Read<Result>, deadline: number | undefined): Promise<Result> {
    const key = keyOf(read.statement.values)
    const writes = route.writes?.() ?? 0
    const since = runtime.performanceNow()
    const open = this.#open
    const isJoinable = this.#limit > 1
    const isSame = open?.route === route && open.writes === writes && this.#endsWith(open, deadline)
    if (isSame && since - open.since <= this.#options.maxWait) {
      const equal = open.reads.get(key)
      if (equal !== undefined) return equal.result
      if (isJoinable && open.reads.size < this.#limit) return open.add(key, read, deadline)
    }
    const batch = new Batch<Result>({ route, writes, since, deadline })
    const result = batch.add(key, read, deadline)
    this.#open = batch
    if (!isJoinable) void this.#send(batch)
    else {
      this.#queue.push(batch)
      if (!this.#isTurnAwaited) runtime.setImmediate(() => this.#sendTurn(since))
      this.#isTurnAwaited = true
    }
    return result
  }

  /** Returns whether a read must end at about the same time as those of a batch. */
  #endsWith({ deadline }: Batch<Result>, other: number | undefined): boolean {
    return deadline === other || Math.abs(Number(deadline) - Number(other)) <= this.#options.maxWait
  }

  /** Sends the reads that have arrived in this turn of the event loop. Others wait until a statement of their shape has ended. */
  #sendTurn(since: number): void {
    this.#isTurnAwaited = false
    this.#turn = Math.max(runtime.performanceNow() - since, this.#turn * 0.9)
    while (this.#running < maxRunning && this.#queue.length > 0) this.#sendNext()
    for (const batch of this.#queue) batch.timer ??= this.#timerOf(batch)
  }

  /** Returns a timer after which a batch waits no longer. */
  #timerOf(batch: Batch<Result>): Timer {
    return runtime.setTimeout(() => {
      this.#queue.splice(this.#queue.indexOf(batch), 1)
      void this.#send(batch)
    }, this.#options.maxWait)
  }

  #sendNext(): void {
    const next = this.#queue.shift()
    if (next === undefined) return
    runtime.clearTimeout(next.timer)
    void this.#send(next)
  }

  async #send(batch: Batch<Result>): Promise<void> {
    const { join, run } = this.#options
    let statement: BoundStatement | undefined
    let began = 0
    this.#running++
    try {
      const rows = await run(
        batch.route,
        (connection) => {
          if (this.#open === batch) this.#open = undefined
          began = runtime.performanceNow()
          statement ??= batch.statement(join)
          return connection.rows(statement)
        },
        batch.deadline,
      )
      this.#learn(batch.reads.size, began)
      batch.settle(rows)
    } catch (error) {
      if (this.#open === batch) this.#open = undefined
      if (statement === undefined || batch.reads.size === 1) batch.fail(error)
      else void this.#sendEach(batch, error)
    }
    this.#running--
    this.#sendNext()
  }

  /** Sends the reads of a failed statement one by one: only one of them may be at fault. */
  async #sendEach(batch: Batch<Result>, error: unknown): Promise<void> {
    const { route, writes, since } = batch
    const alone = [...batch.reads].map(([key, read]) => {
      const own = new Batch<Result>({ route, writes, since, deadline: read.deadline })
      own.reads.set(key, read)
      void this.#send(own)
      return read.result
    })
    const outcomes = await Promise.allSettled(alone)
    // A lost connection, or a conflict, says nothing about the statement.
    const isDoubtful = !isStorageError(error) || error.kind !== 'unavailable'
    if (isDoubtful && outcomes.every(({ status }) => status === 'fulfilled')) this.#doubts++
    if (this.#doubts >= maxDoubts) this.#limit = 1
  }

  /**
   * Notes how long a statement has taken. Cheap reads wait for the network and for this process, and more of them take no
   * longer; reads that are work for the server take longer together than on several connections.
   */
  #learn(reads: number, began: number): void {
    if (this.#doubts >= maxDoubts) return
    const now = runtime.performanceNow()
    const time = now - began
    if (reads === 1 || this.#usual === 0) {
      this.#usual = this.#usual === 0 ? time : this.#usual * 0.8 + time * 0.2
      if (this.#limit === 1 && --this.#alone <= 0) this.#setLimit(2, now)
      // What was slow for one statement was so for those that ran beside it.
    } else if (began < this.#limitedAt) return
    // A response may wait for the turn in which it arrives, and for the next one.
    else if (time > this.#usual * 1.5 + 2 * this.#turn + maxDelay) {
      this.#setLimit(Math.max(1, Math.floor(this.#limit / 2)), now)
      if (this.#limit > 1) return
      this.#alone = this.#patience
      this.#patience = Math.min(maxPatience, this.#patience * 2)
    } else if (reads === this.#limit && reads < maxReads) {
      this.#setLimit(this.#limit * 2, now)
      if (this.#limit === maxReads) this.#patience = 1
    }
  }

  #setLimit(limit: number, now: number): void {
    this.#limit = limit
    this.#limitedAt = now
  }
}

/** A read that waits for its rows. */
interface WaitingRead<Result> {
  readonly read: Read<Result>
  /** When its request ends. */
  readonly deadline: number | undefined
  readonly result: Promise<Result>
  resolve(result: Result): void
  reject(error: unknown): void
}

interface BatchOptions {
  readonly route: ReadRoute
  readonly writes: number
  /** When its first read arrived, and when the request of this one ends, on the clock of `performance`. */
  readonly since: number
  readonly deadline: number | undefined
}

/** Reads of one statement. */
class Batch<Result> implements BatchOptions {
  readonly route: ReadRoute
  readonly writes: number
  readonly since: number
  readonly deadline: number | undefined
  readonly reads = new Map<string, WaitingRead<Result>>()
  timer: Timer | undefined

  constructor({ route, writes, since, deadline }: BatchOptions) {
    this.route = route
    this.writes = writes
    this.since = since
    this.deadline = deadline
  }

  add(key: string, read: Read<Result>, deadline: number | undefined): Promise<Result> {
    let settle: Pick<WaitingRead<Result>, 'resolve' | 'reject'> | undefined
    const result = new Promise<Result>((resolve, reject) => {
      settle = { resolve, reject }
    })
    const { resolve, reject } = settle as NonNullable<typeof settle>
    this.reads.set(key, { read, deadline, result, resolve, reject })
    return result
  }

  /** Returns the statement of the reads. */
  statement(join: JoiningReads['join']): BoundStatement {
    return joinedStatement(
      [...this.reads.values()].map(({ read }) => read),
      join,
    )
  }

  /** Gives each read its rows. */
  settle(rows: readonly TextRow[]): void {
    const all = [...this.reads.values()]
    const { parts, before } = partsOf(all, rows)
    for (const [index, { read, resolve, reject }] of all.entries()) {
      try {
        resolve(read.page(parts[index] ?? [], before))
      } catch (error) {
        reject(error)
      }
    }
  }

  fail(error: unknown): void {
    for (const { reject } of this.reads.values()) reject(error)
  }
}

/** Returns a string that is the same for the same values only. */
function keyOf(values: readonly BoundValue[]): string {
  let key = ''
  for (const value of values) {
    const text = String(value)
    key += `${typeof value} ${text.length} ${text}`
  }
  return key
}
