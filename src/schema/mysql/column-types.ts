import type { Field, FieldTypeName } from '../../definition/field.ts'
import type { ColumnType } from '../../storage/sql/dialect.ts'
import type { SchemaChangeText } from '../database.ts'
import { raw, sql, type Slot, type Sql } from '../../storage/sql/fragments.ts'
import { keepsFraction, momentOf } from '../../storage/sql/stored-text.ts'
import type { Column } from '../model.ts'

/** The characters of an index entry: a longer one than 3072 bytes is rejected, with up to four for each code point. */
export const maxIndexedCharacters = 768

/** The types of text. */
export const textBases = ['varchar', 'char', 'tinytext', 'text', 'mediumtext', 'longtext']
/** The types of whole numbers. */
export const wholeBases = ['tinyint', 'smallint', 'mediumint', 'int', 'bigint']

function asText(column: Sql): Sql {
  return sql`cast(${column} as char)`
}

function castTo(type: string): (slot: Slot) => Sql {
  return (slot) => sql`cast(${slot} as ${raw(type)})`
}

const whole: Pick<ColumnType, 'declared' | 'parameter' | 'fits' | 'wire'> = {
  declared: () => 'bigint',
  parameter: castTo('signed'),
  fits: ({ base, declared }) => wholeBases.includes(base) && !declared.includes('zerofill'),
  wire: asText,
}

/** Returns the column types by field type, with texts in a collation that orders by code point. */
export function columnTypesIn(collation: string): Readonly<Record<FieldTypeName, ColumnType>> {
  const exactly = `CHARACTER SET utf8mb4 COLLATE ${collation}`
  return {
    text: {
      declared(field, parts) {
        if (parts === 0) return `longtext ${exactly}`
        const { maxLength = maxIndexedCharacters } = field as Field & { type: 'text' }
        const longest = Math.floor(maxIndexedCharacters / parts)
        return `varchar(${Math.min(maxLength, longest)}) ${exactly}`
      },
      parameter: (slot) => sql`${slot}`,
      fits: ({ base, collation: own }) => textBases.includes(base) && own === collation,
      read: (text) => text,
      wire: (column) => column,
      isText: true,
    },
    integer: { ...whole, read: Number },
    bigint: { ...whole, read: (text) => text },
    decimal: {
      declared: (field) => {
        const { precision, scale } = field as Field & { type: 'decimal' }
        return `decimal(${precision}, ${scale})`
      },
      parameter: (slot, field) =>
        castTo(`decimal(65,${(field as Field & { type: 'decimal' }).scale})`)(slot),
      fits: ({ base, scale, declared }, field) =>
        base === 'decimal' &&
        scale === (field as Field & { type: 'decimal' }).scale &&
        !declared.includes('zerofill'),
      read: (text) => text,
      wire: asText,
    },
    double: {
      declared: () => 'double',
      parameter: castTo('double'),
      fits: ({ base, declared }) => base === 'double' && !/[(z]/.test(declared),
      // A zero has no sign on the wire.
      read: (text) => Number(text) + 0,
      write: (value) => String((value as number) + 0),
      wire: asText,
    },
    boolean: {
      declared: () => 'tinyint(1)',
      parameter: castTo('signed'),
      fits: ({ declared }) => /^tinyint\(1\)( unsigned)?$/.test(declared),
      // A tinyint may hold other numbers, which are not values of the field.
      read: (text) => (text === '1' ? true : text === '0' ? false : Number(text)),
      write: (value) => (value === true ? '1' : '0'),
      wire: (column) =>
        sql`case when ${column} = 1 then 'true' when ${column} = 0 then 'false' end`,
    },
    date: {
      declared: () => 'date',
      parameter: castTo('date'),
      fits: ({ base }) => base === 'date',
      read: (text) => text,
      wire: asText,
    },
    time: {
      declared: () => 'time(0)',
      parameter: castTo('time'),
      fits: ({ base, scale }) => base === 'time' && scale === 0,
      read: (text) => text,
      wire: asText,
    },
    dateTime: {
      declared: () => 'datetime(3)',
      parameter: castTo('datetime(3)'),
      fits: (column, field) => column.base === 'datetime' && keepsFraction(column, field),
      read: momentOf,
      wire: momentText,
    },
    instant: {
      declared: () => 'datetime(3)',
      parameter: castTo('datetime(3)'),
      fits: (column, field) =>
        ['datetime', 'timestamp'].includes(column.base) && keepsFraction(column, field),
      read: (text) => `${momentOf(text)}Z`,
      write: (value) => String(value).replace(/Z$/, ''),
      wire: (column) => sql`concat(${momentText(column)}, 'Z')`,
    },
    uuid: {
      declared: () => 'char(36) CHARACTER SET ascii COLLATE ascii_bin',
      parameter: (slot) => sql`${slot}`,
      fits: ({ base, length, isDeterministic, collation: own }) =>
        ['char', 'varchar'].includes(base) &&
        length === 36 &&
        (isDeterministic || own === 'ascii_bin'),
      read: (text) => text,
      wire: (column) => column,
    },
    json: {
      declared: () => `longtext ${exactly}`,
      parameter: (slot) => sql`${slot}`,
      // A JSON column of MariaDB keeps its text; one of MySQL does not.
      fits: ({ base }) => base !== 'char' && base !== 'varchar' && textBases.includes(base),
      read: (text) => text,
      wire: (column) => column,
    },
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
  if (textBases.includes(base)) return { ...facts, scale: undefined, length: size }
  return { ...facts, scale: size }
}

/** Returns whether a foreign key can have a column and its target: the server compares their bytes. */
export function haveSameBytes(
  column: Pick<Column, 'base' | 'scale' | 'collation'> & { readonly declared: string },
  target: Column,
): boolean {
  if (column.collation !== undefined || target.collation !== undefined)
    return column.collation === target.collation
  const isUnsigned = ({ declared }: { readonly declared: string }): boolean =>
    declared.includes('unsigned')
  return (
    column.base === target.base &&
    (column.scale ?? 0) === (target.scale ?? 0) &&
    isUnsigned(column) === isUnsigned(target)
  )
}
