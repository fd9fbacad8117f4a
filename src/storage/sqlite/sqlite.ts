import { commandUse } from '../../command-use.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import type { ApplicationDefinitions } from '../../definition/application.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import { publishApplications } from '../../definition/publish-applications.ts'
import type { PublishedCollection, Reference } from '../../definition/published.ts'
import { isServed } from '../../definition/serve.ts'
import { everyCondition } from '../../request/query.ts'
import type { StorageAdapter } from '../adapter.ts'
import { markSelfChecking } from '../layers/self-checking.ts'
import type { ReadOnlyOpening } from '../read-only-opening.ts'
import { isEnforced } from '../../schema/compare.ts'
import { tableMistakes } from '../../schema/mistakes.ts'
import { nothingLacks } from '../../schema/required-columns.ts'
import { missingStatements } from '../../schema/missing-statements.ts'
import { absentValues } from '../../schema/sqlite/column-values.ts'
import { rowsOf } from './connection/connection.ts'
import { constraintFields } from './writing/constraint-fields.ts'
import {
  closedError,
  handleInUse,
  retryWhileBusy,
  storageFailure,
  throwMistakes,
} from './connection/failure.ts'
import {
  exactColumns,
  fieldsWithoutNumbers,
  guaranteedFields,
  identitiesIn,
  readBackCollections,
  storedFields,
} from '../../schema/sqlite/guarantees.ts'
import { folded } from '../../schema/model.ts'
import { inspectTables } from '../../schema/sqlite/inspect.ts'
import { openConnections, openToRead, type SqliteHandle } from './connection/open.ts'
import { completeSqlite, type SqliteOptions } from './connection/options.ts'
import type { Guarantee } from './reading/guaranteed-values.ts'
import { readSnapshot } from './reading/read-snapshot.ts'
import { plainReads, threadedReads } from './reading/reads.ts'
import { createSchema } from '../../schema/sqlite/database.ts'
import { indexFailure } from '../../schema/sqlite/statements.ts'
import { searchIndexes } from './search/open-indexes.ts'
import { ReadSession } from './reading/read-session.ts'
import { WriteSession } from './writing/write-session.ts'
import { statementMistakes } from '../../schema/sqlite/statement-check.ts'
import { encodingMistake } from '../../schema/sqlite/read.ts'
import { readTables } from '../../schema/sqlite/read-tables.ts'
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
  const { busyTimeout, ensureSchema } = complete
  const {
    writer: connection,
    reader,
    owned,
    durable,
    absent,
  } = commandUse() === 'read' ? openToRead(source, complete) : openConnections(source, complete)
  const guaranteed = new Map<PublishedField, Guarantee>()
  const identities = new Map<PublishedCollection, readonly string[]>()
  const enforced = new Set<Reference>()
  let openCollections = 0
  const readBack = new Set<PublishedCollection>()
  const searches = searchIndexes(connection)
  const { searchIndexFor } = searches
  const opened = {
    guaranteed,
    identities,
    readBack,
    searchIndexFor,
    collections: () => openCollections,
  }
  const written = new WrittenTables(connection)
  const session = new WriteSession(connection, opened, written)
  const snapshot = readSnapshot(reader, complete.maxStaleness)
  const reads =
    reader === connection
      ? plainReads(session.reads)
      : threadedReads(reader, new ReadSession(reader, opened, snapshot), complete)
  const constraints = constraintFields(connection)
  let defersConstraints = false
  let closing: Promise<void> | undefined
  const writer = new Writer(connection, {
    open: (lock) => openTransaction(session, constraints, lock),
    limits: {
      busy: busyTimeout,
      queue: complete.queueTimeout,
      lock: complete.lockTimeout,
    },
    isShared: durable,
    sharesCommits: () => !defersConstraints,
    began: () => written.refresh(),
    // A commit may run a checkpoint, which an older read transaction would keep incomplete.
    committing: snapshot.end,
    committed: () => clock.committed(),
  })
  const clock = new TableClock(connection, {
    written,
    isFrozen: () => writer.isFrozen(),
    othersCommitted: snapshot.end,
    maxStaleness: complete.maxStaleness,
  })

  // With one connection, a read during a transaction would see uncommitted changes.
  function betweenTransactions<Result>(
    work: () => MaybePromise<Result>,
  ): () => MaybePromise<Result> {
    const guarded = (): MaybePromise<Result> => {
      if (connection.inTransaction()) throw handleInUse()
      return work()
    }
    return () => writer.between(guarded)
  }

  function retried<Result>(work: () => MaybePromise<Result>): MaybePromise<Result> {
    if (closing !== undefined) return Promise.reject(closedError())
    const result = retryWhileBusy(work, busyTimeout)
    if (!(result instanceof Promise)) return result
    return result.catch((error: unknown) => {
      throw storageFailure(error, 'read')
    })
  }

  function read<Result>(work: () => MaybePromise<Result>): MaybePromise<Result> {
    return retried(reader === connection ? betweenTransactions(work) : work)
  }

  /** Returns the collections whose tables exist or must exist. */
  function presentOf(
    all: readonly PublishedCollection[],
    readOnly: ReadOnlyOpening,
  ): readonly PublishedCollection[] {
    if (absent !== undefined && ensureSchema === false) {
      throw new Error(`sqliteStorage: the file ${absent} does not exist`)
    }
    if (ensureSchema === false) return all
    const tables = readTables(connection, all)
    const missing = all.filter(
      ({ table, hasColumnDefaults }) => tables.find(table) === undefined && !hasColumnDefaults,
    )
    for (const collection of missing) readOnly.missing(collection)
    return all.filter((collection) => !missing.includes(collection))
  }

  function prepareTables(
    all: readonly PublishedCollection[],
    readOnly: ReadOnlyOpening | undefined,
  ): void {
    const collections = readOnly === undefined ? all : presentOf(all, readOnly)
    const addsColumns = ensureSchema === 'columns'
    const mistake = encodingMistake(connection)
    if (mistake !== undefined) throw new TypeError(`sqliteStorage: ${mistake}`)
    searches.require(collections)
    let tables = readTables(connection, collections)
    // If nothing is missing, the start does not wait for the write lock.
    const isComplete =
      ensureSchema === false || missingStatements(tables, collections, { addsColumns }).length === 0
    if (!isComplete && readOnly === undefined) {
      connection.execute('BEGIN IMMEDIATE')
      try {
        const present = readTables(connection, collections)
        const lacking = addsColumns ? absentValues(connection, present, collections) : nothingLacks
        for (const statement of missingStatements(present, collections, { addsColumns, lacking }))
          executeSchema(statement)
        connection.execute('COMMIT')
      } finally {
        if (connection.inTransaction()) connection.execute('ROLLBACK')
      }
      tables = readTables(connection, collections)
    }
    const exact = exactColumns(tables, collections)
    const mistakes = [
      ...tableMistakes(tables, collections),
      ...statementMistakes(connection, tables, collections),
    ]
    // What is missing is added when the service starts.
    if (isComplete || readOnly === undefined) throwMistakes(mistakes)
    for (const field of storedFields(tables, collections)) guaranteed.set(field, 'stored')
    for (const field of fieldsWithoutNumbers(tables, collections))
      guaranteed.set(field, 'no-number')
    for (const field of guaranteedFields(tables, collections, exact)) guaranteed.set(field, 'fit')
    for (const [each, columns] of identitiesIn(tables, collections)) identities.set(each, columns)
    for (const each of collections.flatMap(({ references }) => references))
      if (isEnforced(each, tables)) enforced.add(each)
    for (const each of readBackCollections(tables, collections)) readBack.add(each)
    searches.opened(tables, collections)
    clock.opened(tables, collections)
    reads.opened(tables, collections)
    snapshot.end()
    openCollections = Math.max(openCollections, collections.length)
    const deferred = `SELECT 1 FROM sqlite_schema WHERE sql LIKE '%INITIALLY%DEFERRED%' LIMIT 1`
    defersConstraints = rowsOf(connection, deferred).length > 0
  }

  function executeSchema(statement: string): void {
    try {
      connection.execute(statement)
    } catch (error) {
      throw indexFailure(error, statement)
    }
  }

  async function closeAll(): Promise<void> {
    await writer.close()
    await reads.close()
    snapshot.end()
    if (!owned) return
    if (reader !== connection) reader.close()
    connection.close()
  }

  return markSelfChecking({
    name: 'sqlite',
    supports: {
      textPages: true,
      durable,
      generatedNumbers: true,
      columnDefaults: true,
      conditions: everyCondition,
    },
    open: (collections, readOnly) =>
      retried(betweenTransactions(() => prepareTables(collections, readOnly))),
    enforces: (reference) => enforced.has(reference),
    tableOf: ({ table }) => folded(table),
    filter: (collection, query, context) => read(() => reads.filter(collection, query, context)),
    // Other code may write through a handle, whose commits are those of the same connection.
    ...(reader !== connection && {
      version: (all) => clock.version(all),
    }),
    filterText: (collection, query, context) =>
      read(() => reads.filterText(collection, query, context)),
    inspect: (collections, progress) =>
      inspectTables(
        collections,
        { read: async (work) => read(() => work(reader)), viewTime: complete.scanTimeout },
        progress,
      ),
    transaction: (transactionOptions, work) => writer.transaction(transactionOptions, work),
    close: () => (closing ??= closeAll()),
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
