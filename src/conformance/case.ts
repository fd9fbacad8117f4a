import type { MaybePromise } from '../maybe-promise.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Condition, Row, SortField, StorageQuery } from '../request/query.ts'
import { isStorageError } from '../storage/adapter.ts'
import type {
  StorageAbilities,
  StorageAdapter,
  StorageReader,
  StorageTransaction,
  TransactionOptions,
} from '../storage/adapter.ts'
import { ensure } from './assertion.ts'
import { rowOf } from './collections.ts'

/** One requirement of the contract, and the code that tests it. */
export interface ConformanceCase {
  readonly name: string
  /** The ability, the method or the option of the kit that the case requires. */
  readonly needs?: Exclude<keyof StorageAbilities, 'conditions'> | 'increments' | 'another'
  /** The kinds of conditions that the case requires, besides `equal` and `empty`. */
  readonly conditions?: readonly Condition['is'][]
  run(subject: Subject): Promise<void>
}

/** The adapter under test, opened and empty. */
export interface Subject {
  readonly adapter: StorageAdapter
  /** Closes the adapter and opens another one over the same data. */
  reopen(): Promise<StorageAdapter>
  /** Opens a second adapter over the same store, as another process would. */
  another(): Promise<StorageAdapter>
}

/** The parts of a query that a case sets. The others have defaults. */
export interface PartialQuery {
  readonly conditions?: readonly Condition[]
  readonly search?: StorageQuery['search']
  readonly sort?: readonly SortField[]
  readonly limit?: number
  readonly offset?: number
  readonly select?: readonly string[]
  readonly count?: boolean
}

/** The options of an ordinary write transaction. */
export const writing: TransactionOptions = { mode: 'write', brief: false }

/** Completes a query as the service does: its sort order always ends with the tie-breakers. */
export function queryOf(collection: PublishedCollection, given: PartialQuery = {}): StorageQuery {
  const sort = given.sort ?? []
  const ties = collection.tieBreakers
    .filter(({ name }) => sort.every(({ field }) => field !== name))
    .map(({ name }) => ({ field: name, descending: false }))
  return {
    conditions: given.conditions ?? [],
    search: given.search ?? null,
    sort: [...sort, ...ties],
    limit: given.limit ?? 1000,
    offset: given.offset ?? 0,
    select: given.select ?? collection.allNames,
    count: given.count ?? false,
  }
}

/** Returns the rows that a query finds, each with the selected fields only. */
export async function find(
  reader: StorageReader,
  collection: PublishedCollection,
  given: PartialQuery = {},
): Promise<readonly Row[]> {
  const query = queryOf(collection, given)
  const page = await reader.filter(collection, query)
  return page.rows.map((row) => pick(row, query.select))
}

/** Returns the values of one field in the rows that a query finds. */
export async function findValues(
  reader: StorageReader,
  collection: PublishedCollection,
  field: string,
  given: PartialQuery = {},
): Promise<readonly unknown[]> {
  const rows = await find(reader, collection, given)
  return rows.map((row) => row[field])
}

/** Inserts rows in one transaction. Fields that are not given are null. */
export function store(
  adapter: StorageAdapter,
  collection: PublishedCollection,
  rows: readonly Row[],
): Promise<void> {
  return adapter.transaction(writing, async (transaction) => {
    for (const row of rows) await transaction.insert(collection, rowOf(collection, row))
  })
}

/** Runs one call in a transaction of its own. */
export function write<Value>(
  adapter: StorageAdapter,
  call: (transaction: StorageTransaction) => MaybePromise<Value>,
): Promise<Value> {
  return adapter.transaction(writing, async (transaction) => call(transaction))
}

/** Returns conditions that the fields equal these values. */
export function equals(values: Row): readonly Condition[] {
  return Object.entries(values).map(([field, value]) => ({ field, is: 'equal', value }))
}

/** Returns the named fields of a row. Throws if one is absent. */
export function pick(row: Row, names: readonly string[]): Row {
  const entries = names.map((name) => {
    ensure(
      Object.hasOwn(row, name) && row[name] !== undefined,
      `The row has no ${name}. A field without value must be null.`,
    )
    return [name, row[name] ?? null] as const
  })
  return Object.fromEntries(entries)
}

/** Resolves after a time in milliseconds. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/** Repeats a transaction that storage rejects with `unavailable`, for instance because its reads are stale. */
export async function retried<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      if (!isStorageError(error) || error.kind !== 'unavailable' || attempt === 200) throw error
      await pause(attempt % 5)
    }
  }
}
