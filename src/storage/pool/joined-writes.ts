import type { PublishedCollection } from '../../definition/published.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { runtime } from '../../runtime.ts'
import type { Condition, Row, StorageTransaction } from '../adapter.ts'
import type { Connection, Connections } from './connection.ts'
import type { Tables } from '../sql/dialect.ts'
import { storageFailure, type FailureKind } from './failure.ts'
import type { Sql } from '../sql/fragments.ts'
import { joinableInsert, joinableUpdate, MissingRow, runTogether } from './joinable-write.ts'
import type { ChangingTables, JoinableWrite, JoinPlace } from './joinable-write.ts'
import { PoolTransaction } from './transaction.ts'
import { WriteLane, type WaitingWrite } from './write-lane.ts'

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
 * only in their values run in one statement. If it fails, it is undone, and each write runs alone. An insert fails on
 * any doubt about a row, see {@link Writes.joined}.
 */
export class JoinedWrites {
  readonly #options: Joining
  // Statements of one shape have the same object.
  readonly #lanes = new WeakMap<Sql, WriteLane>()

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
    const { sql } = write.statement
    let lane = this.#lanes.get(sql)
    if (lane === undefined) {
      lane = new WriteLane({
        use: (work, until) => this.#onConnection(work, until),
        together: (connection, writes) => this.#writeTogether(connection, writes),
        alone: (connection, one) => this.#writeAlone(connection, one),
      })
      this.#lanes.set(sql, lane)
    }
    const since = runtime.performanceNow()
    return new Promise((settle, fail) => {
      lane.add({ write, alone, deadline, since, settle, fail })
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

  /** Writes the rows of a statement that was undone because of an error. */
  async #writeEach(writes: readonly WaitingWrite[], error: unknown): Promise<void> {
    const { dialect, find } = this.#options.tablesNow()
    const isSure = error instanceof MissingRow || rowFaults.includes(dialect.errors.kindOf(error))
    const outcomes = writes.map(
      ({ alone, settle: end, fail, deadline }) =>
        new Promise<boolean>((resolve) => {
          const settle = (row: MaybePromise<Row | undefined>): void => {
            end(row)
            Promise.resolve(row).then(
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
      const rows = await allWritten(connection, tables, writes)
      for (const [index, { settle, fail }] of waiting.entries()) {
        try {
          settle(rows[index]?.())
        } catch (error) {
          fail(error)
        }
      }
    } catch (error) {
      const { errors } = tables.dialect
      const isUndone = error instanceof MissingRow || errors.isUndone(error)
      // They wait for a connection, of which this one may be the only one.
      if (isUndone) void this.#writeEach(waiting, error)
      else for (const { fail } of waiting) fail(storageFailure(errors, error, 'save'))
    }
  }

  async #onConnection<Result>(
    work: (connection: Connection) => Promise<Result>,
    deadline: number | undefined,
  ): Promise<Result> {
    try {
      return await this.#options.use(work, deadline)
    } catch (error) {
      throw storageFailure(this.#options.tablesNow().dialect.errors, error, 'read')
    }
  }
}

/** Runs writes together, and commits them. */
async function allWritten(
  connection: Connection,
  tables: Tables,
  writes: readonly JoinableWrite[],
): ReturnType<typeof runTogether> {
  // Without a begin, the server commits a statement.
  if (writes[0]?.reading === undefined) return runTogether(connection, tables, writes)
  const { begin, commit } = tables.dialect.transactions
  try {
    await connection.command(...begin.snapshot)
    const rows = await runTogether(connection, tables, writes)
    await commit(connection)
    return rows
  } catch (error) {
    await connection.command('rollback').catch(() => connection.discard())
    throw error
  }
}
