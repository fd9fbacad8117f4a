import type { PublishedCollection } from '../../definition/published.ts'
import { rowsOf, type Connection } from './connection.ts'
import { openInMemory } from './open.ts'
import {
  planSchema,
  type SchemaChange,
  type SchemaChangeKind,
  type SchemaDiff,
} from '../sql/schema-changes.ts'
import { draftOf, plans } from './schema-plans.ts'
import { exactColumns, tableMistakes } from './table-check.ts'
import { readTables } from './tables.ts'

/**
 * Compares a database with collections, and plans changes. It makes them in an empty copy of the database, so
 * that each is planned for the tables as they are then. The database itself is only read.
 */
export function diffSchema(
  database: Connection,
  collections: readonly PublishedCollection[],
  allowed: ReadonlySet<SchemaChangeKind>,
): SchemaDiff {
  const copy = emptyCopy(database)
  try {
    const planning = {
      plans,
      draft: () => draftOf(copy, collections),
      make: (change: SchemaChange) => failureOf(copy, change),
      mistakes(fitting: readonly PublishedCollection[]) {
        const tables = readTables(copy, fitting)
        return tableMistakes(tables, fitting, exactColumns(tables, fitting))
      },
    }
    return planSchema(planning, collections, allowed)
  } finally {
    copy.close()
  }
}

// Virtual tables come first: they create tables of their own, which VACUUM lists before them.
/** Returns a database in memory with the tables, indexes, views and triggers of another one, without rows. */
function emptyCopy(database: Connection): Connection {
  const copy = openInMemory()
  const select = `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
    ORDER BY CASE type WHEN 'table' THEN rootpage > 0 WHEN 'index' THEN 2 WHEN 'view' THEN 3 ELSE 4 END, rowid`
  for (const [statement] of rowsOf(database, select)) {
    try {
      copy.execute(statement as string)
    } catch {
      // A virtual table of a module that is not present, one of its own tables, or what depends on it.
    }
  }
  return copy
}

/** Makes a change. Returns why SQLite rejects it. */
function failureOf(copy: Connection, { statements }: SchemaChange): string | undefined {
  copy.execute('SAVEPOINT change')
  try {
    for (const statement of statements) copy.execute(statement)
    return undefined
  } catch (error) {
    copy.execute('ROLLBACK TO change')
    return `SQLite rejects this: ${error instanceof Error ? error.message : String(error)}`
  } finally {
    copy.execute('RELEASE change')
  }
}
