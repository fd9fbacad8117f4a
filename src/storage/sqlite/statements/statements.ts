import type { PublishedField } from '../../../definition/published-field.ts'
import type { PublishedCollection } from '../../../definition/published.ts'
import type { Condition, Row, StorageQuery } from '../../adapter.ts'
import { bindValue, columnTypeOf } from './columns.ts'
import { fieldOf, readsOthers, where } from '../../sql/conditions.ts'
import { joinedConditions, listSlots, writeConditions } from './conditions.ts'
import {
  columnOf,
  jsonObject,
  readAll,
  readLengths,
  type Guaranteed,
} from '../reading/guaranteed-values.ts'
import { likePattern, searchCondition, type SearchShape } from '../search/search.ts'
import { identifier, join, raw, sql, type Slot, type Sql } from '../../sql/fragments.ts'
import { conditionsShape, identityOf, listShape } from '../../sql/shape.ts'
import { foundRows, probe } from '../search/index-statements.ts'
import type { SearchIndex } from '../search/open-indexes.ts'
import type { MatchNeedle } from '../search/trigrams.ts'

/** The SQL of a statement, and its parameters in order. */
export interface StatementText {
  readonly sql: string
  readonly slots: readonly Slot[]
}

/** The parts of a query that determine its SQL. Values, limit and offset are bound. */
export interface PageShape extends Pick<StorageQuery, 'conditions' | 'sort' | 'select'> {
  readonly search: SearchShape | null
  /** What ends the order of a collection without key. Default: nothing. */
  readonly end?: readonly Sql[]
  /** Read the keys of the page first, then its rows. */
  readonly deep: boolean
  /** Expressions of further columns. Default: none. */
  readonly further?: readonly Sql[]
  /** A condition that is evaluated before all others. */
  readonly first?: Sql | undefined
  /** The search index that finds the rows. Without it, the rows of the table are read. */
  readonly found?: SearchIndex | undefined
  /** The name of the index that finds the rows. Default: SQLite chooses. */
  readonly index?: string | undefined
}

/** What a statement returns for a row: its values, its values and the byte lengths of strings, or JSON text. */
export type Output = 'rows' | 'lengths' | 'json'

/** How rows are read. */
export interface Reading {
  readonly output: Output
  readonly guaranteed: Guaranteed
  /** Whether SQLite checks all values, also those that `readRow` can check. It does if lengths are read. */
  readonly checksAll: boolean
}

/** Returns the statement of a page. */
export function pageStatement(
  collection: PublishedCollection,
  shape: PageShape,
  reading: Reading,
): StatementText {
  return textOf(pageOf(collection, shape, reading))
}

/** Returns the SQL of a page. */
export function pageOf(collection: PublishedCollection, shape: PageShape, reading: Reading): Sql {
  const fields = shape.select.map((name) => fieldOf(collection, name))
  const column = columnOf('t')
  const selected = join([selection(fields, reading, 't'), ...(shape.further ?? [])])
  const matching = matchingClauses(collection, shape)
  const order = orderBy(collection, shape, column)
  // With a bare parameter SQLite plans the statement again for each binding, which takes 5 to 12 µs.
  const bounds = sql`limit cast(${limitSlot} as integer) offset cast(${offsetSlot} as integer)`
  if (!shape.deep) return sql`select ${selected} ${matching}${order} ${bounds}`
  const keys = collection.key.map(
    (field, index) => sql`${column(field)} as ${identifier(`k${index}`)}`,
  )
  const joined = collection.key.map(
    (field, index) =>
      sql`${columnTypeOf(field).exactly(column(field))} = page.${identifier(`k${index}`)}`,
  )
  // CROSS JOIN fixes the order: the page first, then its rows. Otherwise SQLite scans the table first.
  return sql`select ${selected} from (select ${join(keys)} ${matching}${order} ${bounds}) as page
      cross join ${identifier(collection.table)} as t on ${join(joined, sql` and `)}${order}`
}

