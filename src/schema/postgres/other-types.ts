import type { Field } from '../../definition/field.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import { padDecimal } from '../../definition/value-forms.ts'
import type { ColumnType } from '../../storage/sql/dialect.ts'
import { literal, raw, sql, type Slot, type Sql } from '../../storage/sql/fragments.ts'
import { hasLabels, withMicroseconds, type TimeCut } from '../../storage/sql/stored-text.ts'
import type { Column } from '../model.ts'
import { columnTypes } from './column-types.ts'

/**
 * Returns how an existing column that no definition creates keeps the values of a field: in another form, or so that
 * clients only read them. Undefined if it does not keep them exactly.
 */
export function otherType(column: Column, field: PublishedField): ColumnType | undefined {
  const { base, labels } = column
  const normal = columnTypes[field.type]
  switch (field.type) {
    case 'text':
      if (labels !== undefined && hasLabels(field, labels)) return enumeration(column)
      return textTypes[base]?.(column, field) ?? (field.readOnly ? shown(column) : undefined)
    case 'decimal':
      if (base === 'numeric' && column.scale === undefined) return openNumber(field.definition)
      if (base !== 'money' || !field.readOnly) return undefined
      return { ...openNumber(field.definition), value: castTo('numeric') }
    case 'double':
      if (base !== 'float4' || !field.readOnly) return undefined
      // The shortest digits of the number, and not those of the nearest double.
      return { ...normal, value: (stored) => sql`(${stored}::text::float8)` }
    case 'dateTime':
    case 'instant': {
      const isTime = base === (field.type === 'dateTime' ? 'timestamp' : 'timestamptz')
      return isTime && field.storedAs === 'microseconds'
        ? withMicroseconds(normal, field.definition, byTruncation)
        : undefined
    }
    case 'json':
      if (base !== 'jsonb' || !(field.readOnly || field.storedAs === 'jsonb')) return undefined
      return { ...normal, parameter: (slot) => sql`${slot}::jsonb`, value: castTo('text') }
    default:
      return undefined
  }
}

/** Returns what a field needs so that an existing column keeps its values; undefined if nothing helps. */
export function adviceFor(
  { base, labels, scale }: Column,
  { type }: PublishedField,
): string | undefined {
  if (type === 'text' && labels !== undefined) return `set enumeration: ${JSON.stringify(labels)}`
  if (type === 'text' && base === 'bpchar') return "set storedAs: 'char'"
  if (type === 'text' && base !== 'bytea') return 'set readOnly: true'
  if (type === 'json' && base === 'jsonb') return "set readOnly: true or storedAs: 'jsonb'"
  if (['decimal money', 'double float4'].includes(`${type} ${base}`)) return 'set readOnly: true'
  if (!['dateTime timestamp', 'instant timestamptz'].includes(`${type} ${base}`)) return undefined
  if (scale === undefined || scale > 3) return "set storedAs: 'microseconds'"
  return scale === 0 ? "set storedAs: 'seconds' or readOnly: true" : 'set readOnly: true'
}

function castTo(type: string): (column: Sql) => Sql {
  return (column) => sql`(${column}::${raw(type)})`
}

/** Any value as text, which clients can't write. */
function shown({ base, type = '' }: Column): ColumnType | undefined {
  if (base === 'bytea') return undefined
  return { ...columnTypes.text, value: castTo('text'), assigned: castTo(type) }
}

const textTypes: Readonly<
  Record<string, (column: Column, field: PublishedField) => ColumnType | undefined>
> = {
  // Their comparisons also find other values, but an index serves them.
  text: collated,
  varchar: collated,
  citext: ({ type = 'citext' }) => ({
    ...columnTypes.text,
    value: castTo('text'),
    near: comparedAs(type),
  }),
  bpchar: (_, { storedAs, readOnly }) =>
    storedAs === 'char' || readOnly
      ? { ...columnTypes.text, value: castTo('text'), near: comparedAs('bpchar') }
      : undefined,
}

function collated(): ColumnType {
  return {
    ...columnTypes.text,
    value: (column) => sql`(${column} collate "C")`,
    near: comparedAs('text'),
  }
}

function comparedAs(type: string): (column: Sql, slot: Slot, isList: boolean) => Sql {
  return (column, slot, isList) =>
    isList ? sql`${column} = any(${slot}::${raw(type)}[])` : sql`${column} = ${slot}::${raw(type)}`
}

function enumeration({ type = '' }: Column): ColumnType {
  const own = raw(type)
  return {
    ...columnTypes.text,
    value: castTo('text'),
    assigned: (parameter) => sql`${parameter}::${own}`,
    // A cast of a string that is not a label would fail.
    near: (column, slot, isList) =>
      isList
        ? undefined
        : sql`${column}::${own} = (select e.enumlabel::text::${own} from pg_catalog.pg_enum e where e.enumtypid = ${literal(type)}::regtype and e.enumlabel = ${slot}::text)`,
  }
}

/** A number without the scale of the field, whose values may have fewer digits than the field, or more that are zeros. */
function openNumber(definition: Field): ColumnType {
  const { scale } = definition as Field & { type: 'decimal' }
  return {
    ...columnTypes.decimal,
    read(text) {
      const [whole = '', fraction = ''] = text.split('.')
      const isNumber = /^-?\d+$/.test(whole) && /^0*$/.test(fraction.slice(scale))
      return isNumber ? padDecimal(`${whole}.${fraction.slice(0, scale)}`, definition) : text
    },
    wire: (column) => sql`round(${column}, ${raw(String(scale))})::text`,
  }
}

const byTruncation: TimeCut = {
  cut: (column) => sql`date_trunc('milliseconds', ${column})`,
  rest: sql`interval '999 microseconds'`,
}
