import { existsSync } from 'node:fs'
import type { PublishedCollection } from '../../definition/published.ts'
import { rowsOf, type Connection } from '../../storage/sqlite/connection/connection.ts'
import { openAsItIs, openInMemory, openReadOnly } from '../../storage/sqlite/connection/open.ts'
import {
  planSchema,
  withFormerTables,
  type AppliedSchema,
  type SchemaChange,
  type SchemaChangeKind,
  type SchemaDiff,
} from '../changes.ts'
import { draftOf } from '../draft.ts'
import { plans } from '../plan.ts'
import { nothingLacks } from '../required-columns.ts'
import { folded } from '../model.ts'
import { unknownIn } from '../../storage/sqlite/connection/failure.ts'
import { countLacking } from './column-values.ts'
import { sqliteCopies } from './copies.ts'
import { sqliteTables } from './database.ts'
import { readTables } from './read-tables.ts'
import { indexFailure } from './statements.ts'
import { isWord, tokensOf } from './tokens.ts'

/** How a database is changed. */
export interface ApplyOptions {
  readonly allowed: ReadonlySet<SchemaChangeKind>
  /** Milliseconds to wait for other processes that write. */
  readonly busyTimeout: number
  /** Where the database is copied before changes that are not of the kind `add`. */
  readonly copyTo: string
  /** Called before each step that may take long, with a sentence. */
  readonly progress: (step: string) => void
}

/** Compares a database file with collections. Throws if it can't be read. */
export function diffFile(
  file: string,
  collections: readonly PublishedCollection[],
  allowed: ReadonlySet<SchemaChangeKind>,
): SchemaDiff {
  const connection = openReadOnly(file)
  try {
    return diffSchema(connection, collections, allowed)
  } finally {
    connection.close()
  }
}

/**
 * Compares a database with collections, and plans changes. It makes them in an empty copy of the database, so
 * that each is planned for the tables as they are then. The database itself is only read.
 */
function diffSchema(
  database: Connection,
  collections: readonly PublishedCollection[],
  allowed: ReadonlySet<SchemaChangeKind>,
): SchemaDiff {
  const { copy, lost } = emptyCopy(database)
  try {
    const requiring = collections.filter(({ fields }) =>
      fields.some(({ required, inKey }) => required && !inKey),
    )
    const lacking =
      requiring.length === 0
        ? nothingLacks
        : countLacking(database, readTables(database, withFormerTables(collections)), collections)
    const dialect = { ...sqliteTables, copies: sqliteCopies(copy) }
    const planning = {
      draft: () =>
        draftOf(dialect, readTables(copy, withFormerTables(collections)), collections, lacking),
      make: (change: SchemaChange) => lossOf(change, collections, lost) ?? failureOf(copy, change),
      tables: (fitting: readonly PublishedCollection[]) => readTables(copy, fitting),
    }
    return planSchema(plans, planning, collections, allowed)
  } finally {
    copy.close()
  }
}

/** A database in memory with the tables, indexes, views and triggers of another one, without rows. */
interface EmptyCopy {
  readonly copy: Connection
  /** Why the statements of a table, its indexes and its triggers are not all as they were, by its name in lower case. */
  readonly lost: ReadonlyMap<string, string>
}

function emptyCopy(database: Connection): EmptyCopy {
  const copy = openInMemory()
  const lost = new Map<string, string>()
  // Virtual tables come first: they create tables of their own, which VACUUM lists before them.
  const select = `SELECT sql, tbl_name FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
    ORDER BY CASE type WHEN 'table' THEN rootpage > 0 WHEN 'index' THEN 2 WHEN 'view' THEN 3 ELSE 4 END, rowid`
  for (const [statement, table] of rowsOf(database, select)) {
    let reason: string | undefined
    try {
      reason = createIn(copy, statement as string)
    } catch (error) {
      // A virtual table of a module that is not present, one of its own tables, or what depends on it.
      reason = messageOf(error)
    }
    if (reason !== undefined) lost.set(folded(table as string), reason)
  }
  return { copy, lost }
}

/** Returns why a change that copies a table would lose a part of it, whose statements come from the empty copy. */
function lossOf(
  { kind, table }: SchemaChange,
  collections: readonly PublishedCollection[],
  lost: EmptyCopy['lost'],
): string | undefined {
  if (kind !== 'rebuild' && kind !== 'require') return undefined
  const own = collections.filter((each) => folded(each.table) === folded(table))
  // The table may have its former name in the database.
  const names = withFormerTables(own).map((each) => folded(each.table))
  const reason = names.map((name) => lost.get(name)).find((each) => each !== undefined)
  return reason && `The copy would not be complete: ${reason}.`
}

