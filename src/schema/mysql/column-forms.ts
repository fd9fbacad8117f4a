import type { Field } from '../../definition/field.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { ColumnType, Dialect } from '../../storage/sql/dialect.ts'
import { raw, sql, type Slot, type Sql } from '../../storage/sql/fragments.ts'
import { withMicroseconds } from '../../storage/sql/stored-text.ts'
import { setReadOnly, type ColumnKind, type KeptField } from '../column-kinds.ts'
import type { Column } from '../model.ts'

/** What the form of values depends on. */
export interface Forms {
  /** The collation that orders by code point. */
  readonly collation: string
  /** How new columns keep values. */
  readonly types: Dialect['columnTypes']
}

/** All that a column of one type of MariaDB or MySQL can be. */
export interface MysqlKind extends ColumnKind<Forms> {
  /** Whether an index can have its strings as a whole. Undefined: it keeps no strings. */
  readonly text?: 'indexed' | 'unindexed'
  /** Returns whether it would keep another value than one that it is given, without an error. Default: none. */
  changes?(column: Column, value: StoredValue): boolean
}

/** A column that keeps values of a field as a new one does. */
export const usual: KeptField<Forms> = { kept: (_, { type }, { types }) => types[type] }

/** What the server writes as text without a loss, which clients can't write. */
export const shown: KeptField<Forms> = {
  kept: (column, { readOnly }, forms) => (readOnly ? exactText(forms, column) : undefined),
  advice: setReadOnly,
}

/** Returns text in the collation that orders by code point. `own`: the collation of its column. */
export function inExact({ collation }: Forms, text: Sql, own: string | undefined): Sql {
  const exact = raw(` collate ${collation}`)
  if (own === undefined) return sql`cast(${text} as char character set utf8mb4)${exact}`
  // If the column has another character set, a comparison must name the character set of the collation.
  return own.startsWith('utf8mb4_')
    ? sql`(${text}${exact})`
    : sql`convert(${text} using utf8mb4)${exact}`
}

/** Returns text that is compared and ordered by code point, whatever the column does. `textOf`: the text of a value. */
export function exactText(
  forms: Forms,
  { collation: own }: Column,
  textOf = (column: Sql): Sql => column,
): ColumnType {
  return {
    ...forms.types.text,
    value: (column) => inExact(forms, textOf(column), own),
    ...(own === undefined ? {} : { near: (column, slot) => nearText(column, slot, own) }),
  }
}

/** Returns a number without the zeros that its column writes before it. `isNear`: whether an index finds it. */
export function plainNumber(
  { types }: Forms,
  { type, definition }: PublishedField,
  own: string,
  isNear = true,
): ColumnType {
  const { parameter } = types[type]
  const near = (column: Sql, slot: Slot): Sql => sql`${column} = ${parameter(slot, definition)}`
  return { ...types[type], value: castTo(own), ...(isNear ? { near } : {}) }
}

/** Returns a time of a column with microseconds. */
export function withoutMicroseconds(normal: ColumnType, definition: Field): ColumnType {
  const cut = (stored: Sql): Sql =>
    sql`cast(${stored} - interval microsecond(${stored}) % 1000 microsecond as datetime(3))`
  return {
    ...withMicroseconds(normal, definition, { cut, rest: sql`interval 999 microsecond` }),
    // Of a zero date, every function returns null.
    returned: (stored) => stored,
    read: (text) => normal.read(text.replace(/(\.\d{3})\d+$/, '$1')),
  }
}

/** Returns how a column is cast to a type. */
export function castTo(type: string): (column: Sql) => Sql {
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
