import type { PublishedCollection } from '../../src/definition/published.ts'
import type {
  MaybePromise,
  Row,
  StorageAdapter,
  StoragePage,
  StorageQuery,
  StorageReader,
  StorageTransaction,
} from '../../src/storage/adapter.ts'
import { memoryStorage } from '../../src/storage/memory.ts'
import { lenient, pageOfText, reordered } from './broken-queries.ts'

/** An adapter with one defect, and the case that has to find it, among others maybe. */
export interface BrokenAdapter {
  readonly defect: string
  readonly caught: RegExp
  readonly create: () => StorageAdapter
}

type Filter = StorageReader['filter']
type Wrap = (inner: StorageTransaction) => StorageTransaction

/** Memory whose queries go through a function, outside of transactions and inside. */
function withFilter(change: (filter: Filter) => Filter): StorageAdapter {
  return withTransaction(change, (on) => ({ ...on, filter: change(on.filter.bind(on)) }))
}

/** Memory whose transactions are changed, and maybe the queries outside. */
function withTransaction(change: (filter: Filter) => Filter, wrap: Wrap): StorageAdapter {
  const memory = memoryStorage()
  return {
    ...memory,
    filter: change(memory.filter.bind(memory)),
    transaction: (options, work) => memory.transaction(options, (on) => work(wrap(on))),
  }
}

const same = (filter: Filter): Filter => filter

/** Changes the query before it is answered. */
const asking =
  (change: (query: StorageQuery, collection: PublishedCollection) => StorageQuery) =>
  (filter: Filter): Filter =>
  (collection, query) =>
    filter(collection, change(query, collection))

/** Changes each row that is answered. */
const answering =
  (change: (row: Row, collection: PublishedCollection) => Row) =>
  (filter: Filter): Filter =>
  async (collection, query) => {
    const page = await filter(collection, query)
    return { ...page, rows: page.rows.map((row) => change(row, collection)) }
  }

const everyRow = { conditions: [], search: null, limit: 100_000, offset: 0 } as const

/** Memory whose conditions or searches are met too easily. */
function withLenience(how: Parameters<typeof lenient>[0]): StorageAdapter {
  return withFilter((filter) => async (collection, query) => {
    const all = await filter(collection, { ...query, ...everyRow })
    return lenient(how, all.rows, query)
  })
}

function withOrder(how: Parameters<typeof reordered>[0]): StorageAdapter {
  return withFilter((filter) => async (collection, query) => {
    const all = await filter(collection, { ...query, limit: 100_000, offset: 0 })
    const rows = reordered(how, all.rows, query)
    return { ...all, rows: rows.slice(query.offset, query.offset + query.limit) }
  })
}

/** Memory that writes every call through at once. */
function withoutTransactions(): StorageAdapter {
  const memory = memoryStorage()
  const options = { mode: 'write', brief: true } as const
  const alone = <Value>(call: (on: StorageTransaction) => MaybePromise<Value>): Promise<Value> =>
    memory.transaction(options, async (on) => call(on))
  return {
    ...memory,
    transaction: (_options, work) =>
      work({
        filter: memory.filter.bind(memory),
        insert: (collection, row) => alone((on) => on.insert(collection, row)),
        update: (collection, conditions, changes) =>
          alone((on) => on.update(collection, conditions, changes)),
        delete: (collection, conditions) => alone((on) => on.delete(collection, conditions)),
      }),
  }
}

/** Memory that commits although the work failed. */
function withoutRollback(): StorageAdapter {
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

/** Memory whose outside reads go to the transaction in progress. */
function withDirtyReads(): StorageAdapter {
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

/** Memory with the text pages of the rows' items, changed by a function. */
function withText(change: (json: string) => string, select?: 'all'): StorageAdapter {
  const memory = memoryStorage()
  return {
    ...memory,
    supports: { ...memory.supports, textPages: true },
    filterText: async (collection, query) => {
      const page: StoragePage = await memory.filter(collection, query)
      const names = select === 'all' ? collection.allNames : query.select
      const json = change(pageOfText(collection, page, names))
      return { json, length: page.rows.length, count: page.count }
    },
  }
}

const mapped = (row: Row, change: (value: Row[string], name: string) => Row[string]): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, change(value, name)]))

