import type { StoredValue } from '../definition/field-type.ts'
import type { CollectionShape } from '../definition/item.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { FilterCall } from '../definition/serve.ts'
import { equal, type Condition, type Row, type StorageQuery } from '../request/query.ts'
import { ServiceError } from '../errors.ts'
import { isStorageError, type StorageAdapter, type StorageError } from '../storage/adapter.ts'
import { filterFitting, type ReadRow } from '../storage/fitting-rows.ts'
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
  /** Called for a row that can't be read. */
  readonly unfit: (error: StorageError) => void
  /**
   * Returns what is published for a row of which only the key can be read, or the key and `partly`. Without it, such rows
   * are left out.
   */
  readonly unfitItem?: (key: Row) => Item
  /** The fields that are read of a row that can't be read as a whole, if they can. */
  readonly partly?: readonly string[]
}

type PageCall = Pick<
  FilterCall<CollectionShape>,
  'conditions' | 'where' | 'search' | 'sort' | 'limit' | 'offset' | 'count'
>

/** The number of rows that are read if storage can't evaluate what was requested. */
const maxRows = 10_000

/**
 * Returns a page of a table of the library, which storage makes. If storage can't evaluate all that was requested, returns
 * the items of which the page is made. A row that can't be read does not hide the others.
 */
export async function pageOf<Item>(
  table: ServedTable<Item>,
  call: PageCall,
): Promise<readonly Item[] | { readonly page: readonly Item[]; readonly count?: number }> {
  const { storage, collection } = table
  const { query, isWhole } = queryOf(table, call)
  if (!isWhole) {
    const part = await readRows(table, { ...query, limit: maxRows + 1, offset: 0, count: false })
    if (part.rows.length <= maxRows) return itemsOf(table, part.rows)
    const message = `The list has more than ${maxRows} rows, too many for this order or condition. Filter it by other fields.`
    throw new ServiceError('MALFORMED_QUERY', message)
  }
  const { rows, count } = await readRows(table, query)
  const page = itemsOf(table, rows, (item) => meets(item as Row, call))
  if (!query.count) return { page }
  if (count !== null) return { page, count }
  const counted = await filterTable(storage, collection, { ...query, limit: 0, offset: 0 })
  return { page, count: counted.count ?? 0 }
}

async function readRows<Item>(
  { storage, collection, partly }: ServedTable<Item>,
  query: StorageQuery,
): Promise<{ readonly rows: readonly ReadRow[]; readonly count: number | null }> {
  try {
    const { rows, count } = await filterTable(storage, collection, query)
    return { rows: rows.map((row) => ({ row })), count }
  } catch (error) {
    if (!isStorageError(error) || error.kind !== 'unfit') throw error
    return { rows: await filterFitting(storage, collection, query, partly), count: null }
  }
}

function itemsOf<Item>(
  { itemOf: made, unfit, unfitItem }: ServedTable<Item>,
  rows: readonly ReadRow[],
  accepts: (unfit: Item) => boolean = () => true,
): readonly Item[] {
  return rows.flatMap((one) => {
    if ('row' in one) return [made(one.row)]
    unfit(one.error)
    if (one.key === undefined || unfitItem === undefined) return []
    return [unfitItem(one.key)].filter(accepts)
  })
}

/** Returns whether an item of which only the key is known meets what was requested. */
function meets(item: Row, { conditions, search }: PageCall): boolean {
  const isEqual = Object.entries(conditions).every(([field, value]) => item[field] === value)
  return isEqual && search === undefined
}

/** Returns the query for what storage can evaluate, and whether that is all. */
function queryOf<Item>(
  { collection, where, stored, condition }: ServedTable<Item>,
  call: PageCall,
): { readonly query: StorageQuery; readonly isWhole: boolean } {
  const { sort, limit = Number.MAX_SAFE_INTEGER, offset, count, search } = call
  const conditions: Condition[] = [...where]
  let isWhole = call.where === undefined
  for (const [field, given] of Object.entries(call.conditions)) {
    const value = given as StoredValue
    const own =
      condition?.(field, value) ?? (stored.includes(field) ? same(field, value) : undefined)
    if (own === undefined) isWhole = false
    else conditions.push(own)
  }
  const isSearched = search?.fields.every((field) => stored.includes(field)) === true
  if (search !== undefined && !isSearched) isWhole = false
  const isSorted = sort.every(({ field }) => stored.includes(field))
  if (!isSorted) isWhole = false
  const query = {
    ...{ conditions, search: isSearched ? search : null, limit, offset, count },
    sort: isSorted ? sort : byKey(collection),
    select: collection.allNames,
  }
  return { query, isWhole }
}

function byKey({ key }: PublishedCollection): StorageQuery['sort'] {
  return key.map(({ name }) => ({ field: name, descending: false }))
}

function same(field: string, value: StoredValue): Condition {
  return value === null ? { field, is: 'empty' } : equal(field, value)
}

/** Returns one item of a table of the library; undefined if it is not published. */
export async function itemOf<Item>(
  table: ServedTable<Item>,
  key: Condition,
): Promise<Item | undefined> {
  const { collection, where, itemOf: made, unfit, unfitItem } = table
  const query: StorageQuery = {
    ...{ conditions: [...where, key], search: null, sort: byKey(collection) },
    ...{ limit: 1, offset: 0, select: collection.allNames, count: false },
  }
  const [row] = (await readRows(table, query)).rows
  if (row === undefined) return undefined
  if ('row' in row) return made(row.row)
  if (row.key === undefined || unfitItem === undefined) throw row.error
  unfit(row.error)
  return unfitItem(row.key)
}

/** The condition that no row meets. */
export const never: Condition = { is: 'or', conditions: [] }

/** Returns the condition that a field has a value, or that it has none. */
export function hasValue(field: string, has: boolean): Condition {
  const none = equal(field, null)
  return has ? { is: 'not', condition: none } : none
}
