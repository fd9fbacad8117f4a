import type { DatabaseDescription, ReadingTable } from '../schema/describe/description.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { StorageAdapter } from '../storage/adapter.ts'
import type { Connections } from '../storage/pool/connection.ts'
import { applyTables, diffTables, type SchemaDatabase } from '../schema/apply.ts'
import type { AppliedSchema, SchemaChangeKind, SchemaDiff } from '../schema/changes.ts'
import { CommandError, UsageError } from './command-error.ts'
import { printable } from './text.ts'

/** A database that a command names: a SQLite file, or the URL of a server. */
export interface Database {
  /** How messages name it, without a password. */
  readonly shown: string
  /** The name of the file without its ending, or of the database of a server. */
  readonly name: string
  /** How the definition names it. */
  readonly source: string
  /** The SQLite file in which users and keys are kept if nothing else is given. */
  readonly keys: string
  /** Returns names that the database does not distinguish as the same one. */
  folded(name: string): string
  /** Describes its tables: all, or those that are named. Before it reads a large one, it calls `reading`. */
  describe(only: readonly string[], reading: ReadingTable): Promise<DatabaseDescription>
  /** Opens an adapter, which is closed by its service. */
  storage(): StorageAdapter
  /** How its tables are changed. Absent if `rowgate schema` does not support the database. */
  readonly schema?: DatabaseSchema
  close(): Promise<void>
}

/** How the tables of a database are compared with collections and changed. Both reject with the error of the database. */
export interface DatabaseSchema {
  diff(
    collections: readonly PublishedCollection[],
    allowed: ReadonlySet<SchemaChangeKind>,
  ): Promise<SchemaDiff>
  apply(collections: readonly PublishedCollection[], options: ApplyOptions): Promise<AppliedSchema>
}

/** How a database is changed. */
export interface ApplyOptions {
  readonly allowed: ReadonlySet<SchemaChangeKind>
  /** Where a file is copied before. Undefined: beside it. */
  readonly copy: string | undefined
  readonly now: Date
  /** Called before each step, with a sentence. */
  readonly progress: (step: string) => void
}

/** Returns how the tables of a server are changed. */
export function serverSchema(database: SchemaDatabase, use: Connections['use']): DatabaseSchema {
  return {
    diff: (collections, allowed) =>
      use((connection) => diffTables(database, connection, collections, allowed)),
    apply(collections, options) {
      if (options.copy !== undefined) {
        throw new UsageError(
          '--copy is for SQLite files. Make a backup with the tools of the server.',
        )
      }
      return use((connection) => applyTables(database, connection, collections, options))
    },
  }
}

/** Returns the description of named tables. Throws a CommandError if one does not exist. */
export function onlyTables(
  { tables, leftOut }: DatabaseDescription,
  only: readonly string[],
  sameName: (name: string) => string,
): DatabaseDescription {
  if (only.length === 0) return { tables, leftOut }
  const names = new Set(only.map(sameName))
  const known = new Set([...tables, ...leftOut].map(({ name }) => sameName(name)))
  const missing = only.find((name) => !known.has(sameName(name)))
  if (missing !== undefined) throw new CommandError(`There is no table ${printable(missing)}.`)
  const isNamed = ({ name }: { readonly name: string }): boolean => names.has(sameName(name))
  return { tables: tables.filter(isNamed), leftOut: leftOut.filter(isNamed) }
}

/** Returns the URL of a database server. Throws a UsageError, without the URL, if it is not valid. */
export function urlOf(text: string): URL {
  try {
    return new URL(text)
  } catch {
    throw new UsageError(
      'The URL of the database is not valid. Example: postgres://user@localhost:5432/shop. Write special characters of a password as %40.',
    )
  }
}

/** Returns a URL as messages show it: without its password and its parameters, which may have one. */
export function shownUrl({ protocol, username, host, pathname }: URL): string {
  const user = username === '' ? '' : `${username}@`
  return printable(`${protocol}//${user}${host}${pathname}`)
}
