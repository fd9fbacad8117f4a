import type { Field, FieldTypeName } from '../../definition/field.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import type { ColumnType, ListedValues } from '../../storage/sql/dialect.ts'
import { literal, raw, sql, type Slot, type Sql } from '../../storage/sql/fragments.ts'
import { keepsFraction, momentOf } from '../../storage/sql/stored-text.ts'

function asText(column: Sql): Sql {
  return sql`${column}::text`
}

function parameterOf(type: string): (slot: Slot) => Sql {
  return (slot) => sql`${slot}::${raw(type)}`
}

const whole: Pick<ColumnType, 'declared' | 'parameter' | 'fits' | 'wire'> = {
  declared: () => 'bigint',
  parameter: parameterOf('bigint'),
  fits: ({ base }) => ['int2', 'int4', 'int8'].includes(base),
  wire: asText,
}

/** The column types by field type. */
export const columnTypes: Readonly<Record<FieldTypeName, ColumnType>> = {
  text: {
    declared: () => 'text COLLATE "C"',
    parameter: parameterOf('text'),
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
    parameter: parameterOf('numeric'),
    fits: ({ base, scale }, field) =>
      base === 'numeric' && scale === (field as Field & { type: 'decimal' }).scale,
    read: (text) => text,
    wire: asText,
  },
  double: {
    declared: () => 'double precision',
    parameter: parameterOf('float8'),
    fits: ({ base }) => base === 'float8',
    // A zero has no sign on the wire.
    read: (text) => Number(text) + 0,
    wire: asText,
  },
  boolean: {
    declared: () => 'boolean',
    parameter: parameterOf('boolean'),
    fits: ({ base }) => base === 'bool',
    read: (text) => text === 't',
    wire: (column) => sql`case when ${column} then 'true' when not ${column} then 'false' end`,
  },
  date: {
    declared: () => 'date',
    parameter: parameterOf('date'),
    fits: ({ base }) => base === 'date',
    read: (text) => text,
    wire: asText,
  },
  time: {
    declared: () => 'time(0)',
    parameter: parameterOf('time'),
    fits: ({ base, scale }) => base === 'time' && scale === 0,
    read: (text) => text,
    wire: asText,
  },
  dateTime: {
    declared: () => 'timestamp(3)',
    parameter: parameterOf('timestamp'),
    fits: (column, field) => column.base === 'timestamp' && keepsFraction(column, field),
    read: momentOf,
    wire: momentText,
  },
  instant: {
    declared: () => 'timestamptz(3)',
    parameter: parameterOf('timestamptz'),
    fits: (column, field) => column.base === 'timestamptz' && keepsFraction(column, field),
    read: (text) => (text.endsWith('+00') ? `${momentOf(text.slice(0, -3))}Z` : text),
    wire: (column) => sql`${momentText(sql`(${column} at time zone 'UTC')`)} || 'Z'`,
  },
  uuid: {
    declared: () => 'uuid',
    parameter: parameterOf('uuid'),
    fits: ({ base }) => base === 'uuid',
    read: (text) => text,
    wire: asText,
  },
  json: {
    declared: () => 'json',
    parameter: parameterOf('json'),
    fits: ({ base }) => base === 'json',
    read: (text) => text,
    wire: asText,
  },
}

function momentText(column: Sql): Sql {
  return sql`replace(to_char(${column}, ${literal('YYYY-MM-DD"T"HH24:MI:SS.MS')}), '.000', '')`
}

/** Returns a list of values as one parameter, an array of their type. */
export function listSlot(
  values: ListedValues,
  write: (value: NonNullable<StoredValue>) => string = String,
): Slot {
  return {
    read: (inputs) =>
      `{${values(inputs)
        .map((one) => arrayItem(write(one)))
        .join(',')}}`,
  }
}

function arrayItem(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
