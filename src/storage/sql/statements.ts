import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { equal } from '../../request/query.ts'
import type { Condition, StorageQuery } from '../adapter.ts'
import { fieldOf, termsOf, where } from './conditions.ts'
import { bind, type BoundStatement } from '../pool/connection.ts'
import type { Dialect, Tables } from './dialect.ts'
import {
  join,
  limitSlot,
  offsetSlot,
  raw,
  sql,
  withText,
  type Inputs,
  type Slot,
  type Sql,
} from './fragments.ts'
import { orderBy, placedKeys } from './order-keys.ts'
import {
  endOfPage,
  isFirstRow,
  mayBeApart,
  pageOrder,
  rowsApart,
  rowsInOrder,
} from './page-order.ts'
import { usesSearchIndex } from '../../schema/search-index.ts'
import { isPlainNeedle, searchPattern } from './search.ts'
import { dependsOnValues } from './value-plans.ts'
import { conditionsShape, identityOf, listShape, sortShape } from './shape.ts'
import { isStorable } from './stored-text.ts'
import { name, placedColumn, placeOf, typeOf, type TablePlace } from './table-conditions.ts'

/** The doubles of a field whose text contains the needle of a query. */
export type FoundDoubles = ReadonlyMap<PublishedField, readonly number[]>

type Matched = Pick<StorageQuery, 'conditions' | 'search'>

/**
 * Returns the statement of a page. With a count, each row has it as its first value and a mark of a row as its
 * second one, and there is at least one row, so that page and count are of one state.
 */
export function pageStatement(
  tables: Tables,
  collection: PublishedCollection,
  query: StorageQuery,
  doubles: FoundDoubles = new Map(),
): BoundStatement {
  const shape = pageShape(tables, collection, query, doubles)
  const text = tables.texts.find(shape, () => pageText(tables, collection, query, { doubles }))
  return bind(text, { ...inputsOf(query), doubles })
}

/** Returns what identifies the text of a page. */
export function pageShape(
  tables: Tables,
  collection: PublishedCollection,
  query: StorageQuery,
  doubles: FoundDoubles = new Map(),
): string {
  const { limit, offset, sort, select, count, lock = false } = query
  const kind = lock
    ? 'locked'
    : count
      ? limit === 0
        ? 'count'
        : offset === 0
          ? 'first'
          : 'counted'
      : offset === 0 && mayBeApart(tables, collection, sort)
        ? 'start'
        : 'page'
  return `${kind}\0${isFirstRow(query) ? 1 : (limitInText(tables, query) ?? '')}\0${matchedShape(tables, collection, query, doubles)}\0${sortShape(sort)}\0${listShape(collection, select)}`
}

/** What the rows of a page have or meet beyond their query. */
export interface Further {
  readonly doubles?: FoundDoubles
  /** Expressions that follow the fields. */
  readonly columns?: readonly Sql[]
  /** Fields that equal columns of another table, and the terms that they do. */
  readonly related?: { readonly fields: readonly string[]; readonly terms: readonly Sql[] }
}

/** Returns the limit of a query if it is part of the text, and not a parameter. */
function limitInText({ dialect }: Tables, { conditions, limit }: StorageQuery): number | undefined {
  return conditions.length > 0 && dialect.knownLimits?.has(limit) === true ? limit : undefined
}

/** Returns the SQL of a page. Its columns are `c0` and so on. */
export function pageText(
  tables: Tables,
  collection: PublishedCollection,
  query: StorageQuery,
  further: Further = {},
): Sql {
  const place = placeOf(tables, collection)
  const isPlannedByValues =
    tables.dialect.knownLimits !== undefined && dependsOnValues(place, query)
  const text = textWithSlots(place, query, { ...further, isPlannedByValues })
  const limit = limitInText(tables, query)
  const written = limit === undefined ? text : withText(text, limitSlot, String(limit))
  return isPlannedByValues ? { ...written, isPlannedByValues } : written
}

function textWithSlots(
  place: TablePlace,
  query: StorageQuery,
  {
    doubles = new Map(),
    columns: others = [],
    related,
    isPlannedByValues,
  }: Further & { readonly isPlannedByValues: boolean },
): Sql {
  const { dialect, collection } = place
  const { limit, offset, select, count } = query
  const from = (terms: readonly Sql[], before?: Sql): Sql =>
    matching(place, query, doubles, { terms: [...(related?.terms ?? []), ...terms], before })
  const selected = [...select.map((field) => place.column(fieldOf(collection, field))), ...others]
  const columns = selected.map((value, index) => sql`${value} as ${name(dialect, `c${index}`)}`)
  const isLocked = query.lock === true && isLockable(place)
  // A field that equals a column has one value in all rows of the page.
  const bound = (related?.fields ?? []).map((field) => equal(field, ''))
  const ordered = { ...query, conditions: [...bound, ...query.conditions] }
  const order = pageOrder(place, ordered, isLocked)
  const only = order.reads.length === 1 ? order.reads[0] : undefined
  const by = order.keys.map(({ by: key }, index) => sql`${key} as ${name(dialect, `o${index}`)}`)
  // Neither a join nor a union keeps the order of its rows.
  const again = orderBy(placedKeys(place, 'page', order.keys))
  // More rows than those of the page would be locked.
  const isBounded = dialect.knownLimits !== undefined && !isPlannedByValues && !isLocked
  const page = { place, query, from, isBounded }
  if (!count) {
    const values = columns.length === 0 ? [sql`null as ${name(dialect, 'c0')}`] : columns
    const lock = isLocked ? dialect.transactions.lock : sql``
    if (only !== undefined) return sql`${rowsInOrder({ ...page, values }, only)}${lock}`
    const names = values.map((_, index) => raw(`page.c${index}`))
    const rows = rowsApart({ ...page, values: [...values, ...by] }, order)
    return sql`select ${join(names)} from (${rows}) as page${again}${endOfPage(place)}`
  }
  const all = sql`select count(*) as n ${from([])}`
  if (limit === 0) return all
  const listed = { ...page, values: [sql`1 as r`, ...columns, ...by] }
  const rows =
    only !== undefined
      ? rowsInOrder(listed, only)
      : sql`select * from (${rowsApart(listed, order)}) as page${again}${endOfPage(place)}`
  // As `shownCount`: a page that is not full shows the number, and nothing is counted.
  const size = sql`count(page.r) over ()`
  const isOpen = sql`${size} < ${limitSlot}`
  const [isShown, shown] =
    offset === 0 ? [isOpen, size] : [sql`${size} > 0 and ${isOpen}`, sql`${size} + ${offsetSlot}`]
  const total = sql`case when ${isShown} then ${shown} else (${all}) end`
  const values = ['page.r', ...selected.map((_, index) => `page.c${index}`)].map(raw)
  return sql`select ${join([total, ...values])} from (select 1 as one) as one left join (${rows}) as page on true${again}`
}