/** Every defect that the kit is known to find. */
export const brokenAdapters: readonly BrokenAdapter[] = [
  {
    defect: 'compares without case',
    caught: /tells apart: letter case/,
    create: () => withLenience('case'),
  },
  {
    defect: 'compares without trailing spaces',
    caught: /trailing/,
    create: () => withLenience('spaces'),
  },
  {
    defect: 'compares normal forms alike',
    caught: /normal forms/,
    create: () => withLenience('normal forms'),
  },
  {
    defect: 'compares texts as numbers',
    caught: /look like numbers/,
    create: () => withLenience('numbers'),
  },
  {
    defect: 'takes the empty text for null',
    caught: /equal to null/,
    create: () => withLenience('empty is null'),
  },
  {
    defect: 'takes only null for empty',
    caught: /condition `empty`/,
    create: () => withLenience('null is empty'),
  },
  {
    defect: 'needs any condition instead of all',
    caught: /all conditions/,
    create: () => withLenience('any'),
  },
  {
    defect: 'searches with wildcards',
    caught: /search for "%"/,
    create: () => withLenience('wildcards'),
  },
  {
    defect: 'searches by letter case',
    caught: /search for "berl"/,
    create: () => withLenience('exact search'),
  },
  {
    defect: 'searches without accents',
    caught: /search for "é"/,
    create: () => withLenience('no accents'),
  },
  {
    defect: 'searches all fields',
    caught: /named fields only/,
    create: () => withLenience('all fields'),
  },
  { defect: 'sorts null last', caught: /null first/, create: () => withOrder('null last') },
  { defect: 'sorts by locale', caught: /texts by code point/, create: () => withOrder('locale') },
  { defect: 'sorts by UTF-16 unit', caught: /UTF-16/, create: () => withOrder('UTF-16') },
  {
    defect: 'sorts bigints as texts',
    caught: /64-bit integers by value/,
    create: () => withOrder('texts'),
  },
  {
    defect: 'sorts decimals as doubles',
    caught: /decimals by value/,
    create: () => withOrder('doubles'),
  },
  {
    defect: 'sorts by the first field only',
    caught: /ties are ended/,
    create: () => withOrder('first field'),
  },
  {
    defect: 'counts the page',
    caught: /the count ignores limit/,
    create: () =>
      withFilter((filter) => async (collection, query) => {
        const page = await filter(collection, query)
        return { ...page, count: page.count === null ? null : page.rows.length }
      }),
  },
  {
    defect: 'counts all rows',
    caught: /the count follows/,
    create: () =>
      withFilter((filter) => async (collection, query) => {
        const page = await filter(collection, query)
        const all = await filter(collection, { ...query, ...everyRow })
        return { ...page, count: page.count === null ? null : all.rows.length }
      }),
  },
  {
    defect: 'counts unasked',
    caught: /null when the query does not ask/,
    create: () => withFilter(asking((query) => ({ ...query, count: true }))),
  },
  {
    defect: 'takes limit 0 for no limit',
    caught: /limit 0/,
    create: () => withFilter(asking((query) => ({ ...query, limit: query.limit || 1000 }))),
  },
  {
    defect: 'forgets the offset',
    caught: /offset/,
    create: () => withFilter(asking((query) => ({ ...query, offset: 0 }))),
  },
  {
    defect: 'returns decimals without their zeros',
    caught: /decimals with their zeros/,
    create: () =>
      withFilter(
        answering((row, { byName }) =>
          mapped(row, (value, name) =>
            value !== null && byName.get(name)?.type === 'decimal' ? String(Number(value)) : value,
          ),
        ),
      ),
  },
  {
    defect: 'returns booleans as numbers',
    caught: /keeps booleans/,
    create: () =>
      withFilter(
        answering((row) =>
          mapped(row, (value) => (typeof value === 'boolean' ? Number(value) : value)),
        ),
      ),
  },
  {
    defect: 'leaves fields without value out',
    caught: /null in every field/,
    create: () =>
      withFilter(
        answering((row) =>
          Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)),
        ),
      ),
  },
  {
    defect: 'keeps the empty text as null',
    caught: /empty and blank/,
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
    defect: 'trims texts',
    caught: /blank texts/,
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
    defect: 'cuts long texts',
    caught: /100 KB/,
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
    caught: /existing key is refused/,
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
    caught: /an update needs all/,
    create: () =>
      withTransaction(same, (on) => ({
        ...on,
        update: (collection, conditions, changes) =>
          on.update(
            collection,
            conditions.filter(({ field }) => collection.byName.get(field)?.inKey),
            changes,
          ),
      })),
  },
  {
    defect: 'deletes by a part of the key',
    caught: /a delete (of a missing key|returns)/,
    create: () =>
      withTransaction(same, (on) => ({
        ...on,
        delete: async (collection, conditions) => {
          const [first] = collection.key
          const part = conditions.filter(({ field }) => field === first?.name)
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
    caught: /an update returns the whole/,
    create: () =>
      withTransaction(same, (on) => ({
        ...on,
        update: async (collection, conditions, changes) =>
          (await on.update(collection, conditions, changes)) && changes,
      })),
  },
  { defect: 'forgets to undo', caught: /undoes everything/, create: withoutRollback },
  { defect: 'has no transactions', caught: /undoes everything/, create: withoutTransactions },
  {
    defect: 'lets others see what is not committed',
    caught: /nobody outside sees/,
    create: withDirtyReads,
  },
  {
    defect: 'rejects with an error of its own',
    caught: /passes the very error on/,
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
    defect: 'works on after the end of a transaction',
    caught: /once its transaction has committed/,
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
    defect: 'works on after close',
    caught: /rejects as unavailable after close/,
    create: () => ({ ...memoryStorage(), close: () => undefined }),
  },
  {
    defect: 'writes text pages with spaces',
    caught: /byte for byte/,
    create: () => withText((json) => JSON.stringify(JSON.parse(json), null, 1)),
  },
  {
    defect: 'writes text pages in ASCII',
    caught: /byte for byte/,
    create: () => withText((json) => json.replaceAll('é', '\\u00e9')),
  },
  {
    defect: 'writes text pages with every field',
    caught: /selected fields/,
    create: () => withText((json) => json, 'all'),
  },
]
