import type { PublishedCollection } from '../../definition/published.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { runtime } from '../../runtime.ts'
import type { Condition, Row, StorageTransaction } from '../adapter.ts'
import type { Connection, Connections } from './connection.ts'
import type { Tables } from '../sql/dialect.ts'
import { storageFailure, type FailureKind } from './failure.ts'
import type { Sql } from '../sql/fragments.ts'
import { joinableInsert, joinableUpdate, runTogether } from './joinable-write.ts'
import type { ChangingTables, JoinableWrite, JoinPlace } from './joinable-write.ts'
import { PoolTransaction } from './transaction.ts'

// A row that waits for a lock holds up the others of its statement.
const maxRows = 16
// The protocol counts parameters with 16 bits.
const maxValues = 65_535

interface WaitingWrite {
  readonly write: JoinableWrite
  /** Writes it in a transaction of its own. */
  readonly alone: (on: StorageTransaction) => MaybePromise<Row | undefined>
  /** Ends it with its complete row. */
  readonly settle: (row: Promise<Row | undefined>) => void
  readonly fail: (error: unknown) => void
  /** When its request ends, on the clock of `performance`. */
  readonly deadline: number | undefined
}

/** Runs a write, of a request that ends at a time on the clock of `performance`. */
export type RunWrite<Result> = (deadline: number | undefined) => Promise<Result>

/** What {@link JoinedWrites} need. */
export interface Joining {
  readonly use: Connections['use']
  readonly tablesNow: () => Tables
  readonly changing: ChangingTables
  /** Returns a transaction that rejects stored rows that do not fit. */
  readonly checked: (transaction: StorageTransaction) => StorageTransaction
}

/** The errors of which a row of a joined statement is the reason, or another transaction. */
const rowFaults: readonly (FailureKind | undefined)[] = [
  'duplicate',
  'foreignKey',
  'conflict',
  'locked',
  'unavailable',
  'forbidden',
]
const allTables: Pick<ChangingTables, 'has'> = { has: () => true }

/**
 * Inserts and updates of which each is a transaction of its own, and that wait for a connection together. Those that differ
 * only in their values run in one statement. If it fails, it has written no row, and each write runs alone. An insert fails on
 * any doubt about a row, see {@link Writes.joined}.
 */
export class JoinedWrites {
  readonly #options: Joining
  // Statements of one shape have the same object.
  readonly #queues = new WeakMap<Sql, WaitingWrite[]>()

  constructor(options: Joining) {
    this.#options = options
  }

  /**
   * Returns a function that inserts a row and returns it complete. Undefined if it can't be inserted in one statement with
   * others.
   */
  insert(collection: PublishedCollection, row: Row): RunWrite<Row> | undefined {
    const create = joinableInsert(this.#place(), collection, row)
    if (create === undefined) return undefined
    return this.#write(create, (on) => on.insert(collection, row)) as RunWrite<Row>
  }

  /**
   * Returns a function that changes the row that meets conditions and returns it complete, or undefined if there is none.
   * Undefined if it can't be changed in one statement with others.
   */
  update(
    collection: PublishedCollection,
    conditions: readonly Condition[],
    changes: Row,
    increments?: Readonly<Record<string, string>>,
  ): RunWrite<Row | undefined> | undefined {
    const update = { collection, conditions, changes, increments }
    const create = joinableUpdate(this.#place(), update)
    if (create === undefined) return undefined
    return this.#write(create, (on) => on.update(collection, conditions, changes, increments))
  }

  #place(): JoinPlace {
    const { tablesNow, changing } = this.#options
    return { tables: tablesNow(), changing }
  }

  #write(create: () => JoinableWrite, alone: WaitingWrite['alone']): RunWrite<Row | undefined> {
    return async (deadline) => this.#run({ write: create(), alone, deadline })
  }

