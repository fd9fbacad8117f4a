import { sql, type RawBuilder } from 'kysely'
import type { Field, FieldTypeName } from '../../definition/field.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import type { SqliteValue } from './connection.ts'

/** A piece of SQL text. */
export type Sql = RawBuilder<unknown>

/** The affinity of a column: what SQLite does to values that are stored in it. */
export type Affinity = 'TEXT' | 'INTEGER' | 'REAL' | 'NUMERIC' | 'BLOB'

/** Which letters the wire text of a type may contain: it decides how `$q` folds it. */
export type Letters = 'none' | 'ascii' | 'any' | 'folded'

/** Everything that SQLite has to know about a field type. A new type is one more entry. */
export interface ColumnType {
  /** The affinities of a host's column that keep every value as it is. */
  readonly fits: readonly Affinity[]
  /** Whether an empty text is stored as such and means "no value". */
  readonly emptyText: boolean
  /** The stored form of a value that is not null. */
  bind(value: StoredValue): SqliteValue
  /** What a row is read with. */
  read(column: Sql): Sql
  /** What makes a value of a row from what was read and is not null. */
  readonly decode?: (value: SqliteValue) => StoredValue
  /** The value as an argument of json_object; absent: SQLite writes it otherwise than JavaScript. */
  readonly json?: ((column: Sql) => Sql) | undefined
  /** The column in a comparison of equality: exact, whatever collation its table declares. */
  exactly(column: Sql): Sql
  /** The text that `$q` looks into. */
  wire(column: Sql): Sql
  readonly letters: Letters
  /** The terms that order by value, null first when ascending. */
  order(column: Sql, descending: boolean): readonly Sql[]
}

const self = (column: Sql): Sql => column
const binary = (column: Sql): Sql => sql`${column} collate binary`
const asText = (column: Sql): Sql => sql`cast(${column} as text)`
const directed = (term: Sql, descending: boolean): Sql => (descending ? sql`${term} desc` : term)

const textual: ColumnType = {
  fits: ['TEXT', 'BLOB'],
  emptyText: false,
  bind: (value) => value as string,
  read: self,
  json: self,
  exactly: binary,
  wire: self,
  letters: 'ascii',
  order: (column, descending) => [directed(binary(column), descending)],
}

// Texts that no reader takes for a number survive NUMERIC affinity, which DATE and UUID have.
const punctuated: ColumnType = { ...textual, fits: ['TEXT', 'BLOB', 'NUMERIC'] }

const numeric: ColumnType = {
  ...textual,
  fits: ['INTEGER', 'NUMERIC', 'BLOB'],
  // A plain number would be bound as a floating point value.
  bind: (value) => BigInt(value as number | string),
  exactly: self,
  wire: asText,
  letters: 'none',
  order: (column, descending) => [directed(column, descending)],
}

const wireInstant = (column: Sql): Sql => sql`replace(${column}, '.000Z', 'Z')`

/** Every column type by the name of its field type. */
export const columnTypes: Readonly<Record<FieldTypeName, ColumnType>> = {
  text: { ...textual, emptyText: true, letters: 'any' },
  integer: numeric,
  bigint: { ...numeric, read: asText, json: asText },
  decimal: { ...textual, letters: 'none', order: orderDecimal },
  double: {
    ...numeric,
    fits: ['REAL', 'NUMERIC', 'INTEGER', 'BLOB'],
    bind: (value) => value as number,
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
  dateTime: punctuated,
  instant: {
    ...punctuated,
    // Always with a fraction, so that the order of the texts is the order of time.
    bind: (value) => (value as string).replace(/:(\d\d)Z$/, ':$1.000Z'),
    read: wireInstant,
    json: wireInstant,
    wire: wireInstant,
  },
  uuid: punctuated,
  json: { ...textual, json: (column) => sql`json(${column})`, letters: 'any' },
}

/** The column type of a field. */
export function columnTypeOf(field: { readonly type: Field['type'] }): ColumnType {
  return columnTypes[field.type]
}

/** Binds a value of a field. */
export function bindValue(
  field: { readonly type: Field['type'] },
  value: StoredValue,
): SqliteValue {
  return value === null ? null : columnTypes[field.type].bind(value)
}

function trueOrFalse(column: Sql): Sql {
  return sql`case ${column} <> 0 when 1 then 'true' when 0 then 'false' end`
}

// By sign, then by length, then by digits, the last two turned round below zero: compareDecimals.
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
