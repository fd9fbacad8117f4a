import { commandUse } from '../../command-use.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import type { ApplicationDefinitions } from '../../definition/application.ts'
import { publishApplications } from '../../definition/publish-applications.ts'
import { isServed } from '../../definition/serve.ts'
import { everyCondition } from '../../request/query.ts'
import type { StorageAdapter } from '../adapter.ts'
import { markSelfChecking } from '../layers/self-checking.ts'
import { constraintFields } from './writing/constraint-fields.ts'
import { closedError, handleInUse, retryWhileBusy, storageFailure } from './connection/failure.ts'
import { folded } from '../../schema/model.ts'
import { inspectTables } from '../../schema/sqlite/inspect.ts'
import {
  openConnections,
  openToRead,
  type Connections,
  type SqliteHandle,
} from './connection/open.ts'
import { completeSqlite, type CompleteSqlite, type SqliteOptions } from './connection/options.ts'
import { OpenTables } from './open-tables.ts'
import { ReadSnapshot } from './reading/read-snapshot.ts'
import { plainReads, threadedReads, type Reads } from './reading/reads.ts'
import { createSchema } from '../../schema/sqlite/database.ts'
import { ReadSession } from './reading/read-session.ts'
import { WriteSession } from './writing/write-session.ts'
import { openTransaction } from './writing/transaction.ts'
import { TableClock } from './connection/table-clock.ts'
import { Writer } from './writing/writer.ts'
import { WrittenTables } from './writing/written-tables.ts'

/**
 * Keeps collections in a SQLite database: a file by name (also `:memory:`), or an open handle of
 * better-sqlite3 or `node:sqlite`. A file is opened at once in WAL mode, with one connection for writes
 * and one for reads, and closed by `close`. A handle is not closed and keeps its journal mode. Its busy
 * timeout is set to 0. Foreign keys are switched on, or off with `foreignKeys: false`, also on a handle.
 *
 * ```ts
 * const storage = sqliteStorage('northwind.db', { ensureSchema: true })
 * ```
 */
export function sqliteStorage(
  source: string | SqliteHandle,
  options: SqliteOptions = {},
): StorageAdapter {
  const complete = completeSqlite(options)
  const connections =
    commandUse() === 'read' ? openToRead(source, complete) : openConnections(source, complete)
  const storage = new SqliteStorage(connections, complete)
  return markSelfChecking({
    name: 'sqlite',
    supports: {
      textPages: true,
      durable: connections.durable,
      generatedNumbers: true,
      columnDefaults: true,
      conditions: everyCondition,
    },
    open: storage.open,
    advice: storage.advice,
    enforces: storage.enforces,
    tableOf: ({ table }) => folded(table),
    filter: storage.filter,
    // Code that writes through a handle commits on this connection, where the clock does not notice it.
    ...(connections.reader !== connections.writer && {
      version: storage.version,
    }),
    filterText: storage.filterText,
    filterTexts: storage.filterTexts,
    filterRelated: storage.filterRelated,
    inspect: storage.inspect,
    transaction: storage.transaction,
    close: storage.close,
  })
}

/**
 * Returns the CREATE statements of every stored collection, for applications that create their tables
 * themselves instead of setting `ensureSchema`.
 */
export function sqliteSchema(applications: ApplicationDefinitions): string {
  const collections = publishApplications(applications).filter(
    ({ definition }) => !isServed(definition),
  )
  return `${createSchema(collections).join('\n\n')}\n`
}

// The functions of the port are fields, so that the adapter can have them without a further call.
/** The connections of one database, and what reads and writes through them. */
class SqliteStorage {
  readonly #connections: Connections
  readonly #busyTimeout: number
  readonly #viewTime: number
  readonly #tables: OpenTables
  readonly #snapshot: ReadSnapshot
  readonly #reads: Reads
  readonly #writer: Writer
  readonly #clock: TableClock
  #closing: Promise<void> | undefined

