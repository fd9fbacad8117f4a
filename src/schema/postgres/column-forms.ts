import type { Field } from '../../definition/field.ts'
import { padDecimal } from '../../definition/value-forms.ts'
import type { ColumnType } from '../../storage/sql/dialect.ts'
import { literal, raw, sql, type Slot, type Sql } from '../../storage/sql/fragments.ts'
import type { TimeCut } from '../../storage/sql/stored-text.ts'
import { columnTypes } from './column-types.ts'

/** Text in a collation that may find other values, too. An index serves its comparisons. */
export const collated: ColumnType = {
  ...columnTypes.text,
  value: (column) => sql`(${column} collate "C")`,
  near: comparedAs('text'),
}

/** Returns how a column is cast to a type. */
export function castTo(type: string): (column: Sql) => Sql {
  return (column) => sql`(${column}::${raw(type)})`
}

/** Returns text that an index on a column of another type finds. */
export function shownAs(type: string): ColumnType {
  return { ...columnTypes.text, value: castTo('text'), near: comparedAs(type) }
}

function comparedAs(type: string): (column: Sql, slot: Slot, isList: boolean) => Sql {
  return (column, slot, isList) =>
    isList ? sql`${column} = any(${slot}::${raw(type)}[])` : sql`${column} = ${slot}::${raw(type)}`
}

/** Returns text that is a label of an enumeration. `type`: the enumeration, with its schema. */
export function enumerated(type: string): ColumnType {
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

/** Returns a number without the scale of the field, whose values may have fewer digits than the field, or more that are zeros. */
export function openNumber(definition: Field): ColumnType {
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

/** How a time is cut to milliseconds. */
export const byTruncation: TimeCut = {
  cut: (column) => sql`date_trunc('milliseconds', ${column})`,
  rest: sql`interval '999 microseconds'`,
}
