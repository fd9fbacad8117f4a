import type { PublishedCollection } from '../../src/definition/published.ts'
import { oneItem } from '../../src/request/query.ts'
import type {
  Condition,
  Row,
  StorageAdapter,
  StorageQuery,
  StorageTextPage,
  StorageTransaction,
} from '../../src/storage/adapter.ts'
import { memoryStorage } from '../../src/storage/memory/memory.ts'
import {
  withTransaction,
  same,
  everyRow,
  withoutTransactions,
  withoutRollback,
  withDirtyReads,
  withText,
  mapped,
  type BrokenAdapter,
} from './broken-memory.ts'

/** Defects of writes, transactions and text pages. */
export const brokenWrites: readonly BrokenAdapter[] = [
  {
    defect: 'stores the empty string as null',
    root: /empty and blank/,
    create: () =>
      withTransaction(same, (on) => ({
        ...on,
        insert: (collection, row) =>
          on.insert(
            collection,
            mapped(row, (value) => (value === '' ? null : value)),
          ),
      })),
  },
  {
    defect: 'trims strings',
    root: /blank strings/,
    create: () =>
      withTransaction(same, (on) => ({
        ...on,
        insert: (collection, row) =>
          on.insert(
            collection,
            mapped(row, (value) => (typeof value === 'string' ? value.trim() : value)),
          ),
      })),
  },
  {
    defect: 'truncates long strings',
    root: /100 KB/,
    create: () =>
      withTransaction(same, (on) => ({
        ...on,
        insert: (collection, row) =>
          on.insert(
            collection,
            mapped(row, (value) => (typeof value === 'string' ? value.slice(0, 65_535) : value)),
          ),
      })),
  },
  {
    defect: 'replaces a row with the same key',
    root: /existing key rejects/,
    create: () =>
      withTransaction(same, (on) => ({
        ...on,
        insert: async (collection, row) => {
          const key = collection.key.map(({ name }) => {
            return { field: name, is: 'equal', value: row[name] ?? null } as const
          })
          if (key.length > 0 && key.every(({ value }) => value !== null))
            await on.delete(collection, key)
          return on.insert(collection, row)
        },
      })),
  },
  {
    defect: 'updates by the key alone',
    root: /an update applies only if all/,
    create: () =>
      withTransaction(same, (on) => ({
        ...on,
        update: (collection, conditions, changes) =>
          on.update(
            collection,
            conditions.filter((one) => 'field' in one && collection.byName.get(one.field)?.inKey),
            changes,
          ),
      })),
  },
  {
    defect: 'deletes by a part of the key',
    root: /a delete (of a missing key|returns)/,
    create: () =>
      withTransaction(same, (on) => ({
        ...on,
        delete: async (collection, conditions) => {
          const [first] = collection.key
          const part = conditions.filter((one) => 'field' in one && one.field === first?.name)
          const sort = collection.key.map(({ name }) => ({ field: name, descending: false }))
          const query = {
            ...everyRow,
            conditions: part,
            sort,
            select: collection.allNames,
            count: false,
          }
          const [row] = (await on.filter(collection, query)).rows
          if (row === undefined) return undefined
          return on.delete(
            collection,
            collection.key.map(({ name }) => ({
              field: name,
              is: 'equal',
              value: row[name] ?? null,
            })),
          )
        },
      })),
  },
  {
    defect: 'returns only the changed fields of an update',
    root: /an update returns the complete/,
    create: () =>
      withTransaction(same, (on) => ({
        ...on,
        update: async (collection, conditions, changes) =>
          (await on.update(collection, conditions, changes)) && changes,
      })),
  },
  {
    defect: 'declares locks of rows, and has none',
    root: /a locked row is not written/,
    create: () => {
      const memory = memoryStorage()
      return { ...memory, supports: { ...memory.supports, rowLocks: true } }
    },
  },
  {
    defect: 'adds amounts as doubles',
    root: /adds amounts to stored values exactly/,
    create: () =>
      addingAmounts((on, { collection, conditions }, values) =>
        on.update(collection, conditions, values),
      ),
  },
  {
    defect: 'adds amounts to the row of the key, whatever the other conditions are',
    root: /adds amounts only if the conditions/,
    create: () =>
      addingAmounts(
        (on, { collection, keyed }, values) => on.update(collection, keyed, values),
        ['quantity', 'visits'],
      ),
  },
  { defect: 'does not undo', root: /undoes everything/, create: withoutRollback },
  { defect: 'has no transactions', root: /undoes everything/, create: withoutTransactions },
  {
    defect: 'shows uncommitted changes',
    root: /not visible outside/,
    create: withDirtyReads,
  },
  {
    defect: 'rejects with another error',
    root: /rejects with the same error/,
    create: () => {
      const memory = memoryStorage()
      return {
        ...memory,
        transaction: async (options, work) => {
          try {
            return await memory.transaction(options, work)
          } catch (error) {
            throw new Error('failed', { cause: error })
          }
        },
      }
    },
  },
  {
    defect: 'accepts reads after the end of a transaction',
    root: /once its transaction has committed/,
    create: () => {
      const memory = memoryStorage()
      return {
        ...memory,
        transaction: (options, work) =>
          memory.transaction(options, (on) => work({ ...on, filter: memory.filter.bind(memory) })),
      }
    },
  },
  {
    defect: 'accepts calls after close',
    root: /rejects as unavailable after close/,
    create: () => ({ ...memoryStorage(), close: () => undefined }),
  },
  {
    defect: 'writes text pages with spaces',
    root: /byte for byte/,
    create: () => withText((json) => JSON.stringify(JSON.parse(json), null, 1)),
  },
  {
    defect: 'writes text pages in ASCII',
    root: /byte for byte/,
    create: () => withText((json) => json.replaceAll('é', '\\u00e9')),
  },
  {
    defect: 'writes text pages with every field',
    root: /selected fields/,
    create: () => withText((json) => json, 'all'),
  },
  {
    defect: 'mixes several text pages up',
    root: /several pages/,
    create: () => {
      const storage = withText((json) => json)
      return {
        ...storage,
        filterTexts: async (collection, queries) => {
          const pages = queries.map(async (query) => storage.filterText?.(collection, query))
          return (await Promise.all(pages)).toReversed() as StorageTextPage[]
        },
      }
    },
  },
  {
    defect: 'gives related items to an item whose value is null',
    root: /related items/,
    create: () => {
      const storage = withText((json) => json)
      const read = async (collection: PublishedCollection, query: StorageQuery) =>
        (await storage.filterText?.(collection, query))?.items ?? []
      return {
        ...storage,
        async filterRelated(collection, query, relations) {
          const { rows } = await storage.filter(collection, query)
          const related = relations.map(({ collection: other, query: list, own, theirs }) =>
            rows.map((row) => {
              const equal = theirs.flatMap((name, at): Condition[] => {
                const value = row[own[at] ?? ''] ?? null
                return value === null ? [] : [{ field: name, is: 'equal', value }]
              })
              return read(other, { ...list, conditions: [...equal, ...list.conditions] })
            }),
          )
          return {
            items: await read(collection, query),
            related: await Promise.all(related.map(async (lists) => Promise.all(lists))),
          }
        },
      }
    },
  },
]

