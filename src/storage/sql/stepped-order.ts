import type { Condition } from '../adapter.ts'
import { hasColumn, type Index } from '../../schema/model.ts'
import { fieldOf } from './conditions.ts'
import type { PlacedColumn } from './dialect.ts'
import { sql, type Sql } from './fragments.ts'
import { presenceOf, type FieldKey, type OrderedRows } from './order-keys.ts'
import { placedColumn, type TablePlace } from './table-conditions.ts'

/** A column of an index. */
interface Part {
  readonly name: string | null
  readonly descending: boolean
}

/**
 * Returns how the rows of a page are read if an index has the order of the first column only, and the database would sort
 * all rows to order those with the same value: the value of the last row of the page is read first, and only rows up to
 * it are sorted. Undefined: an index has the whole order, or none has its first column.
 */
export function steppedReads(
  place: TablePlace,
  keys: readonly FieldKey[],
  {
    conditions,
    isLocked,
  }: { readonly conditions: readonly Condition[]; readonly isLocked: boolean },
): readonly OrderedRows[] | undefined {
  const [key] = keys
  if (isLocked || key?.one === undefined || place.collection.key.length === 0) return undefined
  const { field, descending } = key.one
  const column = placedOf(place, field)
  const own = orderedName(column)
  if (own === undefined) return undefined
  const fixed = new Set(conditions.flatMap((one) => fixedName(place, one)))
  const ends = place.found.indexes.map((index) => ({ index, parts: endOf(place, index, fixed) }))
  if (ends.some(({ parts }) => hasOrder(place, parts, keys))) return undefined
  const isServed = ends.some(
    ({ index, parts }) => parts[0]?.name === own && hasFields(place, { index, keys }, conditions),
  )
  if (!isServed) return undefined
  const by = column.inOrder?.sql ?? column.stored
  const step = { column: by, descending }
  if (column.column.notNull) return [{ terms: [], keys, step }]
  const present = { terms: [sql`${by} is not null`], keys, step }
  if (presenceOf(field, conditions) === 'present') return [present]
  const absent = { terms: [sql`${by} is null`], keys: keys.slice(1) }
  return descending ? [present, absent] : [absent, present]
}

function placedOf(place: TablePlace, field: string): PlacedColumn {
  return placedColumn(place, fieldOf(place.collection, field))
}

/** Returns the name of the column that has the order of a column. Undefined: none has. */
function orderedName({ column, inOrder, sql: value, stored }: PlacedColumn): string | undefined {
  return value === stored ? column.name : inOrder?.name
}

/** Returns the column of a condition that has one value in all rows. */
function fixedName(place: TablePlace, condition: Condition): readonly string[] {
  if (condition.is !== 'equal') return []
  const { column, sql: value, stored } = placedOf(place, condition.field)
  return value === stored ? [column.name] : []
}

/** Returns the columns of an index after those with one value. The key follows the columns of every index. */
function endOf(
  { found }: TablePlace,
  { columns }: Index,
  fixed: ReadonlySet<string>,
): readonly Part[] {
  const names = columns.map(({ name }) => name)
  const { primary = [] } = found
  const suffix = primary
    .filter((name) => !names.includes(name))
    .map((name) => ({ name, descending: false }))
  const all: readonly Part[] = [...columns, ...suffix]
  const from = all.findIndex(({ name }) => name === null || !fixed.has(name))
  return from < 0 ? [] : all.slice(from)
}

/** Returns whether columns of an index have a whole order, in one direction or the other. */
function hasOrder(place: TablePlace, parts: readonly Part[], keys: readonly FieldKey[]): boolean {
  const isReversed = parts[0]?.descending !== keys[0]?.one?.descending
  return keys.every(({ one }, at) => {
    const part = parts[at]
    if (one === undefined || part === undefined || part.name === null) return false
    const isSame = part.name === orderedName(placedOf(place, one.field))
    return isSame && (part.descending !== one.descending) === isReversed
  })
}

/**
 * Returns whether conditions are about columns of an index, and about fields of the order, as those of a cursor are.
 * With others, the last row of the page might be far from the start of the index.
 */
function hasFields(
  place: TablePlace,
  given: { readonly index: Index; readonly keys: readonly FieldKey[] },
  conditions: readonly Condition[],
): boolean {
  return conditions.every((condition) => {
    switch (condition.is) {
      case 'and':
      case 'or':
        return hasFields(place, given, condition.conditions)
      case 'not':
        return hasFields(place, given, [condition.condition])
      case 'through':
        return false
      default: {
        const { field } = condition
        const { column } = placedOf(place, field)
        return (
          given.keys.some(({ one }) => one?.field === field) || hasColumn(given.index, column.name)
        )
      }
    }
  })
}

/** Returns the rows of a derived table `bound`, the value `b` up to which rows are read. */
export function boundOf(
  { column, descending }: NonNullable<OrderedRows['step']>,
  from: Sql,
  last: Sql,
): Sql {
  const [way, back] = descending ? [sql` desc`, sql``] : [sql``, sql` desc`]
  const value = sql`select ${column} ${from} order by ${column}`
  // If the page has all rows, the value of the last one of them.
  return sql`(select coalesce((${value}${way} limit 1 offset ${last}), (${value}${back} limit 1)) as b) as bound`
}
