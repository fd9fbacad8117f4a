import type { CatalogueTable } from '../catalogue-tables.ts'
import { bind, type Connection } from '../../storage/pool/connection.ts'
import { raw, sql, type Sql } from '../../storage/sql/fragments.ts'
import { tablesWhere } from './catalogue.ts'
import { quoted } from '../../storage/mysql/dialect.ts'
import { isLost, mysqlErrors, rejectsWrites } from '../../storage/mysql/failure.ts'

/**
 * Reads all tables and views of a database, by name. Views and tables of other engines are
 * tried, because others may have removed what they read.
 */
export async function readSchema(
  connection: Connection,
  schema: string,
): Promise<readonly CatalogueTable[]> {
  const [[version = ''] = []] = await connection.rows(bind(sql`select version()`))
  const kind = String(version).includes('MariaDB') ? 'MariaDB' : 'MySQL'
  const place = { kind, schema: sql`${{ read: () => schema }}`, keys: 'checked' } as const
  const found: CatalogueTable[] = []
  for (const table of await tablesWhere(connection, place, () => sql``)) {
    const isDoubtful = table.kind === 'view' || table.unwritable !== undefined
    const isBroken = isDoubtful && !(await isReadable(connection, table))
    found.push(isBroken ? { ...table, leftOut: "the server can't read it" } : table)
  }
  return found
}

async function isReadable(
  connection: Connection,
  { schema, name }: CatalogueTable,
): Promise<boolean> {
  try {
    await connection.rows(bind(sql`select 1 from ${placed(schema, name)} limit 0`))
    return true
  } catch (error) {
    if (isLost(error)) throw error
    return false
  }
}

/**
 * Returns the names of the tables whose rows the user can't delete. No view of the catalogue has the privileges of its
 * roles, but the server returns the plan of a delete only to a user with the right, outside of transactions that only
 * read.
 */
export async function undeletableTables(
  connection: Connection,
  schema: string,
): Promise<ReadonlySet<string>> {
  const place = sql`${{ read: () => schema }}`
  const tables = await connection.rows(
    bind(sql`select table_name from information_schema.tables
      where table_schema = ${place} and table_type = 'BASE TABLE' and engine = 'InnoDB'`),
  )
  const found = new Set<string>()
  for (const [name] of tables) {
    if (!(await isDeletable(connection, placed(schema, String(name))))) found.add(String(name))
  }
  return found
}

async function isDeletable(connection: Connection, table: Sql): Promise<boolean> {
  try {
    await connection.rows(bind(sql`explain delete from ${table} where 1 = 0`))
    return true
  } catch (error) {
    if (mysqlErrors.kindOf(error) === 'forbidden') return false
    // The primary decides the rights.
    if (isLost(error) && !rejectsWrites(error)) throw error
    return true
  }
}

function placed(schema: string, name: string): Sql {
  return raw(`${quoted(schema)}.${quoted(name)}`)
}
