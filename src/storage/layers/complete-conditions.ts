import type { PublishedCollection } from '../../definition/published.ts'
import { fieldsIn, type MeetsThrough } from '../../request/meets.ts'
import { pageOfRows } from '../../request/page-of-rows.ts'
import {
  equal,
  everyCondition,
  oneItem,
  plainConditions,
  type Condition,
  type Row,
} from '../../request/query.ts'
import { throughIn } from '../../request/rows.ts'
import type { StorageAdapter, StoragePage, StorageQuery } from '../adapter.ts'
import { isSelfChecking } from './self-checking.ts'
import type { StorageReader, StorageTransaction } from '../adapter.ts'

/** The most rows that are read to complete the conditions of one query. */
export const maxCompletedRows = 10_000

/**
 * Wraps an adapter that lacks kinds of conditions: rows that meet the others are read, at most 10,000, and the
 * rest is evaluated here. If there are more, those that have each value of a list are read. A query that
 * needs more rows for other conditions rejects. Returns an adapter that has all kinds, and a built-in one,
 * unchanged.
 */
export function completeConditions(adapter: StorageAdapter): StorageAdapter {
  const { conditions: kinds = plainConditions } = adapter.supports
  if (isSelfChecking(adapter) || everyCondition.every((kind) => kinds.includes(kind)))
    return adapter
  const completion = new Completion(adapter.name, kinds)
  return {
    ...adapter,
    supports: { ...adapter.supports, conditions: everyCondition },
    filter: (collection, query, context) => {
      if (completion.isComplete(query.conditions)) return adapter.filter(collection, query, context)
      if (throughIn(query.conditions).length === 0)
        return completion.filter(adapter, collection, query)
      // The rows of both collections must be of the same state.
      return adapter.transaction({ mode: 'read', brief: true }, (on) =>
        completion.filter(on, collection, query),
      )
    },
    ...(adapter.filterText !== undefined && {
      filterText: (collection, query, context) =>
        completion.isComplete(query.conditions)
          ? adapter.filterText?.(collection, query, context)
          : undefined,
    }),
    ...(adapter.filterTexts !== undefined && {
      filterTexts: (collection, queries, context) =>
        queries.every(({ conditions }) => completion.isComplete(conditions))
          ? adapter.filterTexts?.(collection, queries, context)
          : undefined,
    }),
    ...(adapter.filterRelated !== undefined && {
      filterRelated: (collection, query, relations, context) =>
        [query, ...relations.map((one) => one.query)].every(({ conditions }) =>
          completion.isComplete(conditions),
        )
          ? adapter.filterRelated?.(collection, query, relations, context)
          : undefined,
    }),
    ...(adapter.estimateCount !== undefined && {
      estimateCount: (collection, conditions) =>
        completion.isComplete(conditions)
          ? adapter.estimateCount?.(collection, conditions)
          : undefined,
    }),
    transaction: (options, work) =>
      adapter.transaction(options, (on) => work(completion.transaction(on))),
  }
}

/** Completes conditions for an adapter that has these kinds of them. */
class Completion {
  readonly #adapter: string
  readonly #kinds: readonly Condition['is'][]

  constructor(adapter: string, kinds: readonly Condition['is'][]) {
    this.#adapter = adapter
    this.#kinds = kinds
  }

