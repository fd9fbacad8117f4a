import type { FieldTypeName } from '../../definition/field.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import type { SqliteValue } from '../../storage/sqlite/connection/connection.ts'
import { raw, sql, type Sql } from '../../storage/sql/fragments.ts'

/** The affinity of a column: how SQLite converts values that are stored in it. */
export type Affinity = 'TEXT' | 'INTEGER' | 'REAL' | 'NUMERIC' | 'BLOB'

/** Returns the affinity of a declared type, by the rules of SQLite in their order. */
export function affinityOf(declared: string): Affinity {
  const type = declared.toUpperCase()
  if (type.includes('INT')) return 'INTEGER'
  if (/CHAR|CLOB|TEXT/.test(type)) return 'TEXT'
  if (type === '' || type.includes('BLOB')) return 'BLOB'
  return /REAL|FLOA|DOUB/.test(type) ? 'REAL' : 'NUMERIC'
}

/** The letters that the wire form of a type may contain. They determine how `$q` folds it. */
export type Letters = 'none' | 'ascii' | 'any' | 'folded'

/** The operators of comparisons by order. */
export type OrderOperator = '<' | '<=' | '>' | '>='

/** How SQLite stores and reads the values of a field. */
export interface ColumnType {
  /** The affinities of existing columns that keep every value unchanged. */
  readonly fits: readonly Affinity[]
  /** Whether the type has the empty string, which the condition `empty` also finds. */
  readonly hasEmptyString: boolean
  /** Returns the stored form of a value that is not null. */
  bind(value: StoredValue): SqliteValue
  /** The expression that reads the column. */
  read(column: Sql): Sql
  /** Converts a value that was read, and is not null, to the value of a row. Absent: no conversion. */
  readonly decode?: (value: SqliteValue) => StoredValue
  /** The value as an argument of json_object. Absent if SQLite and JavaScript write it differently. */
  readonly json?: ((column: Sql) => Sql) | undefined
  /** The column in an exact comparison, whatever collation the table declares. */
  exactly(column: Sql): Sql
  /** What an update assigns to a column. Default: the stored form of the value. */
  readonly assigned?: (column: Sql, value: Sql) => Sql
  /** The term that compares the column with a value in the order of `order`. It is null if the column is. */
  compare(column: Sql, operator: OrderOperator, value: Sql): Sql
  /** Whether SQLite reads bound values exactly from JSON. */
  readonly hasExactJson: boolean
  /** The value as it is on the wire, in which `$q` searches. */
  wire(column: Sql): Sql
  readonly letters: Letters
  /** The terms that sort by value, with null first in ascending order. */
  order(column: Sql, descending: boolean): readonly Sql[]
}

const self = (column: Sql): Sql => column
const asText = (column: Sql): Sql => sql`cast(${column} as text)`

/** Returns a column in a comparison of bytes, whatever collation the table declares. */
export function binary(column: Sql): Sql {
  return sql`${column} collate binary`
}

function directed(term: Sql, descending: boolean): Sql {
  return descending ? sql`${term} desc` : term
}

/** Strings that SQLite compares as they are. */
export const textual: ColumnType = {
  fits: ['TEXT', 'BLOB'],
  hasEmptyString: false,
  bind: (value) => value as string,
  read: self,
  json: self,
  exactly: binary,
  compare: (column, operator, value) => sql`${binary(column)} ${raw(operator)} ${value}`,
  hasExactJson: true,
  wire: self,
  letters: 'ascii',
  order: (column, descending) => [directed(binary(column), descending)],
}

/** Strings that do not look like numbers. They keep their form in columns declared as DATE or UUID (NUMERIC affinity). */
export const punctuated: ColumnType = { ...textual, fits: ['TEXT', 'BLOB', 'NUMERIC'] }

/** Numbers that SQLite compares as they are. */
export const numeric: ColumnType = {
  ...textual,
  fits: ['INTEGER', 'NUMERIC', 'BLOB'],
  // The drivers bind a JavaScript number as a floating-point value.
  bind: (value) => BigInt(value as number | string),
  exactly: self,
  compare: (column, operator, value) => sql`${column} ${raw(operator)} ${value}`,
  wire: asText,
  letters: 'none',
  order: (column, descending) => [directed(column, descending)],
}

const wireInstant = (column: Sql): Sql => sql`replace(${column}, '.000Z', 'Z')`

/** Returns the members of a column type that reads with one expression. */
export function readAs(read: (column: Sql) => Sql): Pick<ColumnType, 'read' | 'json' | 'wire'> {
  return { read, json: read, wire: read }
}

/** The column types of the normal forms, by the name of the field type. */
export const columnTypes: Readonly<Record<FieldTypeName, ColumnType>> = {
  text: { ...textual, hasEmptyString: true, letters: 'any' },
  integer: numeric,
  bigint: { ...numeric, read: asText, json: asText },
  decimal: { ...textual, letters: 'none', compare: compareDecimal, order: orderDecimal },
  double: {
    ...numeric,
    fits: ['REAL', 'NUMERIC', 'INTEGER', 'BLOB'],
    bind: (value) => value as number,
    // The text of a number with a fraction may be read inexactly.
    hasExactJson: false,
    read: (column) => sql`cast(${column} as real)`,
    json: undefined,
    wire: (column) => sql`cast(${column} as real)`,
    letters: 'folded',
  },
  boolean: {
    ...numeric,
    bind: (value) => (value === true ? 1n : 0n),
    read: (column) => sql`${column} <> 0`,
    decode: (value) => value === 1,
    json: (column) => sql`json(${trueOrFalse(column)})`,
    wire: trueOrFalse,
  },
  date: { ...punctuated, letters: 'none' },
  time: { ...punctuated, letters: 'none' },
  dateTime: punctuated,
  instant: {
    ...punctuated,
    // Always with a fraction, so that the strings sort by time.
    bind: (value) => (value as string).replace(/:(\d\d)Z$/, ':$1.000Z'),
    read: wireInstant,
    json: wireInstant,
    wire: wireInstant,
  },
  uuid: punctuated,
  // A column declared as JSON has NUMERIC affinity, which converts only a document that is a number.
  json: { ...punctuated, json: (column) => sql`json(${column})`, letters: 'any' },
}

function trueOrFalse(column: Sql): Sql {
  return sql`case ${column} <> 0 when 1 then 'true' when 0 then 'false' end`
}

// By sign, then by length, then by digits. The last two are reversed below zero, as in compareDecimals.
function orderDecimal(column: Sql, descending: boolean): readonly Sql[] {
  const positive = sql`substr(${column}, 1, 1) <> '-'`
  const length = sql`case when ${positive} then length(${column}) else -length(${column}) end`
  const digits = (when: Sql): Sql => sql`case when ${when} then ${column} end collate binary`
  return [
    directed(positive, descending),
    directed(length, descending),
    directed(digits(positive), descending),
    directed(digits(sql`not ${positive}`), !descending),
  ]
}

// As orderDecimal. Strings of the same length compare by their digits.
function compareDecimal(column: Sql, operator: OrderOperator, value: Sql): Sql {
  const isPositive = (text: Sql): Sql => sql`substr(${text}, 1, 1) <> '-'`
  const by = raw(operator)
  const signs = sql`(${isPositive(column)}) ${by} (${isPositive(value)})`
  const own = sql`(length(${column}), ${column} collate binary)`
  const other = sql`(length(${value}), ${value})`
  return sql`case when (${isPositive(column)}) <> (${isPositive(value)}) then ${signs}
    when ${isPositive(column)} then ${own} ${by} ${other} else ${other} ${by} ${own} end`
}
