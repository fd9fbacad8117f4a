import type { PublishedCollection } from '../../definition/published.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { isStorageError, type Row, type StorageTransaction } from '../adapter.ts'
import type { Connection } from './connection.ts'
import type { Dialect, Isolation, Tables } from '../sql/dialect.ts'
import { storageFailure, unavailable, type Operation } from './failure.ts'
import { readPage } from './reads.ts'
import type { Table } from '../../schema/model.ts'
import { returnsInserts } from '../sql/write-statements.ts'
import { bringsNumber, deleteRow, insertRow, updateRow } from './writes.ts'

interface WriteOptions {
  readonly operation: Operation
  readonly collection: PublishedCollection
  /** The values of a save. */
  readonly row?: Row
  /** Whether the write is one statement. */
  readonly isAlone: boolean
}

/**
 * The tables that may store a row otherwise than it is given, such as those with triggers. What they return of an insert
 * is checked before its commit.
 */
export interface ChangingTables {
  has(table: Table): boolean
  add(table: Table): unknown
}

/** How {@link runTransaction} runs work. */
export interface RunOptions {
  /** As in {@link TransactionOptions}. */
  readonly oneWrite?: boolean | undefined
  /** Default: `snapshot`. */
  readonly isolation?: Isolation
  /** Default: none. */
  readonly changing?: Pick<ChangingTables, 'has'>
}

/** Runs work in a transaction that sees one state, and that fails if another one has changed what it writes. */
export async function runTransaction<Result>(
  connection: Connection,
  tables: Tables,
  { oneWrite = false, isolation = 'snapshot', changing }: RunOptions,
  work: (transaction: StorageTransaction) => MaybePromise<Result>,
): Promise<Result> {
  const { dialect } = tables
  const { transactions, errors } = dialect
  const { returning } = dialect.writes
  let last: Promise<unknown> = Promise.resolve()
  let hasBegun = false as boolean
  let hasEnded = false
  let hasSavepoint = false
  let lastWrite: Operation = 'save'
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

  /** Begins the transaction with its first statement, and runs more commands. */
  async function begin(...more: readonly string[]): Promise<void> {
    const commands = hasBegun ? more : [...transactions.begin[isolation], ...more]
    if (commands.length === 0) return
    hasBegun = true
    await connection.command(...commands)
  }

  async function read<Value>(call: () => Promise<Value>): Promise<Value> {
    try {
      await begin()
      return await call()
    } catch (error) {
      // Now the server rejects every statement, and a COMMIT would undo the transaction without an error.
      failure = { error: storageFailure(errors, error, 'read') }
      throw failure.error
    }
  }

  /** Runs a write so that the transaction stays usable if it fails. */
  async function write<Value>(
    { operation, collection, row = {}, isAlone }: WriteOptions,
    call: () => Promise<Value>,
  ): Promise<Value> {
    const table = tables.find(collection.table)
    // Application code may write collections that publish no events that do.
    if (table?.unwritable !== undefined) {
      throw new Error(`the table ${dialect.quoted(table.name)} ${table.unwritable}`)
    }
    try {
      // Without a begin, the server commits it.
      if (oneWrite && isAlone && !hasBegun && connection.session !== undefined) {
        const written = await call()
        hasEnded = true
        return written
      }
      if (transactions.needsSavepoints) {
        await begin(...(hasSavepoint ? ['release s'] : []), 'savepoint s')
        hasSavepoint = true
      } else await begin()
      const result = await call()
      lastWrite = operation
      // As if the server committed it: an error of the commit would not be one of this write.
      if (oneWrite && transactions.checkDeferred !== undefined && table?.hasDeferred === true) {
        await connection.command(transactions.checkDeferred)
      }
      return result
    } catch (error) {
      const written = { table, collection, row }
      const converted = storageFailure(errors, error, operation, written)
      // A value that can't be stored is rejected before anything is sent.
      const isSent = !isStorageError(error) && !(error instanceof TypeError)
      if (isSent && errors.endsTransaction(error)) failure = { error: converted }
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

  const transaction: StorageTransaction = {
    filter: (collection, query) =>
      inTurn(() => read(() => readPage(connection, tables, collection, query))),
    insert: (collection, row) => {
      const table = tables.find(collection.table)
      const isChanged = table !== undefined && changing?.has(table) === true
      const isAlone =
        !isChanged && returnsInserts(tables, collection) && !bringsNumber(collection, row)
      return inTurn(() =>
        write({ operation: 'save', collection, row, isAlone }, () =>
          insertRow(connection, tables, collection, row),
        ),
      )
    },
    update: (collection, conditions, changes) => {
      const isAlone = returning.includes('update')
      return inTurn(() =>
        write({ operation: 'save', collection, row: changes, isAlone }, () =>
          updateRow(connection, tables, collection, { conditions, changes }),
        ),
      )
    },
    delete: (collection, conditions) =>
      inTurn(() =>
        write({ operation: 'delete', collection, isAlone: returning.includes('delete') }, () =>
          deleteRow(connection, tables, collection, conditions),
        ),
      ),
  }

  async function end(): Promise<void> {
    await last
    hasEnded = true
  }

  try {
    const result = await work(transaction)
    await end()
    if (failure !== undefined) throw failure.error
    if (hasBegun) await commit(connection, dialect, lastWrite)
    return result
  } catch (error) {
    await end()
    if (hasBegun) await connection.command('rollback').catch(() => connection.discard())
    throw error
  }
}

async function commit(
  connection: Connection,
  { transactions, errors }: Dialect,
  lastWrite: Operation,
): Promise<void> {
  try {
    await transactions.commit(connection)
  } catch (error) {
    // The item of a Delete is deleted last, after those that refer to it.
    throw storageFailure(errors, error, lastWrite)
  }
}
