import type { PublishedCollection } from '../../definition/published.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { isStorageError, type StorageTransaction } from '../adapter.ts'
import { withAmounts, type RowChanges } from '../sql/fragments.ts'
import type { Connection } from './connection.ts'
import type { Isolation, Tables } from '../sql/dialect.ts'
import { storageFailure, unavailable, type Operation } from './failure.ts'
import { readPage } from './reads.ts'
import type { Table } from '../../schema/model.ts'
import { returnsInserts } from '../sql/write-statements.ts'
import { bringsNumber, deleteRow, insertRow, updateRow } from './writes.ts'

interface WriteOptions {
  readonly operation: Operation
  readonly collection: PublishedCollection
  /** The values of a save. */
  readonly row?: RowChanges
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

/** How a {@link PoolTransaction} runs. */
export interface RunOptions {
  /** As in {@link TransactionOptions}. */
  readonly oneWrite?: boolean | undefined
  /** Default: `snapshot`. */
  readonly isolation?: Isolation
  /** Default: none. */
  readonly changing?: Pick<ChangingTables, 'has'>
}

/**
 * A transaction on a connection. All of its reads see the same state, and it fails if another transaction has changed
 * what it writes.
 */
export class PoolTransaction implements StorageTransaction {
  readonly #connection: Connection
  readonly #tables: Tables
  readonly #oneWrite: boolean
  readonly #isolation: Isolation
  readonly #changing: RunOptions['changing']
  #last: Promise<unknown> = Promise.resolve()
  #hasBegun = false
  #hasEnded = false
  #hasSavepoint = false
  #lastWrite: Operation = 'save'
  #failure: { readonly error: unknown } | undefined

  constructor(
    connection: Connection,
    tables: Tables,
    { oneWrite = false, isolation = 'snapshot', changing }: RunOptions,
  ) {
    this.#connection = connection
    this.#tables = tables
    this.#oneWrite = oneWrite
    this.#isolation = isolation
    this.#changing = changing
  }

  /** Runs work in the transaction, and commits it. If the work or the commit fails, rolls it back and rejects. */
  async run<Result>(
    work: (transaction: StorageTransaction) => MaybePromise<Result>,
  ): Promise<Result> {
    try {
      const result = await work(this)
      await this.#end()
      if (this.#failure !== undefined) throw this.#failure.error
      if (this.#hasBegun) await this.#commit()
      return result
    } catch (error) {
      await this.#end()
      if (this.#hasBegun) {
        await this.#connection.command('rollback').catch(() => this.#connection.discard())
      }
      throw error
    }
  }

  readonly filter: StorageTransaction['filter'] = (collection, query) =>
    this.#inTurn(() =>
      this.#read(() => readPage(this.#connection, this.#tables, collection, query)),
    )

  readonly insert: StorageTransaction['insert'] = (collection, row) => {
    const table = this.#tables.find(collection.table)
    const isChanged = table !== undefined && this.#changing?.has(table) === true
    const isAlone =
      !isChanged && returnsInserts(this.#tables, collection) && !bringsNumber(collection, row)
    return this.#inTurn(() =>
      this.#write({ operation: 'save', collection, row, isAlone }, () =>
        insertRow(this.#connection, this.#tables, collection, row),
      ),
    )
  }

  readonly update: StorageTransaction['update'] = (collection, conditions, given, increments) => {
    const changes = withAmounts(given, increments)
    const isAlone = this.#tables.dialect.writes.returning.includes('update')
    return this.#inTurn(() =>
      this.#write({ operation: 'save', collection, row: changes, isAlone }, () =>
        updateRow(this.#connection, this.#tables, collection, { conditions, changes }),
      ),
    )
  }

  readonly delete: StorageTransaction['delete'] = (collection, conditions) => {
    const isAlone = this.#tables.dialect.writes.returning.includes('delete')
    return this.#inTurn(() =>
      this.#write({ operation: 'delete', collection, isAlone }, () =>
        deleteRow(this.#connection, this.#tables, collection, conditions),
      ),
    )
  }

