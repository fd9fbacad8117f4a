import type { PublishedCollection } from '../../definition/published.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { isStorageError, StorageError, type Row, type StorageTransaction } from '../adapter.ts'
import type { BoundStatement, Connection } from './connection.ts'
import type { Dialect, Tables } from './dialect.ts'
import { storageFailure, unavailable, type Operation } from './failure.ts'
import { readPage } from './reads.ts'
import { rowReader } from './rows.ts'
import { deleteStatement, insertStatement, updateStatement } from './statements.ts'

/** Runs work in a transaction that sees one state, and that fails if another one has changed what it writes. */
export async function runTransaction<Result>(
  connection: Connection,
  tables: Tables,
  work: (transaction: StorageTransaction) => MaybePromise<Result>,
): Promise<Result> {
  const { dialect } = tables
  const { transactions, errors } = dialect
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
      failure = { error: storageFailure(errors, error, 'read') }
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
      if (transactions.needsSavepoints) {
        await connection.command(hasSavepoint ? 'release s; savepoint s' : 'savepoint s')
        hasSavepoint = true
      }
      return await call()
    } catch (error) {
      const written = { table: tables.find(collection.table), collection }
      const converted = storageFailure(errors, error, operation, written)
      if (!isStorageError(error) && errors.endsTransaction(error)) failure = { error: converted }
      else if (hasSavepoint) await undoLast()
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

  async function one(
    collection: PublishedCollection,
    statement: BoundStatement,
  ): Promise<Row | undefined> {
    const [row] = await connection.rows(statement)
    return row && rowReader(dialect, collection, collection.allNames)(row)
  }

  const transaction: StorageTransaction = {
    filter: (collection, query) =>
      inTurn(() => read(() => readPage(connection, tables, collection, query))),
    insert: (collection, row) => {
      const statement = insertStatement(tables, collection, row)
      const insert = async (): Promise<Row> => {
        const stored = await one(collection, statement)
        if (stored === undefined) throw skippedRow()
        await transactions.afterInsert?.(connection, tables, collection, row)
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

  await begin(connection, dialect)
  try {
    const result = await work(transaction)
    await end()
    if (failure !== undefined) throw failure.error
    await commit(connection, dialect)
    return result
  } catch (error) {
    await end()
    await connection.command('rollback').catch(() => connection.discard())
    throw error
  }
}

async function begin(connection: Connection, { transactions, errors }: Dialect): Promise<void> {
  try {
    await connection.command(transactions.begin)
  } catch (error) {
    throw storageFailure(errors, error, 'read')
  }
}

async function commit(connection: Connection, { transactions, errors }: Dialect): Promise<void> {
  try {
    await transactions.commit(connection)
  } catch (error) {
    throw storageFailure(errors, error, 'save')
  }
}

function skippedRow(): StorageError {
  const cause = new Error('a trigger of the table has skipped the row')
  return new StorageError('invalid', { cause })
}
