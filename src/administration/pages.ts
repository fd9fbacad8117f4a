import type { StoredValue } from '../definition/field-type.ts'
import type { CollectionShape } from '../definition/item.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { FilterCall } from '../definition/serve.ts'
import { equal, type Condition, type Row, type StorageQuery } from '../request/query.ts'
import type { StorageAdapter } from '../storage/adapter.ts'
import { filterTable } from '../storage/table.ts'

/** A table of the library, and how its rows are published. */
export interface ServedTable<Item> {
  readonly storage: Pick<StorageAdapter, 'filter'>
  readonly collection: PublishedCollection
  /** The conditions of all rows that are published. */
  readonly where: readonly Condition[]
  /** The fields of the same name that storage filters, searches and sorts. */
  readonly stored: readonly string[]
  /** Returns the condition for a field that is stored in another form; undefined if there is none. */
  readonly condition?: (field: string, value: StoredValue) => Condition | undefined
  readonly itemOf: (row: Row) => Item
}

type PageCall = Pick<
  FilterCall<CollectionShape>,
  'conditions' | 'where' | 'search' | 'sort' | 'limit' | 'offset' | 'count'
>

const atOnce = 500

/**
 * Returns a page of a table of the library, which storage makes. If storage can't evaluate what was requested, returns all
 * items, of which the page is made.
 */
export async function pageOf<Item>(
  table: ServedTable<Item>,
  call: PageCall,
): Promise<readonly Item[] | { readonly page: readonly Item[]; readonly count?: number }> {
  const query = queryOf(table, call)
  if (query === undefined) return (await everyRow(table)).map(table.itemOf)
  const { rows, count } = await filterTable(table.storage, table.collection, query)
  return { page: rows.map(table.itemOf), ...(count !== null && { count }) }
}

function queryOf<Item>(
  { collection, where, stored, condition }: ServedTable<Item>,
  call: PageCall,
): StorageQuery | undefined {
  const { search, sort, limit = Number.MAX_SAFE_INTEGER, offset, count } = call
  if (call.where !== undefined) return undefined
  if (sort.some(({ field }) => !stored.includes(field))) return undefined
  if (search?.fields.some((field) => !stored.includes(field)) === true) return undefined
  const conditions: Condition[] = [...where]
  for (const [field, given] of Object.entries(call.conditions)) {
    const value = given as StoredValue
    const own =
      condition?.(field, value) ?? (stored.includes(field) ? same(field, value) : undefined)
    if (own === undefined) return undefined
    conditions.push(own)
  }
  const select = collection.allNames
  return { conditions, search: search ?? null, sort, limit, offset, select, count }
}

function same(field: string, value: StoredValue): Condition {
  return value === null ? { field, is: 'empty' } : equal(field, value)
}

async function everyRow<Item>({
  storage,
  collection,
  where,
}: ServedTable<Item>): Promise<readonly Row[]> {
  const all: Row[] = []
  const sort = collection.key.map(({ name }) => ({ field: name, descending: false }))
  for (;;) {
    const { rows } = await filterTable(storage, collection, {
      ...{ conditions: where, search: null, sort, limit: atOnce, offset: all.length },
      ...{ select: collection.allNames, count: false },
    })
    all.push(...rows)
    if (rows.length < atOnce) return all
  }
}

/** Returns one item of a table of the library; undefined if it is not published. */
export async function itemOf<Item>(
  { storage, collection, where, itemOf: made }: ServedTable<Item>,
  key: Condition,
): Promise<Item | undefined> {
  const { rows } = await filterTable(storage, collection, {
    conditions: [...where, key],
    search: null,
    sort: collection.key.map(({ name }) => ({ field: name, descending: false })),
    limit: 1,
    offset: 0,
    select: collection.allNames,
    count: false,
  })
  return rows[0] && made(rows[0])
}

/** The condition that no row meets. */
export const never: Condition = { is: 'or', conditions: [] }

/** Returns the condition that a field has a value, or that it has none. */
export function hasValue(field: string, has: boolean): Condition {
  const none = equal(field, null)
  return has ? { is: 'not', condition: none } : none
}
