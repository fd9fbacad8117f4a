import { bind, type Connection } from '../../storage/pool/connection.ts'
import type { Inspection } from '../../storage/sql/dialect.ts'
import { join, raw, sql, type Sql } from '../../storage/sql/fragments.ts'
import type { CatalogueColumn, CatalogueTable } from '../catalogue-tables.ts'
import type { AllowedColumn } from './allowed-values.ts'
import type { Candidates } from './candidates.ts'
import { describeDatabase } from './describe-database.ts'
import { keysIn } from './describe-table.ts'
import type { DescribedDatabase } from './described-database.ts'
import type { DatabaseDescription, ReadingTable } from './description.ts'

/** What is different between the kinds of servers. */
export interface ServerCatalogue extends Pick<DescribedDatabase, 'fitTerm' | 'textOf' | 'quoted'> {
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
  /** Returns how a check finds values that only their text shows not to be ones of their field. */
  inspection(): Pick<Inspection, 'doubtful' | 'parts'>
  /** Returns what a CHECK constraint, as the server writes it, allows. Undefined: it does not list values of one column. */
  allowedBy(check: string): AllowedColumn | undefined
}

/** The tables that are described. */
export interface DescribedTables {
  readonly schema: string
  isNamed(table: string): boolean
  readonly reading: ReadingTable
}

/**
 * Describes the tables of a schema of a database server in one snapshot. Columns whose type allows values that their
 * field can't hold, such as `infinity`, are read.
 */
export async function describeServer(
  connection: Connection,
  catalogue: ServerCatalogue,
  tables: DescribedTables,
): Promise<DatabaseDescription> {
  const undeletable = await catalogue.undeletable?.(connection, tables.schema)
  await connection.command(catalogue.begin)
  try {
    const database = describedServer(connection, catalogue, { ...tables, undeletable })
    return await describeDatabase(database, tables.reading)
  } finally {
    // It may be lost, which the error of the statement before says.
    await connection.command('rollback').catch(() => connection.discard())
  }
}

function describedServer(
  connection: Connection,
  catalogue: ServerCatalogue,
  {
    schema,
    isNamed,
    undeletable,
  }: DescribedTables & { readonly undeletable: ReadonlySet<string> | undefined },
): DescribedDatabase {
  const { candidates, allowedBy, quoted } = catalogue
  const { doubtful, parts } = catalogue.inspection()
  const place = (table: CatalogueTable): Sql =>
    raw([table.schema, table.name].map(quoted).join('.'))
  return {
    ...catalogue,
    async readTables() {
      const read = await catalogue.readTables(connection, schema)
      const found = read.filter(({ name }) => isNamed(name))
      const names = new Map(found.map(({ id, name }) => [id, name]))
      return found.map((table) => ({
        ...withNamedTargets(table, names),
        isDeletable: table.isDeletable !== false && undeletable?.has(table.name) !== true,
      }))
    },
    attempt: (table, work) => attempt(connection, catalogue, table, work),
    async candidatesIn(table) {
      const { columns, references, checks } = table
      const allowed = new Map(
        checks.flatMap((check) => {
          const values = allowedBy(check)
          return values === undefined ? [] : [[values.column, values.values]]
        }),
      )
      const required = columns.filter(({ notNull }) => notNull).map(({ name }) => name)
      const [key = []] = keysIn(table, new Set(required))
      const links = new Set([...key, ...references.flatMap((reference) => reference.columns)])
      const unreadable = { fields: [], note: "the role can't read it" }
      return {
        columns: columns.map((column) =>
          column.orders !== undefined
            ? { fields: [], note: `it has the values of ${column.orders} for indexes` }
            : column.isReadable
              ? { ...candidates(column, links.has(column.name)), allowed: allowed.get(column.name) }
              : unreadable,
        ),
      }
    },
    rows: (statement) => connection.rows(bind(statement)),
    place,
    lengthOf: (text) => sql`octet_length(${text})`,
    // Statements of wide tables would have too many columns.
    termsAtOnce: 200,
    doubtful,
    parts: (rows) => parts(connection, rows),
  }
}

/** Returns a table whose foreign keys have the names of tables that are described, and with its primary key first. */
function withNamedTargets(
  table: CatalogueTable,
  names: ReadonlyMap<string, string>,
): CatalogueTable {
  const { indexes, foreignKeys, references, primary = [] } = table
  const isPrimary = ({ unique, columns }: CatalogueTable['indexes'][number]): boolean =>
    unique && columns.map(({ name }) => name ?? '').join('\0') === primary.join('\0')
  return {
    ...table,
    indexes: indexes.toSorted((left, right) => Number(isPrimary(right)) - Number(isPrimary(left))),
    references: references.map((key) => ({
      ...key,
      targetName: names.get(key.target) ?? key.targetName,
      isImmediate: foreignKeys.some(({ name }) => name === key.name),
    })),
  }
}

/**
 * Runs work that reads a table. Resolves to the reason to leave it out if it is a view, a table of another engine, or a
 * foreign table that the server can't read.
 */
async function attempt<Result extends object>(
  connection: Connection,
  { needsSavepoints, quoted }: ServerCatalogue,
  { schema, name, columns, readOnly, unwritable }: CatalogueTable,
  work: () => Promise<Result>,
): Promise<Result | string> {
  if (readOnly === undefined && unwritable === undefined) return work()
  if (needsSavepoints) await connection.command('savepoint described')
  try {
    // Not every column is of a type whose values are read.
    const readable = columns.filter(({ isReadable }) => isReadable)
    const values = join(readable.map((column) => raw(quoted(column.name))))
    const from = raw([schema, name].map(quoted).join('.'))
    if (readable.length > 0) await connection.rows(bind(sql`select ${values} from ${from} limit 1`))
    return await work()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    // Rejects if the connection is lost; otherwise the end of the transaction does.
    if (needsSavepoints) await connection.command('rollback to described')
    return `can't be read: ${error.message}`
  }
}
