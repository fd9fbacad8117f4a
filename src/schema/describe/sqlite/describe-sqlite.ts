import { rowsOf, type Connection } from '../../../storage/sqlite/connection/connection.ts'
import { readFailure } from '../../../storage/sqlite/connection/failure.ts'
import { openReadOnly } from '../../../storage/sqlite/connection/open.ts'
import { slowReason, slowViews } from '../../../storage/sqlite/reading/slow-views.ts'
import { quoted, raw, sql } from '../../../storage/sql/fragments.ts'
import type { CatalogueTable } from '../../catalogue-tables.ts'
import { encodingMistake } from '../../sqlite/read.ts'
import { describeDatabase } from '../describe-database.ts'
import type { DescribedDatabase } from '../described-database.ts'
import type { DatabaseDescription, ReadingTable } from '../description.ts'
import { candidatesIn } from './candidates-in.ts'
import { readCatalogue } from './catalogue.ts'
import { withSharedMicroseconds } from './shared-times.ts'
import { defineFunctions, fitTerm } from './value-profile.ts'

/** Milliseconds that reading a view may take. */
const maxViewTime = 60_000

/**
 * Describes a SQLite database. It is opened for reading only, and read in one snapshot. Every value is read. Rejects if
 * the file can't be read.
 *
 * @param viewTime milliseconds that reading a view may take
 */
export async function describeSqlite(
  file: string,
  reading: ReadingTable = () => undefined,
  viewTime = maxViewTime,
): Promise<DatabaseDescription> {
  const connection = openReadOnly(file)
  try {
    const mistake = encodingMistake(connection)
    if (mistake !== undefined) throw new Error(mistake)
    // Defaults are tried out in a temporary table.
    connection.execute('PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON; BEGIN')
    const { tables, leftOut } = await describeDatabase(describedFile(connection, viewTime), reading)
    return { tables: withSharedMicroseconds(tables), leftOut }
  } finally {
    connection.close()
  }
}

function describedFile(connection: Connection, viewTime: number): DescribedDatabase {
  defineFunctions(connection)
  const database: DescribedDatabase = {
    readTables: () => withoutSlowViews(connection, readCatalogue(connection), viewTime),
    async attempt(_table, work) {
      try {
        return await work()
      } catch (error) {
        // For example a function of the application, or a virtual table whose module is not loaded.
        return `can't be read: ${readFailure(error)}`
      }
    },
    async candidatesIn(table, announce) {
      await announce()
      return candidatesIn(connection, database, table)
    },
    rows: async (statement) => {
      const parameters = statement.slots.map((slot) => slot.read({ conditions: [] }))
      const rows = rowsOf(connection, statement.texts.join('?'), parameters)
      return rows.map((row) => row.map((value) => (value === null ? null : String(value))))
    },
    place: ({ name }) => raw(quoted(name)),
    quoted,
    textOf: (value) => sql`${value} collate binary`,
    lengthOf: (text) => sql`length(${text})`,
    fitTerm,
    // Statements of wide tables would take long to compile.
    termsAtOnce: 40,
    // A function of the statements reads JSON.
    doubtful: () => undefined,
    parts: () => Promise.resolve([]),
  }
  return database
}

async function withoutSlowViews(
  connection: Connection,
  found: readonly CatalogueTable[],
  viewTime: number,
): Promise<readonly CatalogueTable[]> {
  const views = found
    .filter(({ kind, leftOut }) => kind === 'view' && leftOut === undefined)
    .map(({ name, columns }) => ({ name, columns: columns.map((each) => each.name) }))
  const slow = new Set(await slowViews(connection, views, viewTime))
  const leftOut = `can't be read: ${slowReason(viewTime)}`
  return found.map((table) => (slow.has(table.name) ? { ...table, leftOut } : table))
}
