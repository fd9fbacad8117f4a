import type { PublishedCollection, Reference } from '../../definition/published.ts'
import { everyCondition } from '../../request/query.ts'
import type { StorageAdvice } from '../../observation/reports.ts'
import { isEnforced } from '../../schema/compare.ts'
import { inspectServerTables } from '../../schema/inspect-server.ts'
import { foldedNames, type Table } from '../../schema/model.ts'
import { conditionAdvice } from '../../schema/unindexed-conditions.ts'
import {
  isStorageError,
  type ReadContext,
  type StorageAdapter,
  type StoragePage,
  type StorageQuery,
  type StorageTextPage,
} from '../adapter.ts'
import { checkedStorage, transactionChecker } from '../layers/checked.ts'
import { markSelfChecking } from '../layers/self-checking.ts'
import type { Isolation, Tables } from '../sql/dialect.ts'
import { statementTexts } from '../sql/shape.ts'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import { storageFailure } from './failure.ts'
import { JoinedWrites } from './joined-writes.ts'
import { JoinedReads, type JoiningReads, type ReadRoute } from './joined-reads.ts'
import { joiningWrites } from './one-write.ts'
import { openTables } from './opening.ts'
import {
  estimateCount,
  foldedSearch,
  isEmpty,
  pageRead,
  readTogether,
  searchedDoubles,
  textPageRead,
  type Read,
} from './reads.ts'
import { readRelated } from './related.ts'
import { slowConditions } from '../sql/slow-conditions.ts'
import { adviceOf, slowOrders } from '../sql/slow-orders.ts'
import { canIncrement } from '../sql/write-statements.ts'
import { PoolTransaction } from './transaction.ts'

/** What {@link Read.page} is called with. */
type FoundRows = Parameters<Read<unknown>['page']>

/** What is prepared for a query. */
interface PlannedRead {
  readonly collection: PublishedCollection
  /** Weak, because clients choose the targets for which queries are planned. Texts in use are kept by their shape. */
  readonly read: WeakRef<Read<StorageTextPage | undefined>>
}

const noRows: StoragePage = { rows: [], count: null }

/** Creates the storage of a database. */
export function sqlStorage(database: Database): StorageAdapter {
  const { dialect, name } = database
  const storage = new SqlStorage(database)
  const adapter = checkedStorage({
    name,
    supports: {
      textPages: true,
      durable: true,
      generatedNumbers: true,
      columnDefaults: true,
      rowLocks: true,
      conditions: everyCondition,
    },
    advice: storage.advice,
    open: storage.open,
    enforces: storage.enforces,
    increments: storage.increments,
    tableOf: storage.tableOf,
    filter: storage.filter,
    ...(dialect.estimates !== undefined && { estimateCount: storage.estimateCount }),
    transaction: joiningWrites(storage.transaction, storage.joinedWrites()),
    ...(dialect.inspection !== undefined && { inspect: storage.inspect }),
    close: storage.close,
  })
  return markSelfChecking({
    ...adapter,
    warnings: database.warnings,
    connections: () => [{ name, ...database.load() }],
    filterText: storage.filterText,
    filterTexts: storage.filterTexts,
    filterRelated: storage.filterRelated,
  })
}

class SqlStorage {
  readonly #database: Database
  readonly #primary: ReadRoute
  readonly #rowReads: JoinedReads<FoundRows>
  readonly #textReads: JoinedReads<StorageTextPage | undefined>
  readonly #enforced = new Set<Reference>()
  readonly #changing = new WeakSet<Table>()
  #advice: readonly StorageAdvice[] = []
  #tables: Tables
  #isolation: Isolation = 'snapshot'
  // A planned query is frozen, and used again for each request with the same target.
  #planned = new WeakMap<StorageQuery, PlannedRead>()
  #closing: Promise<void> | undefined

  constructor(database: Database) {
    const { acquireTimeout, dialect, use } = database
    const names = foldedNames
    this.#database = database
    this.#primary = { use }
    const joining: JoiningReads = {
      run: (route, work, deadline) => this.#onConnection(work, route.use, deadline),
      join: dialect.joined,
      maxWait: acquireTimeout / 10,
    }
    this.#rowReads = new JoinedReads(joining)
    this.#textReads = new JoinedReads(joining)
    this.#tables = { dialect, texts: statementTexts(0), names, ...names([]) }
  }

