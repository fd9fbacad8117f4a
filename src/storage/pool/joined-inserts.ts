import type { PublishedCollection } from '../../definition/published.ts'
import type { Row, StorageTransaction } from '../adapter.ts'
import type { BoundStatement, Connection, Connections, TextRow } from './connection.ts'
import type { Tables } from '../sql/dialect.ts'
import { storageFailure, type FailureKind } from './failure.ts'
import type { Sql } from '../sql/fragments.ts'
import { rowReader } from './rows.ts'
import { PoolTransaction, type ChangingTables } from './transaction.ts'
import { insertStatement, insertText } from '../sql/write-statements.ts'
import { bringsNumber } from './writes.ts'

// A row that waits for a lock holds up the others of its statement.
const maxRows = 16
// The protocol counts parameters with 16 bits.
const maxValues = 65_535

interface WaitingInsert {
  readonly collection: PublishedCollection
  readonly row: Row
  readonly statement: BoundStatement
  /** Ends it with its complete row. */
  readonly settle: (row: Promise<Row>) => void
  readonly fail: (error: unknown) => void
}

/** What {@link JoinedInserts} need. */
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
 * Inserts of which each is a transaction of its own, and that wait for a connection together. Inserts that differ only in
 * their values run in one statement. If it fails, it has inserted no row, and each insert runs alone. It fails on any doubt
 * about a row, see {@link Writes.joined}.
 */
export class JoinedInserts {
  readonly #options: Joining
  // Statements of one shape have the same object.
  readonly #queues = new WeakMap<Sql, WaitingInsert[]>()

  constructor(options: Joining) {
    this.#options = options
  }

  /** Returns whether a row may be inserted in one statement with others. */
  canJoin(collection: PublishedCollection, row: Row): boolean {
    const { dialect, find } = this.#options.tablesNow()
    const table = find(collection.table)
    const joins = table !== undefined && dialect.writes.joins?.(table) === true
    const returns = table?.returnsInserts !== false && table?.unwritable === undefined
    return joins && returns && !this.#options.changing.has(table) && !bringsNumber(collection, row)
  }

  /** Inserts a row and returns it complete. */
  async insert(collection: PublishedCollection, row: Row): Promise<Row> {
    const statement = insertStatement(this.#options.tablesNow(), collection, row)
    const queue = this.#queues.get(statement.sql) ?? []
    this.#queues.set(statement.sql, queue)
    return new Promise((settle, fail) => {
      const insert: WaitingInsert = { collection, row, statement, settle, fail }
      queue.push(insert)
      this.#onConnection((connection) => this.#run(connection, insert, queue)).catch(
        (error: unknown) => {
          const index = queue.indexOf(insert)
          // It may be running with others.
          if (index < 0) return
          queue.splice(index, 1)
          fail(error)
        },
      )
    })
  }

  /** `isSure`: the database stores the row as it is given, so it needs no check before its commit. */
  async #insertAlone(
    connection: Connection,
    { collection, row, settle }: WaitingInsert,
    isSure = true,
  ): Promise<void> {
    const options = { oneWrite: true, changing: isSure ? this.#options.changing : allTables }
    const transaction = new PoolTransaction(connection, this.#options.tablesNow(), options)
    const inserted = transaction.run((on) =>
      (isSure ? on : this.#options.checked(on)).insert(collection, row),
    )
    settle(inserted)
    await inserted.catch(() => undefined)
  }

  /** Inserts the rows of a statement that has inserted none because of an error. */
  async #insertEach(inserts: readonly WaitingInsert[], error: unknown): Promise<void> {
    const { dialect, find } = this.#options.tablesNow()
    const isSure = rowFaults.includes(dialect.errors.kindOf(error))
    const outcomes = inserts.map(
      (insert) =>
        new Promise<boolean>((resolve) => {
          const settle = (row: Promise<Row>): void => {
            insert.settle(row)
            row.then(
              () => resolve(true),
              () => resolve(false),
            )
          }
          this.#onConnection((again) =>
            this.#insertAlone(again, { ...insert, settle }, isSure),
          ).catch((reason: unknown) => {
            insert.fail(reason)
            resolve(false)
          })
        }),
    )
    const hasFailed = (await Promise.all(outcomes)).includes(false)
    const [{ collection }] = inserts as readonly [WaitingInsert]
    const table = find(collection.table)
    // No row is at fault, so it is the table, for instance because of a new trigger.
    if (!isSure && !hasFailed && table !== undefined) this.#options.changing.add(table)
  }

  async #insertTogether(connection: Connection, inserts: readonly WaitingInsert[]): Promise<void> {
    const tables = this.#options.tablesNow()
    const { collection, row } = inserts[0] as WaitingInsert
    try {
      const sql = insertText(tables, collection, row, inserts.length)
      const values = inserts.flatMap(({ statement }) => statement.values)
      const rows = await connection.rows({ sql, values })
      if (rows.length !== inserts.length) {
        throw new Error(`the server returned ${rows.length} of ${inserts.length} inserted rows`)
      }
      const read = rowReader(sql, { tables, collection, names: collection.allNames })
      // The server returns each row when it has inserted it, in the order of the statement.
      for (const [index, insert] of inserts.entries()) {
        const stored = new Promise<Row>((resolve) => resolve(read(rows[index] as TextRow)))
        insert.settle(stored)
      }
    } catch (error) {
      const { errors } = tables.dialect
      // They wait for a connection, of which this one may be the only one.
      if (errors.isUndone(error)) void this.#insertEach(inserts, error)
      else for (const { fail } of inserts) fail(storageFailure(errors, error, 'save'))
    }
  }

  async #onConnection(work: (connection: Connection) => Promise<void>): Promise<void> {
    try {
      await this.#options.use(work)
    } catch (error) {
      throw storageFailure(this.#options.tablesNow().dialect.errors, error, 'read')
    }
  }

  /** Runs an insert, with others that wait if there are any. Does nothing if it has run with others. */
  async #run(connection: Connection, insert: WaitingInsert, queue: WaitingInsert[]): Promise<void> {
    const index = queue.indexOf(insert)
    if (index < 0) return
    const { length } = insert.statement.values
    const most = Math.min(queue.length, maxRows, length === 0 ? 1 : Math.floor(maxValues / length))
    // Powers of two: each number of rows is another statement, which the server plans.
    const count = connection.session === undefined ? 1 : 2 ** Math.floor(Math.log2(most))
    if (count > 1) return this.#insertTogether(connection, queue.splice(0, count))
    queue.splice(index, 1)
    return this.#insertAlone(connection, insert)
  }
}
