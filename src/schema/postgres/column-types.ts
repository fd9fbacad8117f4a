import type { Field, FieldTypeName } from '../../definition/field.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import type { ColumnType, ListedValues } from '../../storage/sql/dialect.ts'
import { literal, raw, sql, type Slot, type Sql } from '../../storage/sql/fragments.ts'
import { momentOf } from '../../storage/sql/stored-text.ts'

function asText(column: Sql): Sql {
  return sql`${column}::text`
}

function parameterOf(type: string): (slot: Slot) => Sql {
  return (slot) => sql`${slot}::${raw(type)}`
}

const whole: Pick<ColumnType, 'declared' | 'parameter' | 'wire'> = {
  declared: () => 'bigint',
  parameter: parameterOf('bigint'),
  wire: asText,
}

/** How new columns keep the values of each field type. */
export const columnTypes: Readonly<Record<FieldTypeName, ColumnType>> = {
  text: {
    declared: () => 'text COLLATE "C"',
    parameter: parameterOf('text'),
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
    read: (text) => text,
    wire: asText,
  },
  double: {
    declared: () => 'double precision',
    parameter: parameterOf('float8'),
    // A zero has no sign on the wire.
    read: (text) => Number(text) + 0,
    wire: asText,
  },
  boolean: {
    declared: () => 'boolean',
    parameter: parameterOf('boolean'),
    read: (text) => text === 't',
    wire: (column) => sql`case when ${column} then 'true' when not ${column} then 'false' end`,
  },
  date: {
    declared: () => 'date',
    parameter: parameterOf('date'),
    read: (text) => text,
    wire: asText,
  },
  time: {
    declared: () => 'time(0)',
    parameter: parameterOf('time'),
    read: (text) => text,
    wire: asText,
  },
  dateTime: {
    declared: () => 'timestamp(3)',
    parameter: parameterOf('timestamp'),
    read: momentOf,
    wire: momentText,
  },
  instant: {
    declared: () => 'timestamptz(3)',
    parameter: parameterOf('timestamptz'),
    read: (text) => (text.endsWith('+00') ? `${momentOf(text.slice(0, -3))}Z` : text),
    wire: (column) => sql`${momentText(sql`(${column} at time zone 'UTC')`)} || 'Z'`,
  },
  uuid: {
    declared: () => 'uuid',
    parameter: parameterOf('uuid'),
    read: (text) => text,
    wire: asText,
  },
  json: {
    declared: () => 'json',
    parameter: parameterOf('json'),
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
