import type { Condition, SortField, StorageQuery } from '../adapter.ts'
import { fieldOf } from './conditions.ts'
import type { PlacedColumn, Tables } from './dialect.ts'
import {
  boundSlot,
  endSlot,
  join,
  lastSlot,
  limitSlot,
  offsetSlot,
  raw,
  sql,
  type Sql,
} from './fragments.ts'
import {
  boundFields,
  orderBy,
  placedKeys,
  presenceOf,
  type FieldKey,
  type OrderedRows,
  type OrderKey,
  type PageOrder,
} from './order-keys.ts'
import { boundOf, steppedReads } from './stepped-order.ts'
import { columnOf, name, placedColumn, type TablePlace } from './table-conditions.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { Index, IndexColumn } from '../../schema/model.ts'

type Ordered = Pick<StorageQuery, 'conditions' | 'search' | 'sort'>

// A page may have rows of each part, so each is read.
const maxReads = 3

/**
 * Returns how the rows of a page are read in their order. If an index on a column has its nulls where pages do not, the
 * rows without value are read apart from the others: the database would sort them all.
 */
export function pageOrder(place: TablePlace, query: Ordered, isLocked: boolean): PageOrder {
  const { sort } = query
  const keys: readonly FieldKey[] = [
    ...sort.map((one) => ({ ...sortKey(place, one), one })),
    ...endOfOrder(place).map((by) => ({ by, direction: sql`` })),
  ].map((key, at) => ({ ...key, at }))
  const { directionOfPresent } = place.dialect.terms
  const bound = boundFields(query.conditions)
  const free = keys.filter(({ one }) => one === undefined || !bound.has(one.field))
  if (directionOfPresent === undefined) {
    const isAbsent = ({ field }: SortField): boolean =>
      presenceOf(field, query.conditions) === 'absent'
    const others = free.filter(({ one }) => one === undefined || !isAbsent(one))
    const whole = [{ terms: [], keys: others }]
    if (place.dialect.terms.sortsWhole !== true || query.search !== null)
      return { keys, reads: whole }
    return { keys, reads: steppedReads(place, others, { ...query, isLocked }) ?? whole }
  }
  // A search reads the table anyway.
  if (query.search !== null) return { keys, reads: [{ terms: [], keys }] }
  // The rows of a union can't be locked.
  const most = isLocked ? 1 : maxReads
  const { conditions } = query
  return { keys, reads: partsOf({ place, conditions, bound, directionOfPresent }, free, most) }
}

interface Parts {
  readonly place: TablePlace
  readonly conditions: readonly Condition[]
  /** The fields that have one value in all rows. */
  readonly bound: ReadonlySet<string>
  readonly directionOfPresent: (descending: boolean) => string
}

/** Returns the parts of rows in the order of keys, at most so many. */
function partsOf(parts: Parts, keys: readonly FieldKey[], most: number): readonly OrderedRows[] {
  const { place, conditions, bound, directionOfPresent } = parts
  const [key, ...rest] = keys
  const whole = [{ terms: [], keys }]
  if (key?.one === undefined) return whole
  const { field, descending } = key.one
  const column = placedColumn(place, fieldOf(place.collection, field))
  const index = indexWithout(place, column, bound)
  if (index === undefined) return whole
  const keyIn = (way: boolean): OrderKey => ({ ...key, direction: raw(directionOfPresent(way)) })
  const known = presenceOf(field, conditions)
  if (known === undefined && most === 1) return whole
  const isNull = sql`${column.stored} is null`
  const tie = directionOfAbsent(place, index, rest[0]?.one)
  const absent =
    tie === undefined
      ? partsOf(parts, rest, known === 'absent' ? most : most - 1)
      : [{ terms: [], keys: [keyIn(tie === 'desc'), ...rest] }]
  if (known === 'absent') return absent
  const nulls = absent.map((one) => ({ ...one, terms: [isNull, ...one.terms] }))
  const present = { terms: [sql`${column.stored} is not null`], keys: [keyIn(descending), ...rest] }
  if (known === 'present') return [present]
  return descending ? [present, ...nulls] : [...nulls, present]
}

