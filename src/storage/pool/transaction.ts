import type { PublishedCollection } from '../../definition/published.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { isStorageError, type Row, type StorageTransaction } from '../adapter.ts'
import { withAmounts, type RowChanges } from '../sql/fragments.ts'
import { joinableInsert, joinableUpdate, type ChangingTables } from './joinable-write.ts'
import type { JoinableWrite, JoinPlace } from './joinable-write.ts'
import type { Connection } from './connection.ts'
import type { Isolation, Tables } from '../sql/dialect.ts'
import { storageFailure, unavailable, type Operation } from './failure.ts'
import { readPage } from './reads.ts'
import { returnsInserts } from '../sql/write-statements.ts'
import { isBatched, WriteBatch, type BatchedWrite } from './write-batch.ts'
import { bringsNumber, deleteRow, insertRow, updateRow } from './writes.ts'

interface WriteOptions {
  readonly operation: Operation
  readonly collection: PublishedCollection
  /** The values of a save. */
  readonly row?: RowChanges
  /** Whether the write is one statement. */
  readonly isAlone: boolean
  /** Whether the write is several, of which all or none are kept. Default false. */
  readonly isBatch?: boolean
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
  readonly #place: JoinPlace
  #last: Promise<unknown> = Promise.resolve()
  /** The writes that were called last, while nothing else was called and they have not begun. */
  #batch: WriteBatch | undefined
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
    this.#place = { tables, changing }
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
    const alone = (): Promise<Row> =>
      this.#write({ operation: 'save', collection, row, isAlone }, () =>
        insertRow(this.#connection, this.#tables, collection, row),
      )
    const join = () => joinableInsert(this.#place, collection, row)?.()
    return this.#inBatch(join, alone) as Promise<Row>
  }

  readonly update: StorageTransaction['update'] = (collection, conditions, given, increments) => {
    const changes = withAmounts(given, increments)
    const isAlone = this.#tables.dialect.writes.returning.includes('update')
    const alone = (): Promise<Row | undefined> =>
      this.#write({ operation: 'save', collection, row: changes, isAlone }, () =>
        updateRow(this.#connection, this.#tables, collection, { conditions, changes }),
      )
    const update = { collection, conditions, changes: given, increments }
    return this.#inBatch(() => joinableUpdate(this.#place, update)?.(), alone)
  }

  readonly delete: StorageTransaction['delete'] = (collection, conditions) => {
    const isAlone = this.#tables.dialect.writes.returning.includes('delete')
    return this.#inTurn(() =>
      this.#write({ operation: 'delete', collection, isAlone }, () =>
        deleteRow(this.#connection, this.#tables, collection, conditions),
      ),
    )
  }

  /** Runs a write after the calls before it: together with the writes next to it, if they can be joined. */
  #inBatch(
    join: () => JoinableWrite | undefined,
    alone: BatchedWrite['alone'],
  ): Promise<Row | undefined> {
    const write = this.#oneWrite ? undefined : joinedOr(join)
    if (write === undefined || !isBatched(this.#tables, write)) return this.#inTurn(alone)
    if (this.#batch?.accepts(write) === true) return this.#batch.add({ write, alone })
    const { collection } = write
    const batch = new WriteBatch(this.#tables, {
      together: (statements) =>
        this.#write({ operation: 'save', collection, isAlone: false, isBatch: true }, () =>
          statements(this.#connection),
        ),
      alone: async (one) => {
        this.#requireUsable()
        return one()
      },
    })
    const added = batch.add({ write, alone })
    const close = (): void => {
      if (this.#batch === batch) this.#batch = undefined
    }
    this.#inTurn(() => {
      close()
      return batch.run()
    }).catch((error: unknown) => {
      // The transaction may have ended before its turn.
      close()
      batch.fail(error)
    })
    this.#batch = batch
    return added
  }

  // A connection runs one statement at a time.
  #inTurn<Value>(call: () => Promise<Value>): Promise<Value> {
    this.#batch = undefined
    const turn = this.#last.then(() => {
      this.#requireUsable()
      return call()
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }

  #requireUsable(): void {
    if (this.#hasEnded) throw new Error('The transaction has ended.')
    if (this.#failure !== undefined) throw this.#failure.error
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
    { operation, collection, row = {}, isAlone, isBatch = false }: WriteOptions,
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
      const released = needsSavepoints && this.#hasSavepoint ? ['release s'] : []
      this.#hasSavepoint = needsSavepoints || isBatch
      const savepoint = this.#hasSavepoint ? [...released, 'savepoint s'] : []
      const result = await this.#run('write', call, ...savepoint)
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

/** Returns a joinable write. A value that can't be stored is rejected by the write itself. */
function joinedOr(join: () => JoinableWrite | undefined): JoinableWrite | undefined {
  try {
    return join()
  } catch {
    return undefined
  }
}
