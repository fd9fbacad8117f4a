import {
  DummyDriver,
  Kysely,
  sql,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { PublishedCollection, PublishedField } from '../../definition/published.ts'
import type { Condition, Row, SortField, StorageQuery } from '../adapter.ts'
import { bindValue, columnTypeOf, type Sql } from './columns.ts'
import type { SqliteValue } from './connection.ts'
import { columnOf, jsonObject, readAll, readLengths, type Guaranteed } from './reading.ts'
import { needleKind, searchCondition } from './search.ts'

/** The values that a statement may bind. */
export interface Inputs {
  readonly conditions: readonly Condition[]
  readonly row?: Row
  readonly needle?: string
  readonly limit?: number
  readonly offset?: number
}

/** One bound value of a statement: where it comes from. */
export interface Slot {
  read(inputs: Inputs): SqliteValue
}

/** The text of a statement, and what it binds in order. */
export interface StatementText {
  readonly sql: string
  readonly slots: readonly Slot[]
}

/** The parts of a query that decide its text: values, limit and offset are bound. */
export type PageShape = Omit<StorageQuery, 'limit' | 'offset' | 'count'> & {
  /** Fetch the page's keys first, then the rows. */
  readonly deep: boolean
}

/** How a statement gives rows: their values, the same with the lengths of texts, or as JSON text. */
export type Output = 'rows' | 'lengths' | 'json'

/** How rows are read. */
export interface Reading {
  readonly output: Output
  readonly guaranteed: Guaranteed
}

// Only writes text: nothing is executed through it.
const writer = new Kysely<Record<string, never>>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
})

/** A page, each row as the reading selects it. */
export function pageStatement(
  collection: PublishedCollection,
  shape: PageShape,
  reading: Reading,
): StatementText {
  const fields = shape.select.map((name) => fieldOf(collection, name))
  const column = columnOf('t')
  const selected = selection(fields, reading, 't')
  const table = sql.id(collection.table)
  const matching = sql`from ${table} as t${where(collection, shape, column)}`
  const order = orderBy(collection, shape.sort, column)
  // A bare parameter here makes SQLite plan the statement anew each time it is bound: 5 to 12 µs.
  const bounds = sql`limit cast(${limitSlot} as integer) offset cast(${offsetSlot} as integer)`
  if (!shape.deep) return textOf(sql`select ${selected} ${matching}${order} ${bounds}`)
  const keys = collection.key.map((field, index) => sql`${column(field)} as ${sql.id(`k${index}`)}`)
  const joined = collection.key.map(
    (field, index) =>
      sql`${columnTypeOf(field).exactly(column(field))} = page.${sql.id(`k${index}`)}`,
  )
  return textOf(
    sql`select ${selected} from (select ${sql.join(keys)} ${matching}${order} ${bounds}) as page
      join ${table} as t on ${sql.join(joined, sql` and `)}${order}`,
  )
}

/** The number of rows that match. */
export function countStatement(collection: PublishedCollection, shape: PageShape): StatementText {
  const table = sql.id(collection.table)
  return textOf(sql`select count(*) from ${table} as t${where(collection, shape, columnOf('t'))}`)
}

/** Stores a row of these fields and gives it back whole. */
export function insertStatement(
  collection: PublishedCollection,
  names: readonly string[],
  guaranteed: Guaranteed,
): StatementText {
  const columns = names.map((name) => sql.id(fieldOf(collection, name).column))
  const values =
    names.length === 0
      ? sql`default values`
      : sql`(${sql.join(columns)}) values (${sql.join(names.map((name) => rowSlot(collection, name)))})`
  // What the service itself stores fits.
  const whole = new Set([...guaranteed, ...names.map((name) => fieldOf(collection, name))])
  return textOf(
    sql`insert into ${sql.id(collection.table)} ${values} ${returning(collection, { output: 'rows', guaranteed: whole })}`,
  )
}

