import type { Column, Table } from './model.ts'

/** A column of an existing table, with all that its field can be made of. */
export interface CatalogueColumn extends Column {
  /** Whether the user of the connection may read it. */
  readonly isReadable: boolean
  /** Whether that user may use its default, such as the next number of a sequence. Default true. */
  readonly isDefaultUsable?: boolean
  /** Whether a constraint says that its texts are JSON. Default false. */
  readonly isJson?: boolean
}

/** A foreign key, whether or not it is enforced at once. */
export interface CatalogueReference {
  readonly name: string
  readonly columns: readonly string[]
  /** The id of the table that it refers to. */
  readonly target: string
  /** The name of that table, with its schema if the connection does not find it without. */
  readonly targetName: string
  readonly targetColumns: readonly string[]
  readonly onDelete: 'restrict' | 'cascade' | 'setNull' | 'setDefault'
  /** Whether each statement is checked: the foreign key is neither deferred nor disabled. Default true. */
  readonly isImmediate?: boolean
}

/** An existing table or view, with all that its definition can be made of. */
export interface CatalogueTable extends Table {
  readonly columns: readonly CatalogueColumn[]
  readonly references: readonly CatalogueReference[]
  /** The CHECK constraints, as the server writes them. */
  readonly checks: readonly string[]
  /** What it is, such as `a view`, if its rows can't be written. */
  readonly readOnly: string | undefined
  /** Whether the user of the connection may delete its rows, as far as it is known. Default true. */
  readonly isDeletable?: boolean
  /** Why it can't be published; undefined if it can. */
  readonly leftOut: string | undefined
}
