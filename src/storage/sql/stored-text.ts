import type { Field } from '../../definition/field.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import { withoutZeroFraction } from '../../definition/value-forms.ts'
import type { ColumnType } from './dialect.ts'
import { sql, type Sql } from './fragments.ts'
import type { Column } from '../../schema/model.ts'

/** Returns whether a database can keep a value: a string without U+0000 and without lone surrogates. */
export function isStorable(value: StoredValue): boolean {
  return typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed())
}

/**
 * The regular expression of JSON that may not be a value of a field: escapes of U+0000 and of surrogates, and numbers
 * that may not be finite.
 */
export const unusualJson = String.raw`\\u(0000|[dD][89a-fA-F])|[eE][+]?[0-9]{3}|[0-9]{200}`

/**
 * Returns the wire form of a time that a server writes as `2024-01-01 00:00:00.1`. Another form, such as a year before
 * Christ, is returned unchanged.
 */
export function momentOf(text: string): string {
  if (!/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,3})?$/.test(text)) return text
  const wire = `${text.slice(0, 10)}T${text.slice(11)}`
  return wire.length === 19 ? wire : withoutZeroFraction(wire.padEnd(23, '0'))
}

/** Returns whether a column of times keeps the digits after the seconds of every value of its field. */
export function keepsFraction({ scale }: Column, field: Field): boolean {
  if (scale === undefined || scale > 3) return false
  const { storedAs } = field as { readonly storedAs?: string }
  return scale === 3 || field.readOnly === true || (scale === 0 && storedAs === 'seconds')
}

/** How a database cuts a time to milliseconds. */
export interface TimeCut {
  /** Returns the time without the digits after its milliseconds. */
  cut(column: Sql): Sql
  /** An interval of 999 microseconds. A whole millisecond after the last time of the year 9999 would be none. */
  readonly rest: Sql
}

/** Returns how a column with microseconds keeps times: a save of the time that clients see leaves its digits. */
export function withMicroseconds(
  normal: ColumnType,
  definition: Field,
  { cut, rest }: TimeCut,
): ColumnType {
  return {
    ...normal,
    value: cut,
    assigned: (parameter, column) =>
      column === undefined
        ? parameter
        : sql`case when ${cut(column)} = ${parameter} then ${column} else ${parameter} end`,
    near: (column, slot, isList) => {
      const value = normal.parameter(slot, definition)
      if (isList) return undefined
      return sql`${column} >= ${value} and ${column} <= ${value} + ${rest}`
    },
  }
}

/** Returns whether an enumeration of a database has each value that clients may give a field. */
export function hasLabels(
  { definition, readOnly }: PublishedField,
  labels: readonly string[],
): boolean {
  const allowed = (definition as Field & { type: 'text' }).enumeration
  return readOnly || allowed?.every((value) => labels.includes(value)) === true
}
