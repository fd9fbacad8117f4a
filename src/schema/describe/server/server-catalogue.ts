import type { CatalogueColumn, CatalogueTable } from '../../catalogue-tables.ts'
import type { Connection } from '../../../storage/pool/connection.ts'
import type { Candidates } from './candidates.ts'
import type { ValueCatalogue } from './fitting-fields.ts'

/** What the tables of one kind of server are, and what their columns hold. */
export interface ServerCatalogue extends ValueCatalogue {
  /** Begins a transaction that reads one state. */
  readonly begin: string
  /** Whether a failed statement ends the transaction, unless it is undone to a savepoint. */
  readonly needsSavepoints: boolean
  /** Returns the names of tables whose rows the user can't delete, if `readTables` does not know it. Called before `begin`. */
  undeletable?(connection: Connection, schema: string): Promise<ReadonlySet<string>>
  /** Reads all tables and views of a schema, by name. */
  readTables(connection: Connection, schema: string): Promise<readonly CatalogueTable[]>
  /**
   * Returns the fields that a column may be by its type.
   *
   * @param isLink whether it is part of a key or of a foreign key, where numbers are whole
   */
  candidates(column: CatalogueColumn, isLink: boolean): Candidates
  /** Returns what a CHECK constraint, as the server writes it, allows. Undefined: it does not list values of one column. */
  allowedBy(check: string): AllowedValues | undefined
}

/** The only values of a column. */
export interface AllowedValues {
  readonly column: string
  readonly values: readonly (string | number)[]
}
