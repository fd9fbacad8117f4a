import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import type { Condition, Row, StorageQuery } from '../adapter.ts'
import { identifier, join, raw, sql, type Sql } from '../sql.ts'
import type { Tables } from './tables.ts'
import { bound, boundList, columnTypes, isStorable } from './column-types.ts'
import {
  columnAt,
  columnOf,
  fieldOf,
  ordered,
  placeOf,
  tableName,
  termsOf,
  where,
} from './conditions.ts'
import type { Place } from './conditions.ts'
import type { PostgresRow } from './connection.ts'
import { isPlainNeedle, searchPattern } from './search.ts'

/** The doubles of a field whose text contains the needle of a query. */
export type FoundDoubles = ReadonlyMap<PublishedField, readonly number[]>

/** The rows that a query matches. */
export interface Matching {
  readonly place: Place
  /** The table, and the conditions. */
  readonly from: Sql
}

/** Returns the rows that meet conditions, and of the search those that are found. */
export function matching(
  tables: Tables,
  collection: PublishedCollection,
  { conditions, search }: Pick<StorageQuery, 'conditions' | 'search'>,
  doubles: FoundDoubles = new Map(),
): Matching {
  const place = placeOf(tables, collection)
  const terms = [...termsOf(place, conditions)]
  if (search !== null) terms.push(searchTerm(place, search, doubles))
  const table = sql`${tableName(place.table)} as ${identifier(place.alias)}`
  return { place, from: sql`from ${table}${where(terms)}` }
}

/**
 * Returns the statement of a page. With a count, each row has it as its first value and a mark of a row as its
 * second one, and there is at least one row, so that page and count are of one state.
 */
export function pageStatement({ place, from }: Matching, query: StorageQuery): Sql {
  const { limit, offset, sort, select, count } = query
  const columns = select.map((name, index) => {
    const column = columnAt(place, fieldOf(place.collection, name))
    return sql`${column} as ${identifier(`c${index}`)}`
  })
  const keys = sort.map(({ field: name, descending }) => {
    const field = fieldOf(place.collection, name)
    return { by: ordered(place, field), direction: direction(place, field, descending) }
  })
  const order = orderBy(keys.map(({ by, direction: way }) => sql`${by}${way}`))
  const bounds = raw(` limit ${limit} offset ${offset}`)
  if (!count) {
    const values = columns.length === 0 ? [sql`null`] : columns
    return sql`select ${join(values)} ${from}${order}${bounds}`
  }
  const total = sql`select count(*) as n ${from}`
  if (limit === 0) return total
  const by = keys.map(({ by: key }, index) => sql`${key} as ${identifier(`o${index}`)}`)
  const page = sql`select ${join([sql`1 as row`, ...columns, ...by])} ${from}${order}${bounds}`
  const values = ['total.n', 'page.row', ...select.map((_, index) => `page.c${index}`)].map(raw)
  // A join does not keep the order of its rows.
  const again = orderBy(
    keys.map(({ direction: way }, index) => sql`${identifier('page', `o${index}`)}${way}`),
  )
  return sql`with total as (${total}) select ${join(values)} from total left join (${page}) as page on true${again}`
}

function orderBy(terms: readonly Sql[]): Sql {
  return terms.length === 0 ? sql`` : sql` order by ${join(terms)}`
}

// An index without NULLS FIRST is not used for an order with it, so only columns with nulls have it.
function direction(place: Place, field: PublishedField, descending: boolean): Sql {
  if (columnOf(place, field).notNull) return descending ? sql` desc` : sql``
  return descending ? sql` desc nulls last` : sql` asc nulls first`
}

/** Returns the statement of the distinct doubles of a field in the rows that meet the conditions. */
export function doublesStatement({ place, from }: Matching, field: PublishedField): Sql {
  return sql`select distinct ${columnAt(place, field)} ${from}`
}

function searchTerm(
  place: Place,
  { fields, text }: NonNullable<StorageQuery['search']>,
  doubles: FoundDoubles,
): Sql {
  if (!isStorable(text)) return sql`false`
  const needle = bound(columnTypes.text, text)
  const isPlain = isPlainNeedle(text)
  const pattern = isPlain ? needle : bound(columnTypes.text, searchPattern(text))
  const terms = fields.map((name) => {
    const field = fieldOf(place.collection, name)
    const column = columnAt(place, field)
    const type = columnTypes[field.type]
    const found = doubles.get(field)
    if (found !== undefined) return sql`${column} = any(${boundList(type, found)})`
    const value = sql`(${type.wire(column)}) collate "C"`
    return isPlain ? sql`strpos(lower(${value}), ${needle}) > 0` : sql`${value} ~ ${pattern}`
  })
  return terms.length === 0 ? sql`false` : sql`(${join(terms, sql` or `)})`
}

/** Returns the statement that inserts a row and returns it complete. */
export function insertStatement(tables: Tables, collection: PublishedCollection, row: Row): Sql {
  const place = { ...placeOf(tables, collection) }
  const given = collection.fields.filter(({ name, generated }) =>
    generated === 'database' ? (row[name] ?? null) !== null : row[name] !== undefined,
  )
  const columns = given.map((field) => identifier(columnOf(place, field).name))
  const values = given.map((field) => boundField(field, row[field.name] ?? null))
  const rest =
    given.length === 0
      ? sql`default values`
      : sql`(${join(columns)}) overriding system value values (${join(values)})`
  const table = sql`${tableName(place.table)} as ${identifier(place.alias)}`
  return sql`insert into ${table} ${rest} returning ${complete(place)}`
}

/** Returns the statement that changes a row and returns it complete. */
export function updateStatement(
  tables: Tables,
  collection: PublishedCollection,
  conditions: readonly Condition[],
  changes: Row,
): Sql {
  const { place, from } = matching(tables, collection, { conditions, search: null })
  const names = Object.keys(changes)
  if (names.length === 0) return sql`select ${complete(place)} ${from} for update of t`
  const set = names.map((name) => {
    const field = fieldOf(collection, name)
    return sql`${identifier(columnOf(place, field).name)} = ${boundField(field, changes[name] ?? null)}`
  })
  const table = sql`${tableName(place.table)} as ${identifier(place.alias)}`
  const terms = where(termsOf(placeOf(tables, collection), conditions))
  return sql`update ${table} set ${join(set)}${terms} returning ${complete(place)}`
}

/** Returns the statement that deletes a row and returns it as it was. */
export function deleteStatement(
  tables: Tables,
  collection: PublishedCollection,
  conditions: readonly Condition[],
): Sql {
  const { place, from } = matching(tables, collection, { conditions, search: null })
  return sql`delete ${from} returning ${complete(place)}`
}

function boundField(field: PublishedField, value: StoredValue): Sql {
  if (isStorable(value)) return bound(columnTypes[field.type], value)
  throw new TypeError(
    `The value of ${field.name} has U+0000 or a lone surrogate, which PostgreSQL can't store.`,
  )
}

function complete(place: Place): Sql {
  return join(place.collection.fields.map((field) => columnAt(place, field)))
}

/** Returns the row of named fields. */
export function readRow(
  collection: PublishedCollection,
  names: readonly string[],
  values: PostgresRow,
  from = 0,
): Row {
  const row: Record<string, StoredValue> = {}
  for (const [index, name] of names.entries()) {
    const text = values[from + index] ?? null
    row[name] = text === null ? null : columnTypes[fieldOf(collection, name).type].read(text)
  }
  return row
}
