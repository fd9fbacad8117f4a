import type { ApplicationDefinitions } from '../../definition/application.ts'
import { publishApplications } from '../../definition/publish-applications.ts'
import type { PublishedCollection, Reference } from '../../definition/published.ts'
import { isServed } from '../../definition/serve.ts'
import type { StorageWarning } from '../../observation/reports.ts'
import { everyCondition } from '../../request/query.ts'
import {
  isStorageError,
  type ReadContext,
  type StorageAdapter,
  type StoragePage,
  type StorageQuery,
  type StorageTextPage,
} from '../adapter.ts'
import { markSelfChecking } from '../layers/self-checking.ts'
import { checkedStorage, transactionChecker } from '../layers/checked.ts'
import type { ReadOnlyOpening } from '../read-only-opening.ts'
import type { Connection, Connections, TextRow } from './connection.ts'
import type { Dialect, Isolation, Tables } from '../sql/dialect.ts'
import { messageOf, storageFailure } from './failure.ts'
import { inspectServerTables } from '../../schema/inspect-server.ts'
import { unfilled } from '../../schema/column-values.ts'
import { joinedInserts } from './joined-inserts.ts'
import { joinedReads, type JoinReads, type ReadRoute } from './joined-reads.ts'
import { joiningInserts } from './one-write.ts'
import {
  estimateCount,
  foldedSearch,
  isEmpty,
  pageRead,
  searchedDoubles,
  textPageRead,
  type Read,
} from './reads.ts'
import { nothingLacks, unfilledMistake } from '../../schema/required-columns.ts'
import { countLacking } from '../../schema/apply.ts'
import { isEnforced } from '../../schema/compare.ts'
import { definitionMistakes, tableMistakes } from '../../schema/mistakes.ts'
import { foldedNames, type Table } from '../../schema/model.ts'
import { createTables, missingStatements } from '../../schema/missing-statements.ts'
import { statementTexts } from '../sql/shape.ts'
import { PoolTransaction } from './transaction.ts'

/** A database that is reached through a pool of connections. */
export interface Database extends Connections {
  /** The name of the storage, for messages. */
  readonly name: string
  readonly dialect: Dialect
  readonly warnings: readonly StorageWarning[]
  /** Missing tables are created; `columns`: missing columns too. */
  readonly ensureSchema: boolean | 'columns'
  /** Milliseconds that a call waits for a connection. */
  readonly acquireTimeout: number
  /**
   * Returns how a read of a request gets its connection, which may be that of a replica. The read is outside of
   * transactions. Default: as every other call.
   */
  reading?(collection: PublishedCollection): ReadRoute
  /** Called when the storage was opened with a connection. */
  opened(connection: Connection): void
  /** Returns what is wrong with the database itself. */
  mistakes(connection: Connection): Promise<readonly string[]>
  readTables(connection: Connection, collections: readonly PublishedCollection[]): Promise<Tables>
  /** Runs work that changes the schema, while no other process does. */
  changeSchema(connection: Connection, work: () => Promise<void>): Promise<void>
}

/** What is prepared for a query. */
interface PlannedRead {
  readonly collection: PublishedCollection
  /** Weak, because clients choose the targets for which queries are planned. Texts in use are kept by their shape. */
  readonly read: WeakRef<Read<StorageTextPage | undefined>>
}

const noRows: StoragePage = { rows: [], count: null }