/** The columns whose values together no two rows have, by collection. */
export type Identities = ReadonlyMap<PublishedCollection, readonly string[]>

/**
 * Returns what ends an order by all sortable fields. Otherwise rows of a collection without key that it does not
 * distinguish could change their places from page to page.
 */
export function endOfOrder(
  collection: PublishedCollection,
  identities: Identities,
): readonly Sql[] {
  const { key, singleton, fields } = collection
  if (key.length > 0 || singleton) return []
  const identity = identities.get(collection)
  if (identity !== undefined) return identity.map((column) => identifier('t', column))
  return fields
    .filter(({ kind }) => kind.compare === undefined)
    .map(({ column }) => sql`${identifier('t', column)} collate binary`)
}

/** Returns the statement that reads the one item that meets the conditions as JSON text. */
export function itemTextStatement(
  collection: PublishedCollection,
  conditions: readonly Condition[],
  select: readonly string[],
  guaranteed: Guaranteed,
): StatementText {
  const shape = { conditions, select, sort: [], search: null, deep: false }
  return pageStatement(collection, shape, { output: 'json', guaranteed, checksAll: false })
}

/** Returns the statement that counts the matching rows. */
export function countStatement(collection: PublishedCollection, shape: PageShape): StatementText {
  return textOf(sql`select count(*) ${matchingClauses(collection, shape)}`)
}

/** Returns the statement that returns a row if a search index finds at least `rows` rows. */
export function probeStatement({ index, match }: SearchIndex, rows: number): StatementText {
  return textOf(probe(index, matchSlot(match), rows))
}

/** Returns the statement that returns a row if an index finds at least `rows` rows that meet conditions. */
export function rangeProbeStatement(
  collection: PublishedCollection,
  { conditions, index }: Pick<PageShape, 'conditions'> & { readonly index: string },
  rows: number,
): StatementText {
  const matching = matchingClauses(collection, { conditions, index, search: null })
  return textOf(sql`select 1 ${matching} limit 1 offset ${raw(String(rows - 1))}`)
}

/** What a statement that writes is made from. */
export interface WriteShape {
  /** The fields that it sets. */
  readonly names: readonly string[]
  /** Empty for an insert. */
  readonly conditions: readonly Condition[]
  /** Whether it returns the row complete, with lengths. */
  readonly returning: boolean
}

/** Returns what identifies the SQL of a write of a kind, with its conditions and the fields that it names. */
export function writeKey(
  kind: string,
  collection: PublishedCollection,
  conditions: readonly Condition[],
  names: readonly string[],
): string {
  const matching = conditionsShape(collection, conditions, listSlots)
  return `${kind}${identityOf(collection)}\0${matching}\0${listShape(collection, names)}`
}

/** Returns the statement that inserts a row. */
export function insertStatement(
  collection: PublishedCollection,
  { names, returning }: WriteShape,
  guaranteed: Guaranteed,
): StatementText {
  const columns = names.map((name) => identifier(fieldOf(collection, name).column))
  const values =
    names.length === 0
      ? sql`default values`
      : sql`(${join(columns)}) values (${join(names.map((name) => rowSlot(collection, name)))})`
  const insert = sql`insert into ${identifier(collection.table)} ${values}`
  if (!returning) return textOf(insert)
  // The values that the service stores fit their fields.
  const fitting = new Map([
    ...guaranteed,
    ...names.map((name) => [fieldOf(collection, name), 'fit'] as const),
  ])
  return textOf(sql`${insert} ${returned(collection, { ...complete, guaranteed: fitting })}`)
}

/** Returns the statement that updates a row. */
export function updateStatement(
  collection: PublishedCollection,
  { names, conditions, returning }: WriteShape,
  guaranteed: Guaranteed,
): StatementText {
  const changes = names.map((name) => {
    const field = fieldOf(collection, name)
    const [column, value] = [identifier(field.column), rowSlot(collection, name)]
    return sql`${column} = ${columnTypeOf(field).assigned?.(column, value) ?? value}`
  })
  const update = sql`update ${written(collection, conditions, sql` set ${join(changes)}`)}`
  if (!returning) return textOf(update)
  return textOf(sql`${update} ${returned(collection, { ...complete, guaranteed })}`)
}