  readonly open: StorageAdapter['open'] = (all, readOnly) =>
    this.#onConnection(async (connection) => {
      const { found, collections } = await openTables(this.#database, connection, all, readOnly)
      this.#tables = found
      this.#planned = new WeakMap()
      for (const { table: name } of collections) {
        const table = found.find(name)
        if (table?.runsCode === true) this.#changing.add(table)
      }
      for (const reference of collections.flatMap(({ references }) => references)) {
        if (isEnforced(reference, found)) this.#enforced.add(reference)
        // The service reads what it refers to, and what refers to a row before its delete: rows that others change.
        else this.#isolation = 'serializable'
      }
      this.#advice = collections.flatMap((collection) => [
        ...slowOrders(found, collection).map(adviceOf),
        ...slowConditions(found, collection).map(conditionAdvice),
      ])
      this.#database.opened(connection)
    })

  readonly advice = (): readonly StorageAdvice[] => this.#advice

  readonly enforces = (reference: Reference): boolean => this.#enforced.has(reference)

  readonly increments: Required<StorageAdapter>['increments'] = (collection, field) =>
    canIncrement(this.#tables, collection, field)

  readonly tableOf = ({ table }: PublishedCollection): string => this.#tables.identityOf(table)

  readonly filter: StorageAdapter['filter'] = async (collection, given, context) => {
    const query = foldedSearch(collection, given)
    const route = this.#routeOf(collection, context)
    const deadline = context?.deadline
    if (isEmpty(query))
      return this.#onConnection(() => Promise.resolve(noRows), route.use, deadline)
    // Two statements must read one state.
    if (searchedDoubles(collection, query).length > 0) {
      return this.#onConnection(
        (connection) =>
          new PoolTransaction(connection, this.#tables, {}).run((on) =>
            on.filter(collection, query),
          ),
        route.use,
        deadline,
      )
    }
    const { statement, page } = pageRead(this.#tables, collection, query)
    // Equal reads share what is read, but not their rows.
    const read = await this.#rowReads.read(
      route,
      { statement, page: (...found) => found },
      deadline,
    )
    return page(...read)
  }

  readonly filterText: NonNullable<StorageAdapter['filterText']> = (collection, given, context) => {
    const known = this.#planned.get(given)
    const read = known?.collection === collection ? known.read.deref() : undefined
    if (read !== undefined) {
      return this.#textReads.read(this.#routeOf(collection, context), read, context?.deadline)
    }
    const query = foldedSearch(collection, given)
    // A search for doubles needs two statements.
    if (isEmpty(query) || searchedDoubles(collection, query).length > 0) return undefined
    const made = textPageRead(this.#tables, collection, query)
    if (Object.isFrozen(given)) this.#planned.set(given, { collection, read: new WeakRef(made) })
    return this.#textReads.read(this.#routeOf(collection, context), made, context?.deadline)
  }

  readonly filterTexts: NonNullable<StorageAdapter['filterTexts']> = async (
    collection,
    queries,
    context,
  ) => {
    const reads = queries.map((query) => textPageRead(this.#tables, collection, query))
    const { use } = this.#routeOf(collection, context)
    const { joined, maxJoined } = this.#database.dialect
    try {
      const pages = await this.#onConnection(
        (connection) => readTogether(connection, reads, { join: joined, maxReads: maxJoined }),
        use,
        context?.deadline,
      )
      return pages?.every((page) => page !== undefined) === true ? pages : undefined
    } catch (error) {
      if (isStorageError(error) && error.kind === 'unavailable') throw error
      // Only one of them may be at fault.
      return undefined
    }
  }

  readonly filterRelated: NonNullable<StorageAdapter['filterRelated']> = async (
    collection,
    query,
    relations,
    context,
  ) => {
    // A replica may have the rows of one table and not yet those of another.
    const isPrimary = [collection, ...relations.map((one) => one.collection)].every(
      (one) => this.#routeOf(one, context) === this.#primary,
    )
    if (!isPrimary || isEmpty(query)) return undefined
    const page = { tables: this.#tables, collection, query, relations }
    return this.#onConnection(
      (connection) => readRelated(connection, page),
      this.#primary.use,
      context?.deadline,
    )
  }

  readonly estimateCount: NonNullable<StorageAdapter['estimateCount']> = (collection, conditions) =>
    this.#onConnection(
      (connection) => estimateCount(connection, this.#tables, collection, conditions),
      this.#database.reading?.(collection).use,
    )

  readonly transaction: StorageAdapter['transaction'] = async (options, work) => {
    const { mode, oneWrite, deadline } = options
    const run = { began: false }
    try {
      return await this.#database.use((connection) => {
        run.began = true
        const own =
          mode === 'write' ? { oneWrite, isolation: this.#isolation, changing: this.#changing } : {}
        return new PoolTransaction(connection, this.#tables, own).run(work)
      }, deadline)
    } catch (error) {
      // An error of the work is passed on unchanged.
      throw run.began ? error : storageFailure(this.#database.dialect.errors, error, 'read')
    }
  }

  joinedWrites(): JoinedWrites {
    return new JoinedWrites({
      use: this.#database.use,
      tablesNow: () => this.#tables,
      changing: this.#changing,
      checked: transactionChecker(this.#database.name),
    })
  }

  readonly inspect: NonNullable<StorageAdapter['inspect']> = async (collections, progress) => {
    const onConnection = <Result>(work: (connection: Connection) => Promise<Result>) =>
      this.#onConnection(work)
    const found = await onConnection((connection) =>
      this.#database.readTables(connection, collections),
    )
    return inspectServerTables(onConnection, found, collections, progress)
  }

  readonly close: StorageAdapter['close'] = () => (this.#closing ??= this.#database.close())

  async #onConnection<Result>(
    work: (connection: Connection) => Promise<Result>,
    from = this.#database.use,
    deadline?: number,
  ): Promise<Result> {
    try {
      return await from(work, deadline)
    } catch (error) {
      throw storageFailure(this.#database.dialect.errors, error, 'read')
    }
  }

  /** Returns how a read gets its connection. Reads of requests, which have a context, may use a replica. */
  #routeOf(collection: PublishedCollection, context: ReadContext | undefined): ReadRoute {
    return (context && this.#database.reading?.(collection)) ?? this.#primary
  }
}