/** Returns whether the rows of an order may be read apart, see {@link pageOrder}. */
export function mayBeApart(
  { dialect, find }: Tables,
  collection: PublishedCollection,
  sort: readonly SortField[],
): boolean {
  if (dialect.terms.directionOfPresent === undefined) return false
  const found = find(collection.table)
  return sort.some(({ field }) => {
    const column = collection.byName.get(field)?.column
    return column !== undefined && found?.find(column)?.notNull === false
  })
}

function sortKey(place: TablePlace, { field, descending }: SortField): Omit<OrderKey, 'at'> {
  const column = placedColumn(place, fieldOf(place.collection, field))
  const { ordered, direction } = place.dialect.terms
  return { by: ordered(column), direction: raw(direction(column.column, descending)) }
}

/**
 * Returns what ends an order of a collection without key, which is by all sortable fields. Otherwise rows that it does
 * not distinguish could change their places from page to page.
 */
function endOfOrder(place: TablePlace): readonly Sql[] {
  const { dialect, collection, found } = place
  if (collection.key.length > 0) return []
  if (found.identity !== undefined) {
    return found.identity.map((own) => name(dialect, place.alias, own))
  }
  return dialect.terms.undistinguished(
    collection.fields.map((field) => ({
      type: field.type,
      column: columnOf(found, field),
      sql: place.stored(field),
    })),
  )
}

/** Returns FROM and WHERE of the rows of a query that meet further terms, with what precedes their table. */
type From = (terms: readonly Sql[], before?: Sql) => Sql

/** The rows that a statement cuts a page from. */
export interface PageRows {
  readonly place: TablePlace
  readonly query: Pick<StorageQuery, 'limit' | 'offset'>
  readonly values: readonly Sql[]
  readonly from: From
  /** Whether the text tells about how many rows the page needs. */
  readonly isBounded: boolean
}

/** Returns whether a page is the first row only, as that of an item is. Its statement needs no parameters for it. */
export function isFirstRow({ limit, offset }: Pick<StorageQuery, 'limit' | 'offset'>): boolean {
  return limit === 1 && offset === 0
}

/** Returns the statement of rows that are read in one order, up to the end of the page. */
export function rowsInOrder(page: PageRows, rows: OrderedRows): Sql {
  const all = allInOrder(page, rows)
  if (isFirstRow(page.query)) return sql`${all} limit 1`
  const read = page.isBounded ? sql`select * from (${all} limit ${boundSlot}) as near` : all
  return sql`${read} limit ${limitSlot} offset ${offsetSlot}`
}

function allInOrder(
  { values, from }: Pick<PageRows, 'values' | 'from'>,
  { terms, keys, step }: OrderedRows,
): Sql {
  const order = orderBy(keys)
  if (step === undefined) return sql`select ${join(values)} ${from(terms)}${order}`
  const bound = boundOf(step, from(terms), sql`${lastSlot}`)
  const isWithin = sql`${step.column} ${raw(step.descending ? '>=' : '<=')} bound.b`
  return sql`select ${join(values)} ${from([...terms, isWithin], sql`${bound} straight_join `)}${order}`
}

/** Returns the end of a statement with rows that were read apart. */
export function endOfPage({ dialect }: TablePlace): Sql {
  return dialect.terms.directionOfPresent === undefined
    ? sql` limit ${limitSlot} offset ${offsetSlot}`
    : sql` limit ${limitSlot}`
}

/**
 * Returns the statement of rows that are read apart: those that a page may have, in no order. Each has its keys as `o0`
 * and so on.
 */
