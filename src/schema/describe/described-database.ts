import type { Field } from '../../definition/field.ts'
import type { TextRow } from '../../storage/pool/connection.ts'
import type { InspectedRows } from '../../storage/sql/dialect.ts'
import type { Sql } from '../../storage/sql/fragments.ts'
import type { CatalogueColumn, CatalogueTable } from '../catalogue-tables.ts'
import type { Candidates } from './candidates.ts'
import type { ColumnDescription, Denied } from './description.ts'

/** A database whose tables are described, in one snapshot. Methods that read reject with the error of the database. */
export interface DescribedDatabase extends ReadValues {
  /** Reads its tables and views, by name. */
  readTables(): Promise<readonly CatalogueTable[]>
  /** Runs work that reads a table. Resolves to the reason to leave the table out if it can't be read. */
  attempt<Result extends object>(
    table: CatalogueTable,
    work: () => Promise<Result>,
  ): Promise<Result | string>
  /**
   * Finds the fields that the columns of a table may be.
   *
   * @param announce to be called before all rows are read
   */
  candidatesIn(table: CatalogueTable, announce: () => Promise<void>): Promise<TableCandidates>
}

/** The fields that the columns of a table may be. */
export interface TableCandidates {
  /** In the order of the columns of the table. */
  readonly columns: readonly Candidates[]
  /** Adds what only the database finds out with the fields that fit. Default: nothing. */
  complete?(columns: readonly ColumnDescription[]): Promise<CompletedTable>
}

/** What a database has found out of a table. */
export interface CompletedTable {
  readonly columns: readonly ColumnDescription[]
  readonly denied: readonly Denied[]
}

/** How the values of a database are read and compared with fields. */
export interface ReadValues {
  /** Runs a statement and returns its rows. */
  rows(statement: Sql): Promise<readonly TextRow[]>
  /** Returns a table as it follows FROM. */
  place(table: CatalogueTable): Sql
  /** Returns a name in quotes. */
  quoted(name: string): string
  /** Returns the text of a value, which is compared exactly. */
  textOf(value: Sql): Sql
  /** Returns the length of a text, in bytes or in characters. */
  lengthOf(text: Sql): Sql
  /**
   * Returns the condition that a value of a column, other than null, is one of its field. Undefined: the type of the
   * column allows no other values.
   */
  fitTerm(value: Sql, column: CatalogueColumn, field: Field): Sql | undefined
  /** The number of conditions in one statement. */
  readonly termsAtOnce: number
  /**
   * Returns the term that a text may not be one of a field, which only reading it shows. Undefined: the condition of
   * `fitTerm` shows it.
   */
  doubtful(text: Sql, field: Field): Sql | undefined
  /** Returns the conditions of parts of a table, which are read one after another. Empty: it is read at once. */
  parts(rows: InspectedRows): Promise<readonly Sql[]>
}
