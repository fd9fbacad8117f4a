import type { StorageAdvice } from '../../observation/reports.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { Table } from '../../schema/model.ts'
import { ascending, type IndexField } from '../../schema/wanted-indexes.ts'
import type { LackingIndex, Tables } from './dialect.ts'
import { columnOf, placedColumn, placeOf } from './table-conditions.ts'

/** An order of pages in which the database sorts the whole table. */
export interface SlowOrder extends LackingIndex {
  readonly collection: PublishedCollection
  /** The fields of the order, without those of the key that follow. */
  readonly fields: readonly PublishedField[]
}

// The sort of a smaller table takes a few milliseconds.
const minRows = 10_000

/**
 * Returns the orders of a collection in which the database sorts a large table, although it has an index on their first
 * column, which has another order: the default order, and those by one field.
 */
export function slowOrders(tables: Tables, collection: PublishedCollection): readonly SlowOrder[] {
  const { dialect, find } = tables
  const found = find(collection.table)
  if (dialect.orders === undefined || found?.kind !== 'table' || !collection.hasPages) return []
  if ((found.rows ?? 0) < minRows || collection.key.length === 0) return []
  const place = placeOf(tables, collection)
  const orders = ordersOf(collection, found)
  const columns = orders.map((order) => {
    const all = [...order, ...ascending(collection.tieBreakers)]
    return all
      .filter(({ field }, at) => all.findIndex((other) => other.field === field) === at)
      .map(({ field, descending }) => ({ ...placedColumn(place, field), descending }))
  })
  return dialect.orders
    .lacking(found, columns)
    .flatMap((lacking, at) =>
      lacking === undefined
        ? []
        : [{ ...lacking, collection, fields: (orders[at] ?? []).map(({ field }) => field) }],
    )
}

/** Returns the default order of a collection, and those by one field with an index, without the key at their end. */
function ordersOf(
  { defaultSort, byName, fields, tieBreakers }: PublishedCollection,
  found: Table,
): readonly (readonly IndexField[])[] {
  const own = defaultSort.flatMap(({ field: name, descending }) => {
    const field = byName.get(name)
    return field === undefined ? [] : [{ field, descending }]
  })
  const usual = own.length === 0 ? ascending(tieBreakers) : own
  const indexed = new Set(found.indexes.map(({ columns: [first] }) => first?.name))
  const others = fields.filter(
    (field) =>
      field.kind.compare !== undefined &&
      field !== usual[0]?.field &&
      indexed.has(columnOf(found, field).name),
  )
  return [usual, ...others.map((field) => ascending([field]))]
}

/** Returns an order as the service reports it. */
export function adviceOf({ collection, fields, statements }: SlowOrder): StorageAdvice {
  const { application, name } = collection
  return {
    type: 'order-without-index',
    application,
    collection: name,
    fields: fields.map((field) => field.name),
    statements,
  }
}
