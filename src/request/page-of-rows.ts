import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { meetsAll, type MeetsThrough } from './meets.ts'
import { searchText, type Row, type SortField, type StorageQuery } from './query.ts'

/** Returns the page of a query: the rows that match it, sorted and cut, and their number if it is requested. */
export function pageOfRows(
  collection: PublishedCollection,
  rows: readonly Row[],
  query: StorageQuery,
  through?: MeetsThrough,
): { readonly rows: readonly Row[]; readonly count: number | null } {
  const found = rows.filter((row) => matchesQuery(collection, row, query, through))
  const count = query.count ? found.length : null
  const page = sorted(collection, found, query.sort)
  return { rows: page.slice(query.offset, query.offset + query.limit), count }
}

/** Returns whether a row meets the conditions of a query and contains what it searches. */
export function matchesQuery(
  collection: PublishedCollection,
  row: Row,
  { conditions, search }: Pick<StorageQuery, 'conditions' | 'search'>,
  through?: MeetsThrough,
): boolean {
  if (!meetsAll(collection, row, conditions, through)) return false
  return search === null || search.fields.some((field) => contains(row[field], search.text))
}

function contains(value: StoredValue | undefined, text: string): boolean {
  return value !== null && value !== undefined && searchText(String(value)).includes(text)
}

function sorted(
  { byName, key, fields }: PublishedCollection,
  rows: readonly Row[],
  sort: readonly SortField[],
): readonly Row[] {
  if (rows.length < 2) return rows
  const orders = sort.map(({ field, descending }) => {
    const compare = byName.get(field)?.kind.compare
    if (compare === undefined) throw new TypeError(`The field ${field} can't be used for sorting.`)
    const sign = descending ? -1 : 1
    return (left: Row, right: Row) => sign * compareNullable(left[field], right[field], compare)
  })
  // Without a key, rows may be equal in all sortable fields.
  const rest = key.length > 0 ? [] : fields.filter(({ kind }) => kind.compare === undefined)
  orders.push(
    ...rest.map(
      ({ name }) =>
        (left: Row, right: Row) =>
          compareText(left[name], right[name]),
    ),
  )
  return rows.toSorted((left, right) => {
    for (const order of orders) {
      const difference = order(left, right)
      if (difference !== 0) return difference
    }
    return 0
  })
}

function compareText(left: StoredValue = null, right: StoredValue = null): number {
  const [a, b] = [String(left), String(right)]
  return a === b ? 0 : a < b ? -1 : 1
}

function compareNullable(
  left: StoredValue = null,
  right: StoredValue = null,
  compare: (left: StoredValue, right: StoredValue) => number,
): number {
  if (left === null || right === null) return Number(left !== null) - Number(right !== null)
  return compare(left, right)
}
