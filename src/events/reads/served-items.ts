import type { StoredValue } from '../../definition/field-type.ts'
import { isValueOf } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { isThenable } from '../../maybe-promise.ts'
import type { Json } from '../../protocol/json.ts'
import { fieldsIn } from '../../request/meets.ts'
import { matchesQuery, pageOfRows } from '../../request/page-of-rows.ts'
import type { Row, StorageQuery } from '../../request/query.ts'
import { returnedList, type ReturnedList } from '../../request/returned-list.ts'
import type { StoragePage } from '../../storage/adapter.ts'

/** Returns an error about what a function that serves a collection has returned. */
export function returnedError(
  { application, name }: PublishedCollection,
  callee: string,
  what: string,
): TypeError {
  return new TypeError(`The function ${callee} of ${application}/${name} returned ${what}.`)
}

/** Returns the stored form of an item that a function returned. Throws a TypeError unless its values fit. */
export function returnedRow(
  collection: PublishedCollection,
  callee: string,
  item: unknown,
  names: readonly string[] = collection.allNames,
): Row {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    throw returnedError(collection, callee, 'an item that is not an object')
  }
  const row: Record<string, StoredValue> = {}
  for (const name of names) {
    const field = collection.byName.get(name) as PublishedField
    // Each value is read once, so that the checked value is the one that is used.
    const value = (item as Readonly<Record<string, unknown>>)[name]
    const fits = value === null ? !field.inKey : isValueOf(field.definition, value)
    if (!fits) {
      const what = isThenable<unknown>(item) ? unawaited : misfit(field, value)
      throw returnedError(collection, callee, what)
    }
    row[name] = field.store(value as Json, item)
  }
  return row
}

const unawaited = 'a promise in place of an item; it must await the item'

function misfit({ name, mustBe }: PublishedField, value: unknown): string {
  if (value === undefined) return `an item without ${name}; it must be null if there is no value`
  return `an item whose ${name} is not valid; it must be ${mustBe}`
}

/**
 * Returns the page of what a function `filter` returned: a list of items, of which the page is taken, or a
 * page. Throws a TypeError if it is neither, or if a page has items that were not requested.
 */
export function returnedPage(
  collection: PublishedCollection,
  query: StorageQuery,
  returned: unknown,
): StoragePage {
  const names = fieldsOf(collection, query)
  const rowsOf = (items: ReturnedList<unknown>): readonly Row[] =>
    items.entries().map((item) => returnedRow(collection, 'filter', item, names))
  const invalid = (what: string): TypeError => returnedError(collection, 'filter', what)
  const list = returnedList(returned)
  if (list !== undefined) {
    const rows = rowsOf(list)
    if (!isItemQuery(collection, query)) return pageOfRows(collection, rows, query)
    const found = pageOfRows(collection, rows, { ...query, limit: 2 })
    if (found.rows.length > 1) throw invalid('two items with the same key')
    return found
  }
  const { page, count } = Object(returned) as { readonly page?: unknown; readonly count?: unknown }
  const items = returnedList(page)
  if (items === undefined) throw invalid('neither a list of items nor { page }')
  if (items.length > query.limit)
    throw invalid(`${items.length} items for a limit of ${query.limit}`)
  const rows = rowsOf(items)
  if (!rows.every((row) => matchesQuery(collection, row, query))) {
    throw invalid('a page with an item that does not match the conditions or the search')
  }
  if (!query.count) return { rows, count: null }
  if (Number.isSafeInteger(count) && (count as number) >= 0)
    // JSON has no negative zero.
    return { rows, count: (count as number) + 0 }
  throw invalid('a page without its count')
}

/** Returns whether a query reads one item by its key. Every page has an order: at least its key. */
export function isItemQuery({ key, singleton }: PublishedCollection, query: StorageQuery): boolean {
  return key.length > 0 ? query.sort.length === 0 : singleton
}

/** Returns the fields that the items of a query must have, in definition order. */
export function fieldsOf(
  { allNames, key }: PublishedCollection,
  { select, conditions, search, sort }: StorageQuery,
): readonly string[] {
  const named = new Set([
    ...select,
    ...key.map(({ name }) => name),
    ...conditions.flatMap(fieldsIn),
    ...sort.map(({ field }) => field),
    ...(search?.fields ?? []),
  ])
  return allNames.filter((name) => named.has(name))
}