/** Creates the storage of a database. */
export function sqlStorage(database: Database): StorageAdapter {
  const { dialect, ensureSchema, use } = database
  const primary: ReadRoute = { use }
  const joinRows = joinedReads<readonly TextRow[]>(database.acquireTimeout / 10)
  const joinTexts = joinedReads<StorageTextPage | undefined>(database.acquireTimeout / 10)
  let tables: Tables = { dialect, texts: statementTexts(0), names: foldedNames, ...foldedNames([]) }
  const enforced = new Set<Reference>()
  const changing = new WeakSet<Table>()
  const checked = transactionChecker(database.name)
  let isolation: Isolation = 'snapshot'
  // A planned query is frozen, and used again for each request with the same target.
  let planned = new WeakMap<StorageQuery, PlannedRead>()
  let closing: Promise<void> | undefined

  async function opened(
    connection: Connection,
    all: readonly PublishedCollection[],
    readOnly: ReadOnlyOpening | undefined,
  ) {
    throwMistakes(dialect, [
      ...definitionMistakes(dialect, all),
      ...(await database.mistakes(connection)),
    ])
    const { found, collections } =
      readOnly === undefined
        ? { found: await prepared(connection, all), collections: all }
        : await unchanged(connection, all, readOnly)
    throwMistakes(dialect, tableMistakes(found, collections))
    tables = found
    planned = new WeakMap()
    for (const { table: name } of collections) {
      const table = found.find(name)
      if (table?.runsCode === true) changing.add(table)
    }
    for (const reference of collections.flatMap(({ references }) => references)) {
      if (isEnforced(reference, found)) enforced.add(reference)
      // The service reads what it refers to, and what refers to a row before its delete: rows that others change.
      else isolation = 'serializable'
    }
    database.opened(connection)
  }

  const addsColumns = ensureSchema === 'columns'

  /** Returns the tables as they are, and the collections that can be read. */
  async function unchanged(
    connection: Connection,
    collections: readonly PublishedCollection[],
    { missing }: ReadOnlyOpening,
  ) {
    const found = await database.readTables(connection, collections)
    if (ensureSchema === false) return { found, collections }
    const absent = collections.filter(
      ({ table, hasColumnDefaults }) => found.find(table) === undefined && !hasColumnDefaults,
    )
    for (const collection of absent) missing(collection)
    const present = collections.filter((collection) => !absent.includes(collection))
    // What is missing in their tables is added when the service starts.
    const isComplete = missingStatements(found, present, { addsColumns }).length === 0
    return { found, collections: isComplete ? present : [] }
  }

  async function prepared(
    connection: Connection,
    collections: readonly PublishedCollection[],
  ): Promise<Tables> {
    const found = await database.readTables(connection, collections)
    const isComplete = missingStatements(found, collections, { addsColumns }).length === 0
    if (ensureSchema === false || isComplete) return found
    await database.changeSchema(connection, async () => {
      const present = await database.readTables(connection, collections)
      const lacking = addsColumns
        ? await countLacking(connection, present, collections, 'absent')
        : nothingLacks
      const empty = unfilled(present, collections, lacking).filter(({ statement }) => !statement)
      throwMistakes(dialect, empty.map(unfilledMistake))
      for (const statement of missingStatements(present, collections, { addsColumns, lacking })) {
        await connection.change(statement).catch((error: unknown) => {
          throw schemaFailure(dialect, error, statement)
        })
      }
    })
    return database.readTables(connection, collections)
  }

  async function onConnection<Result>(
    work: (connection: Connection) => Promise<Result>,
    from = use,
  ): Promise<Result> {
    try {
      return await from(work)
    } catch (error) {
      throw storageFailure(dialect.errors, error, 'read')
    }
  }

  // The context is that of a request.
  function routeOf(collection: PublishedCollection, context: ReadContext | undefined): ReadRoute {
    return (context && database.reading?.(collection)) ?? primary
  }

  /** Runs a read outside of transactions, or joins an equal one. */
  function readOnce<Result>(
    join: JoinReads<Result>,
    route: ReadRoute,
    { statement, page }: Read<Result>,
  ): Promise<Result> {
    return join(route, statement, (begin) => {
      const rows = onConnection((connection) => {
        begin()
        return connection.rows(statement)
      }, route.use)
      return rows.then(page)
    })
  }

  const transaction: StorageAdapter['transaction'] = async ({ mode, oneWrite }, work) => {
    const run = { began: false }
    try {
      return await use((connection) => {
        run.began = true
        const own = mode === 'write' ? { oneWrite, isolation, changing } : {}
        return new PoolTransaction(connection, tables, own).run(work)
      })
    } catch (error) {
      // An error of the work is passed on unchanged.
      throw run.began ? error : storageFailure(dialect.errors, error, 'read')
    }
  }

  const adapter = checkedStorage({
    name: database.name,
    supports: {
      textPages: true,
      durable: true,
      generatedNumbers: true,
      columnDefaults: true,
      rowLocks: true,
      conditions: everyCondition,
    },
    open: (collections, readOnly) =>
      onConnection((connection) => opened(connection, collections, readOnly)),
    enforces: (reference) => enforced.has(reference),
    tableOf: ({ table }) => tables.identityOf(table),
    async filter(collection, given, context) {
      const query = foldedSearch(collection, given)
      const route = routeOf(collection, context)
      if (isEmpty(query)) return onConnection(() => Promise.resolve(noRows), route.use)
      // Two statements must read one state.
      if (searchedDoubles(collection, query).length > 0) {
        return onConnection(
          (connection) =>
            new PoolTransaction(connection, tables, {}).run((on) => on.filter(collection, query)),
          route.use,
        )
      }
      const { statement, page } = pageRead(tables, collection, query)
      return page(await readOnce(joinRows, route, { statement, page: (rows) => rows }))
    },
    ...(dialect.estimates !== undefined && {
      estimateCount: (collection, conditions) =>
        onConnection(
          (connection) => estimateCount(connection, tables, collection, conditions),
          database.reading?.(collection).use,
        ),
    }),
    transaction:
      dialect.writes.joins === undefined
        ? transaction
        : joiningInserts(
            transaction,
            joinedInserts({ use, tablesNow: () => tables, changing, checked }),
          ),
    ...(dialect.inspection !== undefined && {
      inspect: async (collections, progress) => {
        const found = await onConnection((connection) =>
          database.readTables(connection, collections),
        )
        return inspectServerTables(onConnection, found, collections, progress)
      },
    }),
    close: () => (closing ??= database.close()),
  })

  return markSelfChecking({
    ...adapter,
    warnings: database.warnings,
    connections: () => [{ name: database.name, ...database.load() }],
    filterText(collection, given, context) {
      const known = planned.get(given)
      const read = known?.collection === collection ? known.read.deref() : undefined
      if (read !== undefined) return readOnce(joinTexts, routeOf(collection, context), read)
      const query = foldedSearch(collection, given)
      // A search for doubles needs two statements.
      if (isEmpty(query) || searchedDoubles(collection, query).length > 0) return undefined
      const made = textPageRead(tables, collection, query)
      if (Object.isFrozen(given)) planned.set(given, { collection, read: new WeakRef(made) })
      return readOnce(joinTexts, routeOf(collection, context), made)
    },
  })
}

/** Returns the CREATE statements of every stored collection. */
export function schemaText(dialect: Dialect, applications: ApplicationDefinitions): string {
  const collections = publishApplications(applications).filter(
    ({ definition }) => !isServed(definition),
  )
  throwMistakes(dialect, definitionMistakes(dialect, collections))
  return `${createTables(dialect, collections).join('\n\n')}\n`
}

function schemaFailure({ errors, storage }: Dialect, error: unknown, statement: string): unknown {
  const converted = storageFailure(errors, error, 'read')
  if (isStorageError(converted) && converted.kind === 'unavailable') return converted
  return new TypeError(`${storage}: this statement failed: ${messageOf(error)}\n${statement}`, {
    cause: error,
  })
}

function throwMistakes({ storage }: Dialect, mistakes: readonly string[]): void {
  if (mistakes.length === 0) return
  throw new TypeError(`${storage}: the tables do not fit.\n- ${mistakes.join('\n- ')}`)
}