export function rowsApart(page: PageRows, order: PageOrder): Sql {
  const { place, query, values, from, isBounded } = page
  // Where a limit must be a number, the page is cut from the rows of all parts.
  if (place.dialect.terms.directionOfPresent === undefined) {
    const parts = order.reads.map((rows) => sql`(${allInOrder(page, rows)} limit ${endSlot})`)
    return join(parts, raw(' union all '))
  }
  // Otherwise all rows would be sorted.
  const end = isBounded
    ? sql`${boundSlot}`
    : sql`cast(${limitSlot} as bigint) + cast(${offsetSlot} as bigint)`
  const skipped: Sql[] = []
  const reads = order.reads.map((rows, index) => {
    if (query.offset === 0 || index === 0) return sql`(${rowsInOrder(page, rows)})`
    const before = order.reads[index - 1] as OrderedRows
    const near = sql`select 1 ${from(before.terms)} limit ${end}`
    skipped.push(
      sql` - (select count(*) from (select 1 from (${near}) as near limit ${offsetSlot}) as skipped)`,
    )
    const read = sql`select ${join(values)} ${from(rows.terms)}${orderBy(rows.keys)} limit ${end}`
    const again = orderBy(placedKeys(place, 'later', rows.keys))
    const start = sql`greatest(${offsetSlot}${join(skipped, sql``)}, 0)`
    return sql`(select * from (${read}) as later${again} limit ${limitSlot} offset ${start})`
  })
  return join(reads, raw(' union all '))
}

/** An index, from its first column on that may have several values. */
export interface IndexEnd {
  readonly index: Index
  /** The columns before it, which have one value each. */
  readonly fixed: readonly IndexColumn[]
  /** Undefined: each column has one value. */
  readonly first: IndexColumn | undefined
  readonly second: IndexColumn | undefined
}

/** Returns an index that has the order of a column except for its nulls. Undefined if there is none, or a better one. */
function indexWithout(
  place: TablePlace,
  column: PlacedColumn,
  bound: ReadonlySet<string>,
): IndexEnd | undefined {
  if (column.column.notNull || column.sql !== column.stored) return undefined
  const found = indexEnds(place, bound).filter(({ first }) => hasOrderOf(first, column))
  if (found.some(({ first }) => first?.hasNullOrder !== false)) return undefined
  return found.find(({ second }) => second !== undefined) ?? found[0]
}

/** Returns the ends of the indexes of a table, whose columns of these fields have one value each. */
export function indexEnds(
  { collection, found }: TablePlace,
  bound: ReadonlySet<string>,
): readonly IndexEnd[] {
  const fields = collection.fields.filter((field) => bound.has(field.name))
  const all = fields.map((field) => columnOf(found, field))
  const isFixed = ({ name: own, collation }: IndexColumn): boolean =>
    all.some((each) => each.name === own && (each.collation ?? null) === (collation ?? null))
  return found.indexes.map((index) => {
    const { columns } = index
    const from = columns.findIndex((each) => !isFixed(each))
    const fixed = from < 0 ? columns : columns.slice(0, from)
    return { index, fixed, first: columns[fixed.length], second: columns[fixed.length + 1] }
  })
}

/** Returns whether the own collation of a text column orders by code point. */
export function isInOrder({ column, sql: value, stored }: PlacedColumn): boolean {
  return column.isInOrder === true && value === stored
}

/** Returns whether a column of an index has the order of a column. Other texts are ordered by the collation "C". */
export function hasOrderOf(one: IndexColumn | undefined, placed: PlacedColumn): boolean {
  const { column, isText } = placed
  const expected = isInOrder(placed) ? column.collation : 'C'
  return one?.name === column.name && (!isText || one.collation === expected)
}

/** Returns the direction in which an index has the rows without value in the order of their next field, if it does. */
function directionOfAbsent(
  place: TablePlace,
  { first, second }: IndexEnd,
  next: SortField | undefined,
): 'asc' | 'desc' | undefined {
  if (next === undefined || first === undefined || second === undefined) return undefined
  const column = placedColumn(place, fieldOf(place.collection, next.field))
  const isOrdered = column.column.notNull && column.sql === column.stored
  if (!isOrdered || !hasOrderOf(second, column) || second.hasNullOrder !== false) return undefined
  return (second.descending === next.descending) === first.descending ? 'desc' : 'asc'
}
