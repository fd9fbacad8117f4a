import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import type { Row, StorageTransaction } from '../adapter.ts'
import { literal, raw, sql, type Sql } from '../sql.ts'
import type { Tables } from './tables.ts'
import { bound, columnTypes } from './column-types.ts'
import { columnOf, placeOf } from './conditions.ts'
import type { Connection } from './connection.ts'
import { endsTransaction, storageFailure, unavailable, type Operation } from './failure.ts'
import { readPage } from './reads.ts'
import { deleteStatement, insertStatement, readRow, updateStatement } from './statements.ts'

// Any number that other programs are unlikely to use.
const numberingLock = 7_294_104_817

/** Runs work in a transaction that sees one state, and that fails if another one has changed what it writes. */
export async function runTransaction<Result>(
  connection: Connection,
  tables: Tables,
  work: (transaction: StorageTransaction) => MaybePromise<Result>,
): Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  let hasEnded = false
  let hasSavepoint = false
  let failure: { readonly error: unknown } | undefined

  // A connection runs one statement at a time.
  function inTurn<Value>(call: () => Promise<Value>): Promise<Value> {
    const turn = last.then(() => {
      if (hasEnded) throw new Error('The transaction has ended.')
      if (failure !== undefined) throw failure.error
      return call()
    })
    last = turn.catch(() => undefined)
    return turn
  }

  async function read<Value>(call: () => Promise<Value>): Promise<Value> {
    try {
      return await call()
    } catch (error) {
      // Now the server rejects every statement, and a COMMIT would undo the transaction without an error.
      failure = { error: storageFailure(error, 'read') }
      throw failure.error
    }
  }

  /** Runs statements so that the transaction stays usable if one fails. */
  async function write<Value>(
    operation: Operation,
    collection: PublishedCollection,
    call: () => Promise<Value>,
  ): Promise<Value> {
    try {
      await connection.command(hasSavepoint ? 'release s; savepoint s' : 'savepoint s')
      hasSavepoint = true
      return await call()
    } catch (error) {
      const converted = storageFailure(error, operation, tables, collection)
      if (endsTransaction(error)) failure = { error: converted }
      else await undoLast()
      throw converted
    }
  }

  async function undoLast(): Promise<void> {
    try {
      await connection.command('rollback to s')
    } catch (error) {
      failure = { error: unavailable(error) }
    }
  }

  async function one(collection: PublishedCollection, statement: Sql): Promise<Row | undefined> {
    const [row] = await connection.rows(statement)
    return row && readRow(collection, collection.allNames, row)
  }

  const transaction: StorageTransaction = {
    filter: (collection, query) =>
      inTurn(() => read(() => readPage(connection, tables, collection, query))),
    insert: (collection, row) => {
      const statement = insertStatement(tables, collection, row)
      const insert = async (): Promise<Row> => {
        const stored = await one(collection, statement)
        if (stored === undefined) throw rejectedRow()
        await continueNumbers(connection, tables, collection, row)
        return stored
      }
      return inTurn(() => write('save', collection, insert))
    },
    update: (collection, conditions, changes) => {
      const statement = updateStatement(tables, collection, conditions, changes)
      return inTurn(() => write('save', collection, () => one(collection, statement)))
    },
    delete: (collection, conditions) => {
      const statement = deleteStatement(tables, collection, conditions)
      return inTurn(() => write('delete', collection, () => one(collection, statement)))
    },
  }

  async function end(): Promise<void> {
    await last
    hasEnded = true
  }

  await begin(connection)
  try {
    const result = await work(transaction)
    await end()
    if (failure !== undefined) throw failure.error
    await commit(connection)
    return result
  } catch (error) {
    await end()
    await connection.command('rollback').catch(() => connection.discard())
    throw error
  }
}

async function begin(connection: Connection): Promise<void> {
  try {
    await connection.command('begin isolation level repeatable read')
  } catch (error) {
    throw storageFailure(error, 'read')
  }
}

async function commit(connection: Connection): Promise<void> {
  let command: string
  try {
    command = await connection.command('commit')
  } catch (error) {
    throw storageFailure(error, 'save')
  }
  if (command !== 'COMMIT') throw unavailable(new Error('the server has undone the transaction'))
}

/** Makes the sequence of a key go on above the number that a row has brought. */
async function continueNumbers(
  connection: Connection,
  tables: Tables,
  collection: PublishedCollection,
  row: Row,
): Promise<void> {
  const field = collection.fields.find(({ generated }) => generated === 'database')
  const number = field && (row[field.name] ?? null)
  if (field === undefined || number === null) return
  const sequence = sequenceOf(tables, collection, field)
  if (sequence === undefined) return
  const value = bound(columnTypes.bigint, number as number | string)
  const isBehind = sql`from ${raw(sequence)} as s where s.last_value < ${value} or s.last_value = ${value} and not s.is_called`
  if ((await connection.rows(sql`select ${isBehind}`)).length === 0) return
  // Two transactions that set it at the same time could set it back.
  await connection.command(`select pg_advisory_xact_lock(${numberingLock})`)
  await connection.rows(sql`select setval(${literal(sequence)}::regclass, ${value}) ${isBehind}`)
}

function sequenceOf(
  tables: Tables,
  collection: PublishedCollection,
  field: PublishedField,
): string | undefined {
  return columnOf(placeOf(tables, collection), field).sequence
}

function rejectedRow(): Error {
  return Object.assign(new Error('a trigger of the table has rejected the row'), { code: 'P0001' })
}