/** Returns the statement that deletes a row. */
export function deleteStatement(
  collection: PublishedCollection,
  { conditions }: Pick<WriteShape, 'conditions'>,
): StatementText {
  return textOf(sql`delete from ${written(collection, conditions, sql``)}`)
}

function textOf({ texts, slots }: Sql): StatementText {
  return { sql: texts.join('?'), slots }
}

const limitSlot: Slot = { read: ({ limit }) => limit as number }
const offsetSlot: Slot = { read: ({ offset }) => offset as number }
const needleSlot: Slot = { read: ({ needle }) => needle as string }
const patternSlot: Slot = { read: ({ needle }) => likePattern(needle as string) }
const matchSlot = (match: MatchNeedle): Slot => ({
  read: ({ needle }) => match(needle as string) ?? null,
})

function rowSlot(collection: PublishedCollection, name: string): Sql {
  const field = fieldOf(collection, name)
  // The adapter adds no amounts.
  const slot: Slot = {
    read: ({ row }) => bindValue(field, (row as Row | undefined)?.[name] ?? null),
  }
  return sql`${slot}`
}

/** Returns the clauses that select rows, with the alias `t`: tables, joins, and the conditions. */
function matchingClauses(
  collection: PublishedCollection,
  shape: Pick<PageShape, 'conditions' | 'search' | 'first' | 'found' | 'index'>,
): Sql {
  const { found, index } = shape
  const by = index === undefined ? sql`` : sql` indexed by ${identifier(index)}`
  const rows =
    found === undefined
      ? sql`${identifier(collection.table)} as t${by}`
      : foundRows(found.index, matchSlot(found.match))
  const column = columnOf('t')
  const { joins, terms: conditions } = joinedConditions(collection, shape.conditions, column)
  const terms = shape.first === undefined ? [...conditions] : [shape.first, ...conditions]
  if (shape.search !== null) {
    const fields = shape.search.fields.map((name) => fieldOf(collection, name))
    const parameters = { needle: sql`${needleSlot}`, pattern: sql`${patternSlot}` }
    terms.push(searchCondition(fields, shape.search.kind, column, parameters))
  }
  return sql`from ${rows}${joins}${where(terms)}`
}

/** Returns the table of a write and its conditions, with `between` them. */
function written(
  collection: PublishedCollection,
  conditions: readonly Condition[],
  between: Sql,
): Sql {
  const table = identifier(collection.table)
  // In a subquery, a column without alias may be one of the other table.
  const alias = conditions.some(readsOthers) ? 't' : undefined
  const terms = writeConditions(collection, conditions, columnOf(alias))
  const named = alias === undefined ? table : sql`${table} as ${identifier(alias)}`
  return sql`${named}${between}${where(terms)}`
}

function orderBy(
  collection: PublishedCollection,
  { sort, end = [] }: Pick<PageShape, 'sort' | 'end'>,
  column: (field: PublishedField) => Sql,
): Sql {
  const sorted = sort.flatMap(({ field: name, descending }) => {
    const field = fieldOf(collection, name)
    return columnTypeOf(field).order(column(field), descending)
  })
  const terms = [...sorted, ...end]
  return terms.length === 0 ? sql`` : sql` order by ${join(terms)}`
}

const complete = { output: 'lengths', checksAll: true } as const

function returned(collection: PublishedCollection, reading: Reading): Sql {
  return sql`returning ${selection(collection.fields, reading)}`
}

function selection(
  fields: readonly PublishedField[],
  { output, guaranteed, checksAll }: Reading,
  alias?: string,
): Sql {
  if (output === 'json') return sql`${jsonObject(fields, guaranteed, alias)} as item`
  const values = readAll(fields, { guaranteed, checksAll }, alias)
  return output === 'rows' ? values : sql`${values}${readLengths(fields, alias)}`
}
