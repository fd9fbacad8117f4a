import type { Field, FieldTypeName } from '../../definition/field.ts'
import type { ColumnType } from '../../storage/sql/dialect.ts'
import type { SchemaChangeText } from '../database.ts'
import { raw, sql, type Slot, type Sql } from '../../storage/sql/fragments.ts'
import { momentOf } from '../../storage/sql/stored-text.ts'
import type { Column } from '../model.ts'

/** The characters of an index entry: a longer one than 3072 bytes is rejected, with up to four for each code point. */
export const maxIndexedCharacters = 768

function asText(column: Sql): Sql {
  return sql`cast(${column} as char)`
}

function castTo(type: string): (slot: Slot) => Sql {
  return (slot) => sql`cast(${slot} as ${raw(type)})`
}

const whole: Pick<ColumnType, 'declared' | 'parameter' | 'wire'> = {
  declared: () => 'bigint',
  parameter: castTo('signed'),
  wire: asText,
}

const plainTypes: Readonly<Record<Exclude<FieldTypeName, 'text' | 'json'>, ColumnType>> = {
  integer: { ...whole, read: Number },
  bigint: { ...whole, read: (text) => text },
  decimal: {
    declared: (field) => {
      const { precision, scale } = field as Field & { type: 'decimal' }
      return `decimal(${precision}, ${scale})`
    },
    parameter: (slot, field) =>
      castTo(`decimal(65,${(field as Field & { type: 'decimal' }).scale})`)(slot),
    read: (text) => text,
    wire: asText,
  },
  double: {
    declared: () => 'double',
    parameter: castTo('double'),
    // A zero has no sign on the wire.
    read: (text) => Number(text) + 0,
    write: (value) => String((value as number) + 0),
    wire: asText,
  },
  boolean: {
    declared: () => 'tinyint(1)',
    parameter: castTo('signed'),
    // A tinyint may hold other numbers, which are not values of the field.
    read: (text) => (text === '1' ? true : text === '0' ? false : Number(text)),
    write: (value) => (value === true ? '1' : '0'),
    wire: (column) => sql`case when ${column} = 1 then 'true' when ${column} = 0 then 'false' end`,
  },
  date: {
    declared: () => 'date',
    parameter: castTo('date'),
    read: (text) => text,
    wire: asText,
  },
  time: {
    declared: () => 'time(0)',
    parameter: castTo('time'),
    read: (text) => text,
    wire: asText,
  },
  dateTime: {
    declared: () => 'datetime(3)',
    parameter: castTo('datetime(3)'),
    read: momentOf,
    wire: momentText,
  },
  instant: {
    declared: () => 'datetime(3)',
    parameter: castTo('datetime(3)'),
    read: (text) => `${momentOf(text)}Z`,
    write: (value) => String(value).replace(/Z$/, ''),
    wire: (column) => sql`concat(${momentText(column)}, 'Z')`,
  },
  uuid: {
    declared: () => 'char(36) CHARACTER SET ascii COLLATE ascii_bin',
    parameter: (slot) => sql`${slot}`,
    read: (text) => text,
    wire: (column) => column,
  },
}

/** Returns how new columns keep the values of each field type, with texts in a collation that orders by code point. */
export function columnTypesIn(collation: string): Readonly<Record<FieldTypeName, ColumnType>> {
  const exactly = `CHARACTER SET utf8mb4 COLLATE ${collation}`
  const text: Pick<ColumnType, 'parameter' | 'read' | 'wire'> = {
    parameter: (slot) => sql`${slot}`,
    read: (stored) => stored,
    wire: (column) => column,
  }
  return {
    ...plainTypes,
    text: {
      ...text,
      declared(field, parts) {
        if (parts === 0) return `longtext ${exactly}`
        const { maxLength = maxIndexedCharacters } = field as Field & { type: 'text' }
        const longest = Math.floor(maxIndexedCharacters / parts)
        return `varchar(${Math.min(maxLength, longest)}) ${exactly}`
      },
      isText: true,
    },
    json: { ...text, declared: () => `longtext ${exactly}` },
  }
}

function momentText(column: Sql): Sql {
  const text = sql`insert(cast(cast(${column} as datetime(3)) as char), 11, 1, 'T')`
  return sql`replace(${text}, '.000', '')`
}

const declaredForm =
  /^([a-z]+)(?:\((\d+)(?:, (\d+))?\))?(?: CHARACTER SET [a-z0-9]+ COLLATE ([a-z0-9_]+))?$/

/** Returns what the catalogue says of a column that is declared with a type of {@link columnTypesIn}. */
export function described(declared: string): ReturnType<SchemaChangeText['described']> {
  const [, base = '', first, second, collation] = declaredForm.exec(declared) ?? []
  const size = first === undefined ? undefined : Number(first)
  const facts = { base, collation, isDeterministic: true }
  if (base === 'decimal') return { ...facts, precision: size, scale: Number(second) }
  if (collation !== undefined) return { ...facts, scale: undefined, length: size }
  return { ...facts, scale: size }
}

/** Returns whether a foreign key can have a column and its target: the server compares their bytes. */
export function haveSameBytes(
  column: Pick<Column, 'base' | 'scale' | 'collation'> & { readonly declared: string },
  target: Column,
): boolean {
  if (column.collation !== undefined || target.collation !== undefined)
    return column.collation === target.collation
  return (
    column.base === target.base &&
    (column.scale ?? 0) === (target.scale ?? 0) &&
    isUnsigned(column) === isUnsigned(target)
  )
}

type Declared = Pick<Column, 'declared'>

/** Returns whether a column has no negative numbers. */
export function isUnsigned({ declared }: Declared): boolean {
  return declared.includes('unsigned')
}

/** Returns whether a column writes zeros before its numbers. */
export function isZeroFilled({ declared }: Declared): boolean {
  return declared.includes('zerofill')
}

/** Returns whether a column is declared as one of boolean values. */
export function isFlag({ declared }: Declared): boolean {
  return /^tinyint\(1\)( unsigned)?$/.test(declared)
}