interface AddingUpdate {
  readonly collection: PublishedCollection
  readonly conditions: readonly Condition[]
  /** The conditions of the key alone. */
  readonly keyed: readonly Condition[]
}

/** Memory whose updates add amounts to the stored row as a function does. */
function addingAmounts(
  update: (
    on: StorageTransaction,
    target: AddingUpdate,
    values: Row,
  ) => ReturnType<StorageTransaction['update']>,
  fields: readonly string[] = ['quantity', 'visits', 'large', 'exact', 'amount'],
): StorageAdapter {
  const memory = memoryStorage()
  return {
    ...memory,
    increments: (_, { name }) => fields.includes(name),
    transaction: (options, work) =>
      memory.transaction(options, (on) =>
        work({
          ...on,
          update: async (collection, conditions, changes, increments) => {
            if (increments === undefined) return on.update(collection, conditions, changes)
            const keyed = conditions.filter(({ is }) => is === 'equal')
            const query = { ...oneItem(keyed, collection.allNames), sort: [] }
            const { rows } = await on.filter(collection, query)
            const values = rows[0] && { ...changes, ...sums(rows[0], increments) }
            return values && update(on, { collection, conditions, keyed }, values)
          },
        }),
      ),
  }
}

function sums(stored: Row, increments: Readonly<Record<string, string>>): Row {
  return Object.fromEntries(
    Object.entries(increments).map(([name, amount]) => {
      const sum = Number(stored[name]) + Number(amount)
      return [name, typeof stored[name] === 'string' ? String(sum) : sum]
    }),
  )
}
