import type { PublishedCollection } from '../../src/definition/published.ts'
import type { MaybePromise } from '../../src/maybe-promise.ts'
import type {
  Condition,
  Row,
  StorageAdapter,
  StoragePage,
  StorageQuery,
  StorageReader,
  StorageTransaction,
} from '../../src/storage/adapter.ts'
import { memoryStorage } from '../../src/storage/memory/memory.ts'
import { changedCondition, lenient, reordered, textsOf } from './broken-queries.ts'

/** An adapter with one defect. */
export interface BrokenAdapter {
  readonly defect: string
  /** Matches the name of the first case that fails: the case about the defect. */
  readonly root: RegExp
  readonly create: () => StorageAdapter
}

type Filter = StorageReader['filter']
type Wrap = (inner: StorageTransaction) => StorageTransaction

/** Memory with changed queries, outside of transactions and inside. */
export function withFilter(change: (filter: Filter) => Filter): StorageAdapter {
  return withTransaction(change, (on) => ({ ...on, filter: change(on.filter.bind(on)) }))
}

/** Memory with changed transactions and, optionally, changed queries outside of them. */
export function withTransaction(change: (filter: Filter) => Filter, wrap: Wrap): StorageAdapter {
  const memory = memoryStorage()
  return {
    ...memory,
    filter: change(memory.filter.bind(memory)),
    transaction: (options, work) => memory.transaction(options, (on) => work(wrap(on))),
  }
}

/** Does not change queries. */
export const same = (filter: Filter): Filter => filter

/** Changes each query. */
export const changingQuery =
  (change: (query: StorageQuery, collection: PublishedCollection) => StorageQuery) =>
  (filter: Filter): Filter =>
  (collection, query) =>
    filter(collection, change(query, collection))

/** Changes each row that is returned. */
export const changingRows =
  (change: (row: Row, collection: PublishedCollection) => Row) =>
  (filter: Filter): Filter =>
  async (collection, query) => {
    const page = await filter(collection, query)
    return { ...page, rows: page.rows.map((row) => change(row, collection)) }
  }

/** The members of a query that select all rows. */
export const everyRow = { conditions: [], search: null, limit: 100_000, offset: 0 } as const

/** Memory with lenient conditions or searches. */
export function withLenience(how: Parameters<typeof lenient>[0]): StorageAdapter {
  return withFilter((filter) => async (collection, query) => {
    const all = await filter(collection, { ...query, ...everyRow })
    return lenient(how, collection, all.rows, query)
  })
}

/** Memory with changed conditions, also of updates and deletes. */
export function withConditions(change: (condition: Condition) => Condition): StorageAdapter {
  const changed = (conditions: readonly Condition[]): readonly Condition[] =>
    conditions.map((condition) => changedCondition(condition, change))
  const changeQuery = changingQuery((query) => ({
    ...query,
    conditions: changed(query.conditions),
  }))
  return withTransaction(changeQuery, (on) => ({
    ...on,
    filter: changeQuery(on.filter.bind(on)),
    update: (collection, conditions, changes) =>
      on.update(collection, changed(conditions), changes),
    delete: (collection, conditions) => on.delete(collection, changed(conditions)),
  }))
}

/** Memory with another sort order. */
export function withOrder(how: Parameters<typeof reordered>[0]): StorageAdapter {
  return withFilter((filter) => async (collection, query) => {
    const all = await filter(collection, { ...query, limit: 100_000, offset: 0 })
    const rows = reordered(how, all.rows, query, collection)
    return { ...all, rows: rows.slice(query.offset, query.offset + query.limit) }
  })
}

/** Memory that commits every call at once. */
export function withoutTransactions(): StorageAdapter {
  const memory = memoryStorage()
  const options = { mode: 'write', brief: true } as const
  const alone = <Value>(call: (on: StorageTransaction) => MaybePromise<Value>): Promise<Value> =>
    memory.transaction(options, async (on) => call(on))
  return {
    ...memory,
    transaction: async (_options, work) =>
      work({
        filter: memory.filter.bind(memory),
        insert: (collection, row) => alone((on) => on.insert(collection, row)),
        update: (collection, conditions, changes) =>
          alone((on) => on.update(collection, conditions, changes)),
        delete: (collection, conditions) => alone((on) => on.delete(collection, conditions)),
      }),
  }
}

/** Memory that commits although the work has failed. */
export function withoutRollback(): StorageAdapter {
  const memory = memoryStorage()
  return {
    ...memory,
    transaction: async (options, work) => {
      const outcome = await memory.transaction(options, async (on) => {
        try {
          return { result: await work(on) }
        } catch (error) {
          return { error }
        }
      })
      if ('error' in outcome) throw outcome.error
      return outcome.result
    },
  }
}

/** Memory whose reads outside see the transaction in progress. */
export function withDirtyReads(): StorageAdapter {
  const memory = memoryStorage()
  let current: StorageTransaction | undefined
  return {
    ...memory,
    filter: (collection, query) => (current ?? memory).filter(collection, query),
    transaction: async (options, work) => {
      try {
        return await memory.transaction(options, (on) => work((current = on)))
      } finally {
        current = undefined
      }
    },
  }
}

/** Memory with text pages whose items are changed. */
export function withText(change: (item: string) => string, select?: 'all'): StorageAdapter {
  const memory = memoryStorage()
  return {
    ...memory,
    supports: { ...memory.supports, textPages: true },
    filterText: async (collection, query) => {
      const page: StoragePage = await memory.filter(collection, query)
      const names = select === 'all' ? collection.allNames : query.select
      const items = textsOf(collection, page, names).map(change)
      return { items, count: page.count }
    },
  }
}

/** Returns a row with each value changed. */
export const mapped = (row: Row, change: (value: Row[string], name: string) => Row[string]): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, change(value, name)]))
