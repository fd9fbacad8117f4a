import { rowsOf, type Connection } from '../../../storage/sqlite/connection/connection.ts'
import { readFailure } from '../../../storage/sqlite/connection/failure.ts'
import { openReadOnly } from '../../../storage/sqlite/connection/open.ts'
import { slowReason, slowViewsNow } from '../../../storage/sqlite/reading/slow-views.ts'
import { quoted } from '../../../storage/sql/fragments.ts'
import { encodingMistake } from '../../sqlite/tables.ts'
import {
  largeRows,
  type DatabaseDescription,
  type LeftOut,
  type ReadingTable,
  type TableDescription,
} from '../description.ts'
import { readCatalogue, type CatalogueTable } from './catalogue.ts'
import { describeTable } from './describe-table.ts'
import { withSharedMicroseconds } from './shared-times.ts'

/** Milliseconds that reading a view may take. */
const maxViewTime = 60_000

/**
 * Describes a SQLite database. It is opened for reading only, and read in one snapshot. Every value is read, so
 * that each described column has only values that can be published. Throws if the file can't be read.
 *
 * @param viewTime milliseconds that reading a view may take
 */
export function describeSqlite(
  file: string,
  reading: ReadingTable = () => undefined,
  viewTime = maxViewTime,
): DatabaseDescription {
  const connection = openReadOnly(file)
  try {
    const mistake = encodingMistake(connection)
    if (mistake !== undefined) throw new Error(mistake)
    // Defaults are tried out in a temporary table.
    connection.execute('PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON; BEGIN')
    return describe(connection, reading, viewTime)
  } finally {
    connection.close()
  }
}

function describe(
  connection: Connection,
  reading: ReadingTable,
  viewTime: number,
): DatabaseDescription {
  const tables: TableDescription[] = []
  const leftOut: LeftOut[] = []
  const found = readCatalogue(connection)
  const views = found.filter((table) => table.kind === 'view' && table.failure === undefined)
  const read = views.map(({ name, columns }) => ({
    name,
    columns: columns.map((each) => each.name),
  }))
  const slow = new Set(slowViewsNow(connection, read, viewTime))
  for (const [index, table] of found.entries()) {
    const reason =
      reasonToLeaveOut(table) ??
      (slow.has(table.name) ? unreadable(slowReason(viewTime)) : undefined)
    if (reason !== undefined) leftOut.push({ name: table.name, reason })
    else {
      try {
        if (isLarge(connection, table.name)) reading(table.name, index + 1, found.length)
        tables.push(describeTable(connection, table))
      } catch (error) {
        // For example a function of the application, or a virtual table whose module is not loaded.
        leftOut.push({ name: table.name, reason: unreadable(readFailure(error)) })
      }
    }
  }
  return { tables: withSharedMicroseconds(tables), leftOut }
}

function isLarge(connection: Connection, table: string): boolean {
  const some = `SELECT 1 FROM ${quoted(table)} LIMIT ${largeRows}`
  return Number(rowsOf(connection, `SELECT count(*) FROM (${some})`)[0]?.[0]) >= largeRows
}

function reasonToLeaveOut({ name, kind, failure }: CatalogueTable): string | undefined {
  const [prefix] = /^(?:sqlite|rowgate)_/i.exec(name) ?? []
  if (prefix?.toLowerCase() === 'sqlite_') return 'a table of SQLite'
  if (prefix !== undefined) return 'a table of rowgate'
  if (kind === 'shadow') return 'holds the data of a virtual table'
  if (name === '') return 'its name is empty'
  if (name === '__proto__') return 'its name is reserved by JavaScript'
  return failure === undefined ? undefined : unreadable(failure)
}

function unreadable(reason: string): string {
  return `can't be read: ${reason}`
}
