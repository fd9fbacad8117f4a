import type { Field, FieldTypeName } from '../../definition/field.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import { literal, raw, sql, type Sql } from '../sql.ts'
import type { Column } from './tables.ts'

/** How PostgreSQL keeps the values of a field type. */
export interface ColumnType {
  /** The type of a new column. */
  declared(field: Field): string
  /** The type of a parameter. */
  readonly parameter: string
  /** Returns whether a column keeps every value of the field exactly. */
  fits(column: Column, field: Field): boolean
  /** Returns the value of the text of a column. */
  read(text: string): StoredValue
  /** Returns the wire text of a column, which `$q` searches. */
  wire(column: Sql): Sql
  /** Whether the values are compared as text, code point by code point. */
  readonly isText?: boolean
}

function asText(column: Sql): Sql {
  return sql`${column}::text`
}

const whole: Pick<ColumnType, 'declared' | 'parameter' | 'fits' | 'wire'> = {
  declared: () => 'bigint',
  parameter: 'bigint',
  fits: ({ base }) => ['int2', 'int4', 'int8'].includes(base),
  wire: asText,
}

/** The column types by field type. */
export const columnTypes: Readonly<Record<FieldTypeName, ColumnType>> = {
  text: {
    declared: () => 'text COLLATE "C"',
    parameter: 'text',
    fits: ({ base, isDeterministic }) => ['text', 'varchar'].includes(base) && isDeterministic,
    read: (text) => text,
    wire: (column) => column,
    isText: true,
  },
  integer: { ...whole, read: Number },
  bigint: { ...whole, read: (text) => text },
  decimal: {
    declared: (field) => {
      const { precision, scale } = field as Field & { type: 'decimal' }
      return `numeric(${precision}, ${scale})`
    },
    parameter: 'numeric',
    fits: ({ base, modifier }, field) => {
      const { scale } = field as Field & { type: 'decimal' }
      return base === 'numeric' && modifier >= 4 && ((modifier - 4) & 2047) === scale
    },
    read: (text) => text,
    wire: asText,
  },
  double: {
    declared: () => 'double precision',
    parameter: 'float8',
    fits: ({ base }) => base === 'float8',
    // A zero has no sign on the wire.
    read: (text) => Number(text) + 0,
    wire: asText,
  },
  boolean: {
    declared: () => 'boolean',
    parameter: 'boolean',
    fits: ({ base }) => base === 'bool',
    read: (text) => text === 't',
    wire: (column) => sql`case when ${column} then 'true' when not ${column} then 'false' end`,
  },
  date: {
    declared: () => 'date',
    parameter: 'date',
    fits: ({ base }) => base === 'date',
    read: (text) => text,
    wire: asText,
  },
  dateTime: {
    declared: () => 'timestamp(3)',
    parameter: 'timestamp',
    fits: ({ base, modifier }) => base === 'timestamp' && isMilliseconds(modifier),
    read: momentOf,
    wire: momentText,
  },
  instant: {
    declared: () => 'timestamptz(3)',
    parameter: 'timestamptz',
    fits: ({ base, modifier }) => base === 'timestamptz' && isMilliseconds(modifier),
    read: (text) => (text.endsWith('+00') ? `${momentOf(text.slice(0, -3))}Z` : text),
    wire: (column) => sql`${momentText(sql`(${column} at time zone 'UTC')`)} || 'Z'`,
  },
  uuid: {
    declared: () => 'uuid',
    parameter: 'uuid',
    fits: ({ base }) => base === 'uuid',
    read: (text) => text,
    wire: asText,
  },
  json: {
    declared: () => 'json',
    parameter: 'json',
    fits: ({ base }) => base === 'json',
    read: (text) => text,
    wire: asText,
  },
}

function isMilliseconds(modifier: number): boolean {
  return modifier >= 0 && modifier <= 3
}

// The server writes `2024-01-01 00:00:00.1`. Another form, such as that of a year before Christ, stays as it is.
function momentOf(text: string): string {
  if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,3})?$/.test(text)) return text
  const wire = `${text.slice(0, 10)}T${text.slice(11)}`
  return wire.length === 19 ? wire : wire.padEnd(23, '0')
}

function momentText(column: Sql): Sql {
  return sql`replace(to_char(${column}, ${literal('YYYY-MM-DD"T"HH24:MI:SS.MS')}), '.000', '')`
}

/** Returns a value as a parameter of its type. */
export function bound(type: ColumnType, value: StoredValue): Sql {
  const text = value === null ? null : String(value)
  return sql`${{ read: () => text }}::${raw(type.parameter)}`
}

/** Returns a list of values as one parameter, an array of their type. */
export function boundList(type: ColumnType, values: readonly NonNullable<StoredValue>[]): Sql {
  const items = values.map((value) => `"${String(value).replace(/["\\]/g, '\\$&')}"`)
  const text = `{${items.join(',')}}`
  return sql`${{ read: () => text }}::${raw(type.parameter)}[]`
}

/** Returns whether PostgreSQL can represent a string: no U+0000 and no lone surrogate. */
export function isStorable(value: StoredValue): boolean {
  return typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed())
}