  /** Returns whether the adapter has the kinds of all conditions. */
  isComplete(conditions: readonly Condition[]): boolean {
    return conditions.every(this.#isSupported)
  }

  /** Reads a page, and evaluates the conditions that the adapter lacks. */
  async filter(
    reader: StorageReader,
    collection: PublishedCollection,
    query: StorageQuery,
  ): Promise<StoragePage> {
    if (this.isComplete(query.conditions)) return reader.filter(collection, query)
    const rest = query.conditions.filter((condition) => !this.#isSupported(condition))
    const supported = query.conditions.filter(this.#isSupported)
    const read = async (conditions: readonly Condition[]): Promise<readonly Row[]> => {
      const names = [...query.sort.map(({ field }) => field), ...rest.flatMap(fieldsIn)]
      const select = [...new Set([...query.select, ...names])]
      const all = { ...query, conditions, limit: maxCompletedRows + 1, offset: 0 }
      return (await reader.filter(collection, { ...all, select, count: false })).rows
    }
    let rows = await read(supported)
    const list = rest.find((condition) => condition.is === 'in')
    if (rows.length > maxCompletedRows && list !== undefined) {
      const found: Row[] = []
      for (const value of new Set(list.values)) {
        const own = await read([...supported, equal(list.field, value)])
        if (own.length > maxCompletedRows) throw this.#tooManyRows(collection, rest)
        found.push(...own)
        if (rest.length > 1 && found.length > maxCompletedRows) break
      }
      rows = found
      if (rest.length === 1)
        return pageOfRows(collection, rows, { ...query, conditions: rest, search: null })
    }
    if (rows.length > maxCompletedRows) throw this.#tooManyRows(collection, rest)
    const through = await this.#throughRows(reader, rest)
    return pageOfRows(collection, rows, { ...query, conditions: rest, search: null }, through)
  }

  /** Wraps a transaction of the adapter. */
  transaction(on: StorageTransaction): StorageTransaction {
    return {
      insert: (collection, row) => on.insert(collection, row),
      filter: (collection, query) =>
        this.isComplete(query.conditions)
          ? on.filter(collection, query)
          : this.filter(on, collection, query),
      update: (collection, conditions, ...changes) =>
        this.isComplete(conditions)
          ? on.update(collection, conditions, ...changes)
          : this.#write(on, collection, conditions, (own) =>
              on.update(collection, own, ...changes),
            ),
      ...(on.updateText !== undefined && {
        updateText: (collection, conditions, changes, select) =>
          this.isComplete(conditions)
            ? on.updateText?.(collection, conditions, changes, select)
            : undefined,
      }),
      delete: (collection, conditions) =>
        this.isComplete(conditions)
          ? on.delete(collection, conditions)
          : this.#write(on, collection, conditions, (own) => on.delete(collection, own)),
    }
  }

  readonly #isSupported = (condition: Condition): boolean => isWithin(this.#kinds, condition)

  /** Reads the keys of the rows of other collections that conditions go through. */
  async #throughRows(reader: StorageReader, rest: readonly Condition[]): Promise<MeetsThrough> {
    const keys = new Map<Condition, ReadonlySet<string>>()
    for (const condition of throughIn(rest)) {
      const { collection, conditions } = condition
      const names = collection.key.map(({ name }) => name)
      const { rows } = await this.filter(reader, collection, {
        ...oneItem(conditions, names),
        sort: names.map((field) => ({ field, descending: false })),
        limit: maxCompletedRows + 1,
      })
      if (rows.length > maxCompletedRows) throw this.#tooManyRows(collection, [condition])
      const texts = rows.map((row) => JSON.stringify(names.map((name) => row[name])))
      keys.set(condition, new Set(texts))
    }
    return (condition, key) => keys.get(condition)?.has(JSON.stringify(key)) === true
  }

  /** Writes with the conditions that the adapter has. Resolves to undefined if the row does not meet the rest. */
  async #write(
    on: StorageTransaction,
    collection: PublishedCollection,
    conditions: readonly Condition[],
    work: (conditions: readonly Condition[]) => ReturnType<StorageTransaction['delete']>,
  ): Promise<Row | undefined> {
    const names = collection.key.map(({ name }) => name)
    const { rows } = await this.filter(on, collection, oneItem(conditions, names))
    return rows.length === 0 ? undefined : work(conditions.filter(this.#isSupported))
  }

  #tooManyRows({ application, name }: PublishedCollection, rest: readonly Condition[]): Error {
    const lacking = everyCondition.filter((kind) => !this.#kinds.includes(kind)).join(', ')
    const fields = [...new Set(rest.flatMap(fieldsIn))].join(', ')
    return new Error(
      `The storage adapter ${this.#adapter} lacks the conditions ${lacking}, and more than ${maxCompletedRows} rows of ${application}/${name} meet those that it has. The conditions on ${fields} can't be completed: add equalities, or these kinds to the adapter.`,
    )
  }
}

/** Returns whether a condition and those within it are of these kinds. */
function isWithin(kinds: readonly Condition['is'][], condition: Condition): boolean {
  if (!kinds.includes(condition.is)) return false
  if (condition.is === 'not') return isWithin(kinds, condition.condition)
  return !('conditions' in condition) || condition.conditions.every((one) => isWithin(kinds, one))
}
