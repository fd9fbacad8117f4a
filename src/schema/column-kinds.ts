import type { Field, FieldTypeName } from '../definition/field.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { ColumnType } from '../storage/sql/dialect.ts'
import type { Sql } from '../storage/sql/fragments.ts'
import { keepsFraction } from '../storage/sql/stored-text.ts'
import type { CatalogueColumn } from './catalogue-tables.ts'
import type { Candidates } from './describe/candidates.ts'
import type { Column } from './model.ts'

/** How columns of one type relate to the fields of one type. `Forms`: what depends on the server. */
export interface KeptField<Forms> {
  /** Returns how a column keeps the values of a field. Undefined: not exactly. Default: undefined for every field. */
  kept?(column: Column, field: PublishedField, forms: Forms): ColumnType | undefined
  /** Returns what a field needs so that the column keeps its values. Undefined: nothing helps. Default: undefined. */
  advice?(column: Column): string | undefined
  /**
   * Returns the condition that a value of a column, other than null, is one of its field. Undefined: the type of the
   * column allows no other values. Default: undefined.
   */
  fitTerm?(value: Sql, column: Column, field: Field): Sql | undefined
  /**
   * Returns whether every value stays the same if the column gets the type of a new column of the field, or the server
   * rejects it. Default: some values would change.
   */
  isWidened?(column: Column, field: Field): boolean
}

/** All that a column of one type of a database can be. */
export interface ColumnKind<Forms> {
  /** The types of fields that it can keep, or whose column it can become. */
  readonly fields: Readonly<Partial<Record<FieldTypeName, KeptField<Forms>>>>
  /** Whether its text depends neither on settings of the session nor on labels. Default false. */
  readonly isTextFixed?: boolean
  /**
   * Returns the fields that introspection publishes it as.
   *
   * @param isLink whether it is part of a key or of a foreign key, where numbers are whole
   */
  published(column: CatalogueColumn, isLink: boolean): Candidates
}

/** What is derived from the table of the kinds of columns of a database. */
export interface KindsOfColumns<Forms> {
  readonly kept: NonNullable<KeptField<Forms>['kept']>
  readonly advice: (column: Column, field: PublishedField) => string | undefined
  readonly fitTerm: NonNullable<KeptField<Forms>['fitTerm']>
  readonly isWidened: NonNullable<KeptField<Forms>['isWidened']>
  readonly candidates: ColumnKind<Forms>['published']
}

/** Returns what is derived from the kinds of columns. */
export function kindsOfColumns<Forms>(
  kindOf: (column: Column) => ColumnKind<Forms>,
): KindsOfColumns<Forms> {
  const fieldOf = (column: Column, { type }: { readonly type: FieldTypeName }) =>
    kindOf(column).fields[type]
  return {
    kept: (column, field, forms) => fieldOf(column, field)?.kept?.(column, field, forms),
    advice: (column, field) => fieldOf(column, field)?.advice?.(column),
    fitTerm: (value, column, field) => fieldOf(column, field)?.fitTerm?.(value, column, field),
    isWidened: (column, field) => fieldOf(column, field)?.isWidened?.(column, field) === true,
    candidates: (column, isLink) => kindOf(column).published(column, isLink),
  }
}

/** Returns the advice for a column that only a read-only field can have. */
export function setReadOnly(): string {
  return 'set readOnly: true'
}

/** Returns the advice for a column of JSON that the database changes. */
export function setReadOnlyOrJsonb(): string {
  return "set readOnly: true or storedAs: 'jsonb'"
}

/** Returns the advice for an enumeration. */
export function setEnumeration({ labels }: Column): string {
  return `set enumeration: ${JSON.stringify(labels)}`
}

/** Returns whether a field has the values of a column of JSON that the database changes. */
export function acceptsChangedJson({ readOnly, storedAs }: PublishedField): boolean {
  return readOnly || storedAs === 'jsonb'
}

/** Returns how a column of integers becomes one of decimals. `digits`: those of its largest number. */
export function widenedWhole(digits: number): (column: Column, field: Field) => boolean {
  return (_, field) => hasDigits(field, digits, 0)
}

/** Returns whether a column of decimals can get the type of a field of decimals. */
export function isWidenedDecimal({ precision, scale }: Column, field: Field): boolean {
  if (precision === undefined || scale === undefined) return false
  return hasDigits(field, precision - scale, scale)
}

/** Returns how a column of decimals becomes one of integers. `digits`: those that all numbers of the field have. */
export function widenedToWhole(digits: number): ({ precision, scale }: Column) => boolean {
  return ({ precision, scale }) => scale === 0 && precision !== undefined && precision <= digits
}

function hasDigits(field: Field, before: number, after: number): boolean {
  const { precision, scale } = field as Field & { type: 'decimal' }
  return before <= precision - scale && after <= scale
}

/** Returns whether a column of times can get more digits after the seconds. */
export function isWidenedTime({ scale }: Column): boolean {
  return scale !== undefined && scale < 3
}

/** Returns how a column keeps times. `cut`: how it does so with microseconds. */
export function keptTime(
  column: Column,
  { definition, storedAs }: PublishedField,
  { normal, cut }: { readonly normal: ColumnType; cut(): ColumnType },
): ColumnType | undefined {
  if (keepsFraction(column, definition)) return normal
  return storedAs === 'microseconds' ? cut() : undefined
}

/** Returns what a field needs so that a column keeps its times. */
export function timeAdvice({ scale }: Column): string {
  if (scale === undefined || scale > 3) return "set storedAs: 'microseconds'"
  return scale === 0 ? "set storedAs: 'seconds' or readOnly: true" : 'set readOnly: true'
}

/** Returns a limit of the length of texts. `length`: the length of the column, if it is known. */
export function limit(length = 0): { readonly maxLength?: number } {
  return length > 0 ? { maxLength: length } : {}
}
