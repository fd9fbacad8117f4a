import type { PublishedCollection } from '../../definition/published.ts'
import { rowsOf, type Connection } from './connection.ts'
import { openInMemory } from './open.ts'
import { plans, type SchemaChange, type SchemaChangeKind } from './schema-changes.ts'
import { exactColumns, tableMistakes } from './table-check.ts'
import { folded } from '../sql/tables.ts'
import { readTables } from './tables.ts'

/** The differences between a database and a definition. */
export interface SchemaDiff {
  /** The changes of the kinds that are allowed, in order. */
  readonly changes: readonly SchemaChange[]
  /** The changes of other kinds. What depends on them is not planned. */
  readonly left: readonly SchemaChange[]
  /** What no change makes fit, one message each, with what to do. */
  readonly mistakes: readonly string[]
}

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
    const changes: SchemaChange[] = []
    const left: SchemaChange[] = []
    const impossible: string[] = []
    for (const plan of plans) {
      for (const change of plan({ copy, collections, tables: readTables(copy, collections) })) {
        const reason = allowed.has(change.kind) ? failureOf(copy, change) : undefined
        if (!allowed.has(change.kind)) left.push(change)
        else if (reason === undefined) changes.push(change)
        // A column that can't be dropped does no harm.
        else if (change.kind !== 'drop') impossible.push(`${change.description} ${reason}`)
      }
    }
    // A change that is left explains what does not fit yet.
    const awaited = left.filter(({ kind }) => kind !== 'drop')
    const waiting = new Set(awaited.map(({ table }) => folded(table)))
    const fitting = collections.filter(({ table }) => !waiting.has(folded(table)))
    const tables = readTables(copy, fitting)
    const mistakes = tableMistakes(tables, fitting, exactColumns(tables, fitting))
    return { changes, left, mistakes: [...impossible, ...mistakes] }
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