/** Changes these fields of the row that meets the conditions and gives it back whole, with lengths. */
export function updateStatement(
  collection: PublishedCollection,
  conditions: readonly Condition[],
  names: readonly string[],
  guaranteed: Guaranteed,
): StatementText {
  const changes = names.map(
    (name) => sql`${sql.id(fieldOf(collection, name).column)} = ${rowSlot(collection, name)}`,
  )
  const matching = where(collection, { conditions, search: null }, columnOf())
  return textOf(
    sql`update ${sql.id(collection.table)} set ${sql.join(changes)}${matching} ${returning(collection, { output: 'lengths', guaranteed })}`,
  )
}

/** Removes the row that meets the conditions and gives it back whole, with lengths. */
export function deleteStatement(
  collection: PublishedCollection,
  conditions: readonly Condition[],
  guaranteed: Guaranteed,
): StatementText {
  const matching = where(collection, { conditions, search: null }, columnOf())
  return textOf(
    sql`delete from ${sql.id(collection.table)}${matching} ${returning(collection, { output: 'lengths', guaranteed })}`,
  )
}

function textOf(query: Sql): StatementText {
  const compiled = query.compile(writer)
  return { sql: compiled.sql, slots: compiled.parameters as readonly Slot[] }
}

const limitSlot: Slot = { read: ({ limit }) => limit as number }
const offsetSlot: Slot = { read: ({ offset }) => offset as number }
const needleSlot: Slot = { read: ({ needle }) => needle as string }

function rowSlot(collection: PublishedCollection, name: string): Sql {
  const field = fieldOf(collection, name)
  const slot: Slot = { read: ({ row }) => bindValue(field, row?.[name] ?? null) }
  return sql`${slot}`
}

function where(
  collection: PublishedCollection,
  shape: Pick<PageShape, 'conditions' | 'search'>,
  column: (field: PublishedField) => Sql,
): Sql {
  const terms = shape.conditions.map((condition, index) =>
    conditionTerm(fieldOf(collection, condition.field), condition, index, column),
  )
  if (shape.search !== null) {
    const fields = shape.search.fields.map((name) => fieldOf(collection, name))
    terms.push(
      searchCondition(fields, needleKind(shape.search.text), column, () => sql`${needleSlot}`),
    )
  }
  return terms.length === 0 ? sql`` : sql` where ${sql.join(terms, sql` and `)}`
}

function conditionTerm(
  field: PublishedField,
  condition: Condition,
  index: number,
  column: (field: PublishedField) => Sql,
): Sql {
  const type = columnTypeOf(field)
  if (condition.is === 'empty') {
    return type.emptyText
      ? sql`(${column(field)} is null or ${type.exactly(column(field))} = '')`
      : sql`${column(field)} is null`
  }
  if (condition.value === null) return sql`${column(field)} is null`
  const slot: Slot = {
    read({ conditions }) {
      const given = conditions[index] as { readonly value: string | number | boolean }
      return type.bind(given.value)
    },
  }
  return sql`${type.exactly(column(field))} = ${slot}`
}

function orderBy(
  collection: PublishedCollection,
  sort: readonly SortField[],
  column: (field: PublishedField) => Sql,
): Sql {
  const terms = sort.flatMap(({ field: name, descending }) => {
    const field = fieldOf(collection, name)
    return columnTypeOf(field).order(column(field), descending)
  })
  return terms.length === 0 ? sql`` : sql` order by ${sql.join(terms)}`
}

function returning(collection: PublishedCollection, reading: Reading): Sql {
  return sql`returning ${selection(collection.fields, reading)}`
}

function selection(
  fields: readonly PublishedField[],
  { output, guaranteed }: Reading,
  alias?: string,
): Sql {
  if (output === 'json') return jsonObject(fields, guaranteed, alias)
  const values = readAll(fields, guaranteed, alias)
  return output === 'rows' ? values : sql`${values}${readLengths(fields, alias)}`
}

function fieldOf(collection: PublishedCollection, name: string): PublishedField {
  const field = collection.byName.get(name)
  if (field !== undefined) return field
  throw new TypeError(`${collection.application}/${collection.name} has no field ${name}`)
}