  // A connection runs one statement at a time.
  #inTurn<Value>(call: () => Promise<Value>): Promise<Value> {
    const turn = this.#last.then(() => {
      if (this.#hasEnded) throw new Error('The transaction has ended.')
      if (this.#failure !== undefined) throw this.#failure.error
      return call()
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Begins the transaction, if it has not, runs more commands, and then a call. */
  async #run<Value>(
    kind: 'read' | 'write',
    call: () => Promise<Value>,
    ...more: readonly string[]
  ): Promise<Value> {
    const { begin } = this.#tables.dialect.transactions
    const begins = !this.#hasBegun
    const commands = begins ? [...begin[this.#isolation], ...more] : more
    if (commands.length === 0) return call()
    this.#hasBegun = true
    const begun = this.#connection.command(...commands)
    // Where the server cancels the begin itself, it runs what follows without a transaction, and would keep a write.
    if (!this.#connection.pipelines || (begins && kind === 'write')) {
      await begun
      return call()
    }
    // In one round trip. A server that fails to create a savepoint rejects the statements that follow, too.
    const [before, called] = await Promise.allSettled([begun, call()])
    if (before.status === 'rejected') throw before.reason
    if (called.status === 'rejected') throw called.reason
    return called.value
  }

  async #read<Value>(call: () => Promise<Value>): Promise<Value> {
    try {
      return await this.#run('read', call)
    } catch (error) {
      // Now the server rejects every statement, and a COMMIT would undo the transaction without an error.
      const converted = storageFailure(this.#tables.dialect.errors, error, 'read')
      this.#failure = { error: converted }
      throw converted
    }
  }

  /** Runs a write so that the transaction stays usable if it fails. */
  async #write<Value>(
    { operation, collection, row = {}, isAlone }: WriteOptions,
    call: () => Promise<Value>,
  ): Promise<Value> {
    const { dialect, find } = this.#tables
    const { needsSavepoints, checkDeferred } = dialect.transactions
    const oneWrite = this.#oneWrite
    const table = find(collection.table)
    // Application code may write collections that publish no events that do.
    if (table?.unwritable !== undefined) {
      throw new Error(`the table ${dialect.quoted(table.name)} ${table.unwritable}`)
    }
    try {
      // Without a begin, the server commits it.
      if (oneWrite && isAlone && !this.#hasBegun && this.#connection.session !== undefined) {
        const written = await call()
        // An update of a missing row has written nothing.
        this.#hasEnded = written !== undefined
        return written
      }
      const savepoint = this.#hasSavepoint ? ['release s', 'savepoint s'] : ['savepoint s']
      this.#hasSavepoint = needsSavepoints
      const result = await this.#run('write', call, ...(needsSavepoints ? savepoint : []))
      this.#lastWrite = operation
      // As if the server committed it: an error of the commit would not be one of this write.
      if (oneWrite && checkDeferred !== undefined && table?.hasDeferred === true) {
        await this.#connection.command(checkDeferred)
      }
      return result
    } catch (error) {
      const written = { table, collection, row }
      const converted = storageFailure(dialect.errors, error, operation, written)
      // A value that can't be stored is rejected before anything is sent.
      const isSent = !isStorageError(error) && !(error instanceof TypeError)
      if (isSent && dialect.errors.endsTransaction(error)) this.#failure = { error: converted }
      else if (this.#hasSavepoint) await this.#undo()
      throw converted
    }
  }

  /** Undoes the last write. */
  async #undo(): Promise<void> {
    try {
      await this.#connection.command('rollback to s')
    } catch (error) {
      this.#failure = { error: unavailable(error) }
    }
  }

  async #end(): Promise<void> {
    await this.#last
    this.#hasEnded = true
  }

  async #commit(): Promise<void> {
    const { transactions, errors } = this.#tables.dialect
    try {
      await transactions.commit(this.#connection)
    } catch (error) {
      // The item of a Delete is deleted last, after those that refer to it.
      throw storageFailure(errors, error, this.#lastWrite)
    }
  }
}
