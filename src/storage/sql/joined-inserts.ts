import type { PublishedCollection } from '../../definition/published.ts'
import type { Row } from '../adapter.ts'
import type { BoundStatement, Connection, Connections, TextRow } from './connection.ts'
import type { Tables } from './dialect.ts'
import { storageFailure } from './failure.ts'
import type { Sql } from './fragments.ts'
import { rowReader } from './rows.ts'
import { runTransaction } from './transaction.ts'
import { insertStatement, insertText } from './write-statements.ts'
import { bringsNumber } from './writes.ts'

// A row that waits for a lock holds up the others of its statement.
const maxRows = 16
// The protocol counts parameters with 16 bits.
const maxValues = 65_535

/** Inserts of which each is a transaction of its own. */
export interface JoinedInserts {
  /** Returns whether a row may be inserted in one statement with others. */
  canJoin(collection: PublishedCollection, row: Row): boolean
  /** Inserts a row and returns it complete. */
  insert(collection: PublishedCollection, row: Row): Promise<Row>
}

interface WaitingInsert {
  readonly collection: PublishedCollection
  readonly row: Row
  readonly statement: BoundStatement
  /** Ends it with its complete row. */
  readonly settle: (row: Row | Promise<Row>) => void
  readonly fail: (error: unknown) => void
}

/**
 * Returns inserts that wait for a connection together: those that differ in their values only run in one statement. If
 * it fails, it has inserted none of them, and each one runs alone.
 */
export function joinedInserts(use: Connections['use'], tablesNow: () => Tables): JoinedInserts {
  // Statements of one shape have the same object.
  const queues = new WeakMap<Sql, WaitingInsert[]>()
  const skipping = new WeakSet<PublishedCollection>()

  async function insertAlone(connection: Connection, insert: WaitingInsert): Promise<void> {
    const { collection, row, settle } = insert
    const inserted = runTransaction(connection, tablesNow(), { oneWrite: true }, (on) =>
      on.insert(collection, row),
    )
    settle(inserted)
    await inserted.catch(() => undefined)
  }

  async function insertTogether(
    connection: Connection,
    inserts: readonly WaitingInsert[],
  ): Promise<void> {
    const tables = tablesNow()
    const { collection, row } = inserts[0] as WaitingInsert
    try {
      const sql = insertText(tables, collection, row, inserts.length)
      const values = inserts.flatMap(({ statement }) => statement.values)
      const rows = await connection.rows({ sql, values })
      if (rows.length !== inserts.length) {
        skipping.add(collection)
        throw new Error(`a trigger that ${collection.table} has had since the start skipped a row`)
      }
      const read = rowReader(sql, { tables, collection, names: collection.allNames })
      // The server returns each row when it has inserted it, in the order of the statement.
      for (const [index, { settle }] of inserts.entries()) settle(read(rows[index] as TextRow))
    } catch (error) {
      const { errors } = tables.dialect
      const isUndone = errors.isUndone(error)
      for (const insert of inserts) {
        if (isUndone) {
          onConnection((again) => insertAlone(again, insert)).catch(insert.fail)
        } else insert.fail(storageFailure(errors, error, 'save'))
      }
    }
  }

  async function onConnection(work: (connection: Connection) => Promise<void>): Promise<void> {
    try {
      await use(work)
    } catch (error) {
      throw storageFailure(tablesNow().dialect.errors, error, 'read')
    }
  }

  /** Runs an insert, with others that wait if there are any. Does nothing if it has run with others. */
  async function run(
    connection: Connection,
    insert: WaitingInsert,
    queue: WaitingInsert[],
  ): Promise<void> {
    const index = queue.indexOf(insert)
    if (index < 0) return
    const { length } = insert.statement.values
    const most = Math.min(queue.length, maxRows, length === 0 ? 1 : Math.floor(maxValues / length))
    // Powers of two: each number of rows is another statement, which the server plans.
    const count = connection.session === undefined ? 1 : 2 ** Math.floor(Math.log2(most))
    if (count > 1) return insertTogether(connection, queue.splice(0, count))
    queue.splice(index, 1)
    return insertAlone(connection, insert)
  }

  return {
    canJoin(collection, row) {
      const { dialect, find } = tablesNow()
      const table = find(collection.table)
      const joins = table !== undefined && dialect.writes.joins?.(table) === true
      return joins && !skipping.has(collection) && !bringsNumber(collection, row)
    },
    insert: async (collection, row) => {
      const statement = insertStatement(tablesNow(), collection, row)
      const queue = queues.get(statement.sql) ?? []
      queues.set(statement.sql, queue)
      return new Promise((settle, fail) => {
        const insert: WaitingInsert = { collection, row, statement, settle, fail }
        queue.push(insert)
        onConnection((connection) => run(connection, insert, queue)).catch((error: unknown) => {
          const index = queue.indexOf(insert)
          // It may be running with others.
          if (index < 0) return
          queue.splice(index, 1)
          fail(error)
        })
      })
    },
  }
}