/**
 * Returns whether the rows of a table can be locked. A lock needs the right to update them, and policies may hide rows
 * from it.
 */
function isLockable({ found }: TablePlace): boolean {
  const { kind, columns, hasPolicies = false } = found
  return (
    kind === 'table' && !hasPolicies && columns.some(({ isUpdatable }) => isUpdatable !== false)
  )
}

/** Returns the statement of the distinct doubles of a field in the rows that meet the conditions. */
export function doublesStatement(
  tables: Tables,
  collection: PublishedCollection,
  conditions: readonly Condition[],
  field: PublishedField,
): BoundStatement {
  const matched = { conditions, search: null }
  const shape = `doubles${matchedShape(tables, collection, matched)}\0${field.name}`
  const text = tables.texts.find(shape, () => {
    const place = placeOf(tables, collection)
    return sql`select distinct ${place.column(field)} ${matching(place, matched)}`
  })
  return bind(text, { conditions })
}

/** Returns the statement of the plan of a read of the rows that meet conditions. */
export function planStatement(
  tables: Tables,
  collection: PublishedCollection,
  conditions: readonly Condition[],
  explain: string,
): BoundStatement {
  const matched = { conditions, search: null }
  const text = tables.texts.find(`plan${matchedShape(tables, collection, matched)}`, () => {
    return sql`${raw(explain)} select 1 ${matching(placeOf(tables, collection), matched)}`
  })
  return bind(text, { conditions })
}

/** Returns the values that a page binds. */
export function inputsOf({ conditions, search, limit, offset }: StorageQuery): Inputs {
  const bounds = { conditions, limit, offset }
  return search === null ? bounds : { ...bounds, needle: search.text }
}

/** Returns the part of conditions and search that determines the SQL. */
export function matchedShape(
  { dialect }: Tables,
  collection: PublishedCollection,
  { conditions, search }: Matched,
  doubles: FoundDoubles = new Map(),
): string {
  const { listSlots } = dialect.terms
  const own = conditionsShape(collection, conditions, (_, length) => listSlots(length))
  let shape = `${identityOf(collection)}\0${own}\0`
  if (search === null) return shape
  shape += `${matcherOf(dialect, collection, search.text)}\0${listShape(collection, search.fields)}`
  for (const [field, found] of doubles) shape += `\0${field.name}${listSlots(found.length)}`
  return shape
}

/** Returns FROM and WHERE of the rows that meet conditions and further terms, and of the search those that are found. */
function matching(
  place: TablePlace,
  { conditions, search }: Matched,
  doubles: FoundDoubles = new Map(),
  {
    terms: further = [],
    before = sql``,
  }: { readonly terms?: readonly Sql[]; readonly before?: Sql | undefined } = {},
): Sql {
  const terms = [...termsOf(place, conditions), ...further]
  if (search !== null) terms.push(searchTerm(place, search, doubles))
  return sql`from ${before}${place.table}${where(terms)}`
}

/** Returns how texts are compared with a needle. */
function matcherOf(
  dialect: Dialect,
  collection: PublishedCollection,
  needle: string,
): 'indexed' | 'plain' | 'matches' {
  if (usesSearchIndex(dialect, collection, needle)) return 'indexed'
  return dialect.search.plain !== undefined && isPlainNeedle(needle) ? 'plain' : 'matches'
}

function searchTerm(
  place: TablePlace,
  { fields, text }: NonNullable<StorageQuery['search']>,
  doubles: FoundDoubles,
): Sql {
  const { search, searchIndex, terms } = place.dialect
  // Nothing contains a needle that the database can't represent: nothing matches null.
  const slot = (change: (needle: string) => string): Slot => ({
    read: ({ needle = '' }) => (isStorable(needle) ? change(needle) : null),
  })
  const matcher = matcherOf(place.dialect, place.collection, text)
  const plain = matcher === 'plain' ? search.plain : undefined
  const { matches } = matcher === 'indexed' ? (searchIndex ?? search) : search
  const found = fields.map((searched) => {
    const field = fieldOf(place.collection, searched)
    const column = placedColumn(place, field)
    const listed = doubles.get(field)
    if (listed !== undefined) {
      return terms.isIn(column, (inputs) => inputs.doubles?.get(field) ?? [], listed.length)
    }
    const value = typeOf(place, field).wire(column.sql)
    return plain === undefined
      ? matches(
          value,
          slot((needle) => searchPattern(needle, search.escaped)),
        )
      : plain(
          value,
          slot((needle) => needle),
        )
  })
  return found.length === 0 ? sql`1 = 0` : sql`(${join(found, sql` or `)})`
}