  #run({
    write,
    alone,
    deadline,
  }: Pick<WaitingWrite, 'write' | 'alone' | 'deadline'>): Promise<Row | undefined> {
    const queue = this.#queues.get(write.statement.sql) ?? []
    this.#queues.set(write.statement.sql, queue)
    return new Promise((settle, fail) => {
      const waiting: WaitingWrite = { write, alone, deadline, settle, fail }
      queue.push(waiting)
      const run = (connection: Connection) => this.#runOn(connection, waiting, queue)
      this.#onConnection(run, deadline).catch((error: unknown) => {
        const index = queue.indexOf(waiting)
        // It may be running with others.
        if (index < 0) return
        queue.splice(index, 1)
        fail(error)
      })
    })
  }

  /** `isSure`: the database stores the row as it is given, so it needs no check before its commit. */
  async #writeAlone(
    connection: Connection,
    { alone, settle }: Pick<WaitingWrite, 'alone' | 'settle'>,
    isSure = true,
  ): Promise<void> {
    const options = { oneWrite: true, changing: isSure ? this.#options.changing : allTables }
    const transaction = new PoolTransaction(connection, this.#options.tablesNow(), options)
    const written = transaction.run((on) => alone(isSure ? on : this.#options.checked(on)))
    settle(written)
    await written.catch(() => undefined)
  }

  /** Writes the rows of a statement that has written none because of an error. */
  async #writeEach(writes: readonly WaitingWrite[], error: unknown): Promise<void> {
    const { dialect, find } = this.#options.tablesNow()
    const isSure = rowFaults.includes(dialect.errors.kindOf(error))
    const outcomes = writes.map(
      ({ alone, settle: end, fail, deadline }) =>
        new Promise<boolean>((resolve) => {
          const settle = (row: Promise<Row | undefined>): void => {
            end(row)
            row.then(
              () => resolve(true),
              () => resolve(false),
            )
          }
          const run = (again: Connection) => this.#writeAlone(again, { alone, settle }, isSure)
          this.#onConnection(run, deadline).catch((reason: unknown) => {
            fail(reason)
            resolve(false)
          })
        }),
    )
    const hasFailed = (await Promise.all(outcomes)).includes(false)
    const [{ write }] = writes as readonly [WaitingWrite]
    const table = find(write.collection.table)
    // No row is at fault, so it is the table, for instance because of a new trigger.
    if (!isSure && !hasFailed && table !== undefined) this.#options.changing.add(table)
  }

  async #writeTogether(connection: Connection, waiting: readonly WaitingWrite[]): Promise<void> {
    const tables = this.#options.tablesNow()
    const writes = waiting.map(({ write }) => write)
    try {
      const rows = await runTogether(connection, tables, writes)
      for (const [index, { settle }] of waiting.entries()) {
        settle(new Promise((resolve) => resolve(rows[index]?.())))
      }
    } catch (error) {
      const { errors } = tables.dialect
      // They wait for a connection, of which this one may be the only one.
      if (errors.isUndone(error)) void this.#writeEach(waiting, error)
      else for (const { fail } of waiting) fail(storageFailure(errors, error, 'save'))
    }
  }

  async #onConnection(
    work: (connection: Connection) => Promise<void>,
    deadline: number | undefined,
  ): Promise<void> {
    try {
      await this.#options.use(work, deadline)
    } catch (error) {
      throw storageFailure(this.#options.tablesNow().dialect.errors, error, 'read')
    }
  }

  /** Runs a write, with others that wait if there are any. Does nothing if it has run with others. */
  async #runOn(
    connection: Connection,
    waiting: WaitingWrite,
    queue: WaitingWrite[],
  ): Promise<void> {
    const index = queue.indexOf(waiting)
    if (index < 0) return
    const { length } = waiting.write.statement.values
    const most = Math.min(maxRows, length === 0 ? 1 : Math.floor(maxValues / length))
    const chosen = connection.session === undefined ? [] : togetherWith(waiting, queue, most)
    if (chosen.length > 1) {
      for (const one of chosen) queue.splice(queue.indexOf(one), 1)
      connection.use(lastDeadline(chosen))
      return this.#writeTogether(connection, chosen)
    }
    queue.splice(index, 1)
    return this.#writeAlone(connection, waiting)
  }
}

function byTarget(one: WaitingWrite, other: WaitingWrite): number {
  const [a = '', b = ''] = [targetOf(one), targetOf(other)]
  return a < b ? -1 : a > b ? 1 : 0
}

/** Returns the row that an update changes. Inserts of one key are joined: if their statement fails, the first one wins. */
function targetOf({ write: { kind, target } }: WaitingWrite): string | undefined {
  return kind === 'update' ? target : undefined
}

/**
 * Returns a write and the first others of a queue that have different targets: a power of two, because each number is
 * another statement. A connection that is new serves its write late, so that the write may not be the first of the queue.
 * If the request of the write has ended, it is alone; those of others that have ended are left to themselves.
 */
function togetherWith(
  waiting: WaitingWrite,
  queue: readonly WaitingWrite[],
  most: number,
): readonly WaitingWrite[] {
  const now = runtime.performanceNow()
  const hasEnded = ({ deadline = Infinity }: WaitingWrite): boolean => deadline <= now
  if (hasEnded(waiting)) return [waiting]
  const targets = new Set([targetOf(waiting)])
  const chosen = [waiting]
  for (const one of queue) {
    if (chosen.length >= most) break
    const target = targetOf(one)
    const isRepeated = target !== undefined && targets.has(target)
    if (one === waiting || isRepeated || hasEnded(one)) continue
    targets.add(target)
    chosen.push(one)
  }
  const count = 2 ** Math.floor(Math.log2(chosen.length))
  const inOrder = chosen.slice(0, count).sort((a, b) => queue.indexOf(a) - queue.indexOf(b))
  // Statements of several processes lock their rows in the same order, so that they do not wait for each other.
  return inOrder.sort(byTarget)
}

/** Returns when the last request of writes ends: the end of one must not be that of the others. Undefined: never. */
function lastDeadline(writes: readonly WaitingWrite[]): number | undefined {
  const last = Math.max(...writes.map(({ deadline = Infinity }) => deadline))
  return last === Infinity ? undefined : last
}
