import type { Field } from '../../definition/field.ts'
import { isCutForm } from '../../definition/stored-forms.ts'
import { maxDepth } from '../../protocol/json.ts'
import type { CatalogueColumn, CatalogueTable } from '../catalogue-tables.ts'
import type { Table } from '../model.ts'
import type { AllowedValues } from './allowed-values.ts'

/** What a database contains, whatever kind of database it is. The definition is made of it. */
export interface DatabaseDescription {
  readonly tables: readonly TableDescription[]
  /** The tables that can't be published. */
  readonly leftOut: readonly LeftOut[]
}

/** A table or view, by its name in the database, and why it is not published. */
export interface LeftOut {
  readonly name: string
  readonly reason: string
}

/** A table or view, with what reading it has shown. */
export interface TableDescription extends CatalogueTable {
  readonly columns: readonly ColumnDescription[]
  /** What the role may not do, or the database does not allow or can't do. Empty: everything is possible. */
  readonly denied: readonly Denied[]
  /** The groups of columns that identify a row, the best one first. None of their values is null. */
  readonly keys: readonly (readonly string[])[]
  /** The keys of these that no path can have. */
  readonly unreachable: readonly UnreachableRows[]
  /** The column whose number the database generates. */
  readonly generated: string | undefined
}

/** Events that fail for every row of a table. */
export interface Denied {
  readonly events: readonly WriteEvent[]
  /** The end of a sentence about the table. The first one of an event counts. */
  readonly reason: string
}

/** An event that writes. */
export type WriteEvent = 'Insert' | 'Update' | 'Delete'

/** The events that write, in the order of notes. */
export const writeEvents: readonly WriteEvent[] = ['Insert', 'Update', 'Delete']

/** How many rows have a key that no path can have: an empty one, a dot segment, or a part with a comma. */
export interface UnreachableRows {
  readonly key: readonly string[]
  readonly rows: number
}

/** A column, with the fields that it may be. */
export interface ColumnDescription extends CatalogueColumn {
  /**
   * The types and forms in which every value can be published, the best one first. Empty if there is none.
   * Their members that do not depend on the type apply to all of them.
   */
  readonly fields: readonly Field[]
  /** Why the column can't be published, or what to know of it. */
  readonly note: string | undefined
  /** What to know of it in a table without a key. Default: the same. */
  readonly noteInPages?: string | undefined
  /** The events in which the role may not write it. */
  readonly denied: readonly ('Insert' | 'Update')[]
  /** Why the database can't do any update of it; undefined if it can. */
  readonly fixed?: string | undefined
  /** The only values that the database accepts, as it stores them. */
  readonly allowed: AllowedValues | undefined
}

/** Returns the groups of columns whose values together are unique, in the order of their indexes. */
export function uniqueGroups({ indexes }: Table): readonly (readonly string[])[] {
  return indexes.flatMap(({ unique, columns }) => {
    const names = columns.flatMap(({ name }) => name ?? [])
    return unique && names.length === columns.length ? [names] : []
  })
}

/** Called before every row of a large table is read, with its place among all tables: 1 for the first. */
export type ReadingTable = (table: string, place: number, tables: number) => void

/** The number of rows from which a table is large. A smaller one is read before a message could be seen. */
export const largeRows = 100_000

/** Returns whether rows with different values of a column have equal values for clients. */
export function isCut(field: Field | undefined): boolean {
  return field !== undefined && 'storedAs' in field && isCutForm(field.storedAs)
}

/** How many other spellings of the values that a CHECK lists become values of an enumeration. */
export const maxSpellings = 50

/** Why a column of JSON is published as text. */
export const unfitJson = `some values are not JSON that a field can have: more than ${maxDepth} levels, a number that is not finite as a double, U+0000, or half of a surrogate pair`

/** Returns what two fields must have in common so that one can refer to the other. */
export function formOf(field: Field): string {
  const { type, storedAs, precision, scale } = field as Field & {
    readonly storedAs?: string
    readonly precision?: number
    readonly scale?: number
  }
  return [type, storedAs, precision, scale].join(' ')
}