  constructor(connections: Connections, options: CompleteSqlite) {
    const { writer: connection, reader, durable } = connections
    const { busyTimeout, queueTimeout, lockTimeout, maxStaleness, scanTimeout } = options
    const tables = new OpenTables(connections, options)
    const written = new WrittenTables(connection)
    const session = new WriteSession(connection, tables, written)
    const snapshot = new ReadSnapshot(reader, maxStaleness)
    this.#connections = connections
    this.#busyTimeout = busyTimeout
    this.#viewTime = scanTimeout
    this.#tables = tables
    this.#snapshot = snapshot
    this.#reads =
      reader === connection
        ? plainReads(session.reads)
        : threadedReads(reader, new ReadSession(reader, tables, snapshot), options)
    const constraints = constraintFields(connection)
    this.#writer = new Writer(connection, {
      open: (lock) => openTransaction(session, constraints, lock),
      limits: { busy: busyTimeout, queue: queueTimeout, lock: lockTimeout },
      isShared: durable,
      sharesCommits: () => !tables.defersConstraints(),
      began: () => written.refresh(),
      // A commit may run a checkpoint, which an older read transaction would keep incomplete.
      committing: () => snapshot.end(),
      committed: () => this.#clock.committed(),
    })
    this.#clock = new TableClock(connection, {
      written,
      isFrozen: () => this.#writer.isFrozen(),
      othersCommitted: () => snapshot.end(),
      maxStaleness,
    })
  }

  readonly open: StorageAdapter['open'] = (all, readOnly) =>
    this.#retried(
      this.#betweenTransactions(() => {
        const { tables, collections } = this.#tables.open(all, readOnly)
        this.#clock.opened(tables, collections)
        this.#reads.opened(tables, collections)
        this.#snapshot.end()
      }),
    )

  readonly advice: Required<StorageAdapter>['advice'] = () => this.#tables.advice

  readonly enforces: Required<StorageAdapter>['enforces'] = (reference) =>
    this.#tables.enforced.has(reference)

  readonly filter: StorageAdapter['filter'] = (collection, query, context) =>
    this.#read(() => this.#reads.filter(collection, query, context))

  readonly filterText: Required<StorageAdapter>['filterText'] = (collection, query, context) =>
    this.#read(() => this.#reads.filterText(collection, query, context))

  readonly filterTexts: Required<StorageAdapter>['filterTexts'] = (collection, queries) =>
    this.#read(() => this.#reads.filterTexts(collection, queries))

  readonly filterRelated: Required<StorageAdapter>['filterRelated'] = (
    collection,
    query,
    relations,
  ) => this.#read(() => this.#reads.filterRelated(collection, query, relations))

  readonly version: Required<StorageAdapter>['version'] = (collections) =>
    this.#clock.version(collections)

  readonly inspect: Required<StorageAdapter>['inspect'] = (collections, progress) =>
    inspectTables(
      collections,
      {
        read: async (work) => this.#read(() => work(this.#connections.reader)),
        viewTime: this.#viewTime,
      },
      progress,
    )

  readonly transaction: StorageAdapter['transaction'] = (options, work) =>
    this.#writer.transaction(options, work)

  readonly close: StorageAdapter['close'] = () => (this.#closing ??= this.#closeAll())

  #read<Result>(work: () => MaybePromise<Result>): MaybePromise<Result> {
    const { reader, writer } = this.#connections
    return this.#retried(reader === writer ? this.#betweenTransactions(work) : work)
  }

  #retried<Result>(work: () => MaybePromise<Result>): MaybePromise<Result> {
    if (this.#closing !== undefined) return Promise.reject(closedError())
    const result = retryWhileBusy(work, this.#busyTimeout)
    if (!(result instanceof Promise)) return result
    return result.catch((error: unknown) => {
      throw storageFailure(error, 'read')
    })
  }

  // With one connection, a read during a transaction would see uncommitted changes.
  #betweenTransactions<Result>(work: () => MaybePromise<Result>): () => MaybePromise<Result> {
    const guarded = (): MaybePromise<Result> => {
      if (this.#connections.writer.inTransaction()) throw handleInUse()
      return work()
    }
    return () => this.#writer.between(guarded)
  }

  async #closeAll(): Promise<void> {
    await this.#writer.close()
    await this.#reads.close()
    this.#snapshot.end()
    const { owned, reader, writer } = this.#connections
    if (!owned) return
    if (reader !== writer) reader.close()
    writer.close()
  }
}
