import type { CatalogueTable } from '../catalogue-tables.ts'
import { describeTable } from './describe-table.ts'
import type { DescribedDatabase } from './described-database.ts'
import type { DatabaseDescription, LeftOut, ReadingTable, TableDescription } from './description.ts'

/**
 * Describes the tables of a database. Values are read, so that each described column has only values that can be
 * published.
 */
export async function describeDatabase(
  database: DescribedDatabase,
  reading: ReadingTable,
): Promise<DatabaseDescription> {
  const found = await database.readTables()
  const tables: TableDescription[] = []
  const leftOut: LeftOut[] = []
  for (const [index, table] of found.entries()) {
    const { name } = table
    const announce = (): void => reading(name, index + 1, found.length)
    const described =
      reasonToLeaveOut(table) ??
      (await database.attempt(table, () => describeTable(database, table, announce)))
    if (typeof described === 'string') leftOut.push({ name, reason: described })
    else tables.push(described)
  }
  return { tables, leftOut }
}

function reasonToLeaveOut({ name, columns, leftOut }: CatalogueTable): string | undefined {
  if (/^rowgate_/i.test(name)) return 'a table of rowgate'
  if (name === '') return 'its name is empty'
  if (name === '__proto__') return 'its name is reserved by JavaScript'
  if (leftOut !== undefined) return leftOut
  if (columns.length > 0 && !columns.some(({ isReadable }) => isReadable))
    return "the role can't read it"
  return undefined
}
