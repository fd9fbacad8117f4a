import type { Field } from '../../../definition/field.ts'
import type { ColumnType } from '../../../schema/sqlite/column-types.ts'

/** The storage class of a value in SQLite. */
export type StorageClass = 'text' | 'integer' | 'real' | 'blob'

/** The valid values of a field in a column. */
export interface ValueForm {
  readonly storageClass: StorageClass
  /**
   * The condition for a value of the storage class. It must not be null for a value that is not null,
   * because a CHECK accepts null. Absent: every value of the class is valid.
   */
  readonly condition?: (column: string, field: Field) => string
  /** A condition that depends on options that may change, and is therefore not part of a CHECK. */
  readonly further?: (column: string, field: Field) => string
  /** The condition of the class, for a column that may hold the values in more than one class. */
  readonly classes?: (column: string, field: Field) => string
}

/** A form in which a column holds the values of a field, other than the normal one. */
export interface OtherForm {
  readonly form: ValueForm
  readonly columnType: ColumnType
}

/** Returns the GLOB pattern of a number of digits. */
export function digits(count: number): string {
  return '[0-9]'.repeat(count)
}

/** The GLOB pattern of a day. */
export const day = `${digits(4)}-${digits(2)}-${digits(2)}`

/** The GLOB pattern of a time of day, without fraction. */
export const timeOfDay = `${digits(2)}:${digits(2)}:${digits(2)}`

/** Returns the condition that a string has no U+0000. GLOB, substr and date() ignore everything after it. */
export function noNul(column: string): string {
  return `instr(${column}, char(0)) = 0`
}

/**
 * Returns the condition that a value is a string whose hour exists, if it has one. Newer versions of SQLite accept the
 * hour 24. The CHECK of existing tables does not reject it, so it is a part of the class.
 */
export function textWithHour(column: string): string {
  return `typeof(${column}) = 'text' AND substr(${column}, 12, 2) < '24'`
}

/** Returns the condition that a string that begins with the form of a day and time is a time that exists. */
export function realTime(column: string): string {
  // date() returns the next day for 24:00:00, and null for other times that do not exist.
  return `substr(${column}, 1, 10) IS date(${column}) AND ${column} NOT GLOB '0000*' AND ${noNul(column)}`
}
