import type { Field } from '../../definition/field.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import { maxRealPrecision } from '../../definition/stored-forms.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import { cutsSpaces } from '../column-limits.ts'
import type { ColumnType, Dialect } from '../../storage/sql/dialect.ts'
import { raw, sql, type Slot, type Sql } from '../../storage/sql/fragments.ts'
import { hasLabels, withMicroseconds } from '../../storage/sql/stored-text.ts'
import type { Column } from '../model.ts'
import { textBases, wholeBases } from './column-types.ts'

// What the server writes as text without a loss. The text of a float has six digits.
const shownBases: readonly string[] = [
  ...[...wholeBases, 'decimal', 'bit', 'year', 'date', 'datetime', 'timestamp', 'time'],
  ...['enum', 'set', 'inet4', 'inet6', 'uuid', 'json'],
]

/**
 * Returns how existing columns that no definition creates keep the values of a field: in another form, or so that
 * clients only read them.
 *
 * @param collation the one that orders by code point
 */
export function otherTypesIn(
  collation: string,
  columnTypes: Dialect['columnTypes'],
): (column: Column, field: PublishedField) => ColumnType | undefined {
  const exact = raw(` collate ${collation}`)

  function inExact(text: Sql, own: string | undefined): Sql {
    if (own === undefined) return sql`cast(${text} as char character set utf8mb4)${exact}`
    // Of a column with another character set, a comparison must name the one of the collation.
    return own.startsWith('utf8mb4_')
      ? sql`(${text}${exact})`
      : sql`convert(${text} using utf8mb4)${exact}`
  }

  /** Text that is compared and ordered by code point, whatever the column does. */
  function exactText({ base, collation: own, precision = 1 }: Column): ColumnType {
    const bits = (column: Sql): Sql => sql`lpad(bin(${column} + 0), ${raw(`${precision}`)}, '0')`
    return {
      ...columnTypes.text,
      value: (column) => inExact(base === 'bit' ? bits(column) : column, own),
      ...(own === undefined ? {} : { near: (column, slot) => nearText(column, slot, own) }),
    }
  }

  function textType(column: Column, field: PublishedField): ColumnType | undefined {
    const { base, labels } = column
    if (textBases.includes(base)) return exactText(column)
    const isShown = field.readOnly && shownBases.includes(base)
    return isShown || (labels !== undefined && hasLabels(field, labels))
      ? exactText(column)
      : undefined
  }

  /** A number without the zeros that its column writes before it, or a year, which is compared as a number. */
  function plainNumber(
    { base }: Column,
    { type, definition }: PublishedField,
    own: string,
  ): ColumnType {
    const { parameter } = columnTypes[type]
    const near = (column: Sql, slot: Slot): Sql => sql`${column} = ${parameter(slot, definition)}`
    // The comparison of a year with 24 would find 2024.
    return {
      ...columnTypes[type],
      value: castTo(own),
      ...(base === 'year' ? {} : { near }),
    }
  }

  return (column, field) => {
    const { base, declared, precision, scale } = column
    const normal = columnTypes[field.type]
    const isNumber = base === 'year' || wholeBases.includes(base)
    switch (field.type) {
      case 'text':
        return textType(column, field)
      case 'integer':
      case 'bigint':
        return isNumber ? plainNumber(column, field, 'unsigned') : undefined
      case 'decimal': {
        const digits = (field.definition as Field & { type: 'decimal' }).scale
        const isDouble =
          base === 'double' && precision !== undefined && precision <= maxRealPrecision
        const keepsDigits = base === 'decimal' || (isDouble && !declared.includes('zerofill'))
        if (keepsDigits && scale === digits)
          return plainNumber(column, field, `decimal(${precision}, ${scale})`)
        if (!wholeBases.includes(base) || digits > 0) return undefined
        return declared.includes('zerofill') ? plainNumber(column, field, 'unsigned') : normal
      }
      case 'double':
        if (!['float', 'double'].includes(base) || !field.readOnly) return undefined
        return { ...normal, value: castTo('double') }
      case 'boolean':
        if (declared !== 'bit(1)') return undefined
        return {
          ...normal,
          value: (stored) => sql`(${stored} + 0)`,
          near: (stored, slot) => sql`${stored} = ${normal.parameter(slot, field.definition)}`,
        }
      case 'dateTime':
      case 'instant': {
        const isTime = base === 'datetime' || (base === 'timestamp' && field.type === 'instant')
        if (!isTime || field.storedAs !== 'microseconds') return undefined
        return cutType(normal, field.definition)
      }
      case 'uuid':
        if (base !== 'uuid') return undefined
        return {
          ...normal,
          value: (stored) => inExact(stored, undefined),
          near: (stored, slot) => sql`${stored} = ${slot}`,
        }
      case 'json':
        if (base !== 'json' || !(field.readOnly || field.storedAs === 'jsonb')) return undefined
        return { ...normal, value: (stored) => inExact(stored, undefined) }
      default:
        return undefined
    }
  }
}

/** Returns what a field needs so that an existing column keeps its values; undefined if nothing helps. */
export function adviceFor(
  { base, labels, scale }: Column,
  { type }: PublishedField,
): string | undefined {
  if (type === 'text' && base === 'enum') return `set enumeration: ${JSON.stringify(labels)}`
  if (type === 'text' && shownBases.includes(base)) return 'set readOnly: true'
  if (type === 'double' && ['float', 'double'].includes(base)) return 'set readOnly: true'
  if (type === 'json' && base === 'json') return "set readOnly: true or storedAs: 'jsonb'"
  const isTime = type === 'instant' ? ['datetime', 'timestamp'] : ['datetime']
  if (!['dateTime', 'instant'].includes(type) || !isTime.includes(base)) return undefined
  if (scale === undefined || scale > 3) return "set storedAs: 'microseconds'"
  return scale === 0 ? "set storedAs: 'seconds' or readOnly: true" : 'set readOnly: true'
}

/**
 * Returns whether a column would keep another value than the one that it is given. The server rejects a string that is
 * too long, but it cuts spaces at the end without an error. A year of two digits becomes one of four.
 */
export function changesValue(column: Column, value: StoredValue): boolean {
  const { base, length } = column
  if (base === 'year') return Number(value) > 0 && Number(value) < 100
  if (base === 'varchar') return cutsSpaces(column, value)
  if (typeof value !== 'string' || !value.endsWith(' ') || !textBases.includes(base)) return false
  return base === 'char' || (length !== undefined && Buffer.byteLength(value) > length)
}

function cutType(normal: ColumnType, definition: Field): ColumnType {
  const cut = (stored: Sql): Sql =>
    sql`cast(${stored} - interval microsecond(${stored}) % 1000 microsecond as datetime(3))`
  return {
    ...withMicroseconds(normal, definition, { cut, rest: sql`interval 999 microsecond` }),
    // Of a zero date, every function returns null.
    returned: (stored) => stored,
    read: (text) => normal.read(text.replace(/(\.\d{3})\d+$/, '$1')),
  }
}

function castTo(type: string): (column: Sql) => Sql {
  return (column) => sql`cast(${column} as ${raw(type)})`
}

// The comparison of the column also finds other strings, but an index serves it. A character that the column can't
// hold becomes a question mark. CONVERT returns the default collation of the character set, with which the server
// rejects a comparison of another one.
function nearText(column: Sql, slot: Slot, collation: string): Sql {
  const [charset = ''] = collation.split('_')
  return charset === 'utf8mb4'
    ? sql`${column} = ${slot}`
    : sql`${column} = convert(${slot} using ${raw(charset)}) collate ${raw(collation)}`
}