/**
 * Runs a CREATE statement without the functions and collations of the program that made the file, which only rows need.
 * Returns why the statement was changed.
 */
function createIn(
  copy: Connection,
  statement: string,
  registered: ReadonlySet<string> = new Set(),
): string | undefined {
  try {
    copy.execute(statement)
    return undefined
  } catch (error) {
    const message = messageOf(error)
    const { kind, name = '' } = unknownIn(message) ?? {}
    if (kind === 'function' && !registered.has(name)) {
      copy.register(name, () => null)
      return createIn(copy, statement, new Set([...registered, name]))
    }
    const without = kind === 'collation' ? withoutCollation(statement, name) : statement
    if (without === statement) throw error
    createIn(copy, without, registered)
    return message
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function withoutCollation(statement: string, collation: string): string {
  const tokens = tokensOf(statement)
  return tokens.reduceRight((text, token, at) => {
    const name = tokens[at + 1]
    const isIt = isWord(token, 'COLLATE') && folded(name?.text ?? '') === folded(collation)
    return isIt ? text.slice(0, token.start) + text.slice(name?.end) : text
  }, statement)
}

/** Makes a change. Returns why SQLite rejects it. */
function failureOf(copy: Connection, { statements }: SchemaChange): string | undefined {
  copy.execute('SAVEPOINT change')
  try {
    for (const statement of statements) copy.execute(statement)
    return undefined
  } catch (error) {
    copy.execute('ROLLBACK TO change')
    return `SQLite rejects this: ${messageOf(error)}`
  } finally {
    copy.execute('RELEASE change')
  }
}

/**
 * Makes the changes of a database file that are allowed, in one transaction. Throws an Error and changes nothing
 * if one of them fails, for instance because rows do not fit.
 */
export function applyToFile(
  file: string,
  collections: readonly PublishedCollection[],
  options: ApplyOptions,
): AppliedSchema {
  const connection = openAsItIs(file)
  try {
    connection.execute(`PRAGMA busy_timeout = ${options.busyTimeout}`)
    return apply(connection, collections, options)
  } finally {
    connection.close()
  }
}

function apply(
  connection: Connection,
  collections: readonly PublishedCollection[],
  { allowed, copyTo, progress }: ApplyOptions,
): AppliedSchema {
  const planned = diffSchema(connection, collections, allowed)
  if (planned.changes.length === 0) return { ...planned, copy: null }
  const needsCopy = planned.changes.some(({ kind }) => kind !== 'add')
  if (needsCopy) {
    if (existsSync(copyTo)) throw new Error(`The file ${copyTo} exists already.`)
    progress(`Copying the database to ${copyTo} ...`)
    connection.execute(`VACUUM INTO '${copyTo.replaceAll("'", "''")}'`)
  }
  // Without effect inside a transaction. The rows of other tables keep their references while a table is copied.
  connection.execute('PRAGMA foreign_keys = OFF')
  connection.execute('BEGIN IMMEDIATE')
  try {
    const current = diffSchema(connection, collections, allowed)
    if (textOf(current) !== textOf(planned)) {
      throw new Error(
        'Another process has changed the tables meanwhile. Nothing was changed. Try again.',
      )
    }
    const broken = brokenReferences(connection)
    for (const change of planned.changes) {
      progress(change.description)
      make(connection, change)
    }
    if (brokenReferences(connection) > broken) {
      throw new Error(
        'Rows refer to others that do not exist, see PRAGMA foreign_key_check. Nothing was changed.',
      )
    }
    connection.execute('COMMIT')
  } finally {
    if (connection.inTransaction()) connection.execute('ROLLBACK')
  }
  return { ...planned, copy: needsCopy ? copyTo : null }
}

// Other processes may have inserted rows meanwhile, whose number a description may have.
function textOf({ changes, left, mistakes }: SchemaDiff): string {
  const statements = [changes, left].map((all) => all.map((change) => change.statements))
  return JSON.stringify([statements, mistakes])
}

function make(connection: Connection, { description, statements }: SchemaChange): void {
  for (const statement of statements) {
    try {
      connection.execute(statement)
    } catch (error) {
      const cause = indexFailure(error, statement)
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`${description} This failed, and nothing was changed: ${reason}`, { cause })
    }
  }
}

function brokenReferences(connection: Connection): number {
  return rowsOf(connection, 'SELECT count(*) FROM pragma_foreign_key_check')[0]?.[0] as number
}
