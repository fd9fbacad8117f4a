import type { MaybePromise } from '../maybe-promise.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Condition, Row, SortField, StorageQuery } from '../request/query.ts'
import type {
  StorageAbilities,
  StorageAdapter,
  StorageReader,
  StorageTransaction,
  TransactionOptions,
} from '../storage/adapter.ts'
import { ensure } from './assertion.ts'
import { rowOf } from './collections.ts'

/** One sentence of the contract, and the code that proves it. */
export interface ConformanceCase {
  readonly name: string
  /** The ability, or the option of the kit, without which the case does not apply. */
  readonly needs?: keyof StorageAbilities | 'another'
  run(subject: Subject): Promise<void>
}

/** The adapter under test: opened, and empty. */
export interface Subject {
  readonly adapter: StorageAdapter
  /** Closes the adapter, and opens another one over what it kept. */
  reopen(): Promise<StorageAdapter>
  /** Opens a second adapter over the same store, as another process would. */
  another(): Promise<StorageAdapter>
}

/** The parts of a query that a case is about. */
export interface PartialQuery {
  readonly conditions?: readonly Condition[]
  readonly search?: StorageQuery['search']
  readonly sort?: readonly SortField[]
  readonly limit?: number
  readonly offset?: number
  readonly select?: readonly string[]
  readonly count?: boolean
}

/** A transaction that writes, as most do. */
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

/** The rows that a query finds, each with the selected fields only. */
export async function find(
  reader: StorageReader,
  collection: PublishedCollection,
  given: PartialQuery = {},
): Promise<readonly Row[]> {
  const query = queryOf(collection, given)
  const page = await reader.filter(collection, query)
  return page.rows.map((row) => pick(row, query.select))
}

/** The values of one field in the rows that a query finds. */
export async function findValues(
  reader: StorageReader,
  collection: PublishedCollection,
  field: string,
  given: PartialQuery = {},
): Promise<readonly unknown[]> {
  const rows = await find(reader, collection, given)
  return rows.map((row) => row[field])
}

/** Stores rows, completed with null, in one transaction. */
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

/** Conditions that fields equal these values. */
export function equals(values: Row): readonly Condition[] {
  return Object.entries(values).map(([field, value]) => ({ field, is: 'equal', value }))
}

/** The named fields of a row, each of which it must have. */
export function pick(row: Row, names: readonly string[]): Row {
  const entries = names.map((name) => {
    ensure(
      Object.hasOwn(row, name) && row[name] !== undefined,
      `The row has no ${name}; a field without value is null.`,
    )
    return [name, row[name] ?? null] as const
  })
  return Object.fromEntries(entries)
}

/** Lets time pass. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
