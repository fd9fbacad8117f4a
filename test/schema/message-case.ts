import type { DatabaseKind } from '../introspection/empty-databases.ts'

/** The name of a kind of database. */
export type DatabaseName = DatabaseKind['name']

/**
 * What is written of a case, each with all messages.
 *
 * - `start`: a service starts.
 * - `fit`: a service starts, and `rowgate schema diff` without the mistakes that the start has also.
 * - `columns`: a service starts with `ensureSchema: 'columns'`.
 * - `check`: `rowgate check`, and where they differ the problems that reading all rows finds.
 * - `diff`: `rowgate schema diff`, as text, and what is different in the JSON with `--allow nulls`.
 * - `apply`: `rowgate schema apply`, first without `--allow`, then with every kind of change, and what is different then.
 * - `introspect`: `rowgate introspect`, with all notes.
 * - `compare`: `rowgate introspect` with the definition as the file to write, which lists the differences.
 */
export type Report =
  'start' | 'fit' | 'columns' | 'check' | 'diff' | 'apply' | 'introspect' | 'compare'

/** Tables, and a definition that does not fit them. */
export interface MessageCase {
  readonly name: string
  /** Default: all databases. */
  readonly on?: readonly DatabaseName[]
  /**
   * The statements that create the tables. Types are written as `{text}`, `{key}` (a text that can be indexed) and
   * `{int}`, names with upper-case letters as `[Name]`.
   */
  readonly sql: readonly string[] | Readonly<Partial<Record<DatabaseName, readonly string[]>>>
  /** The collections of the application `shop`, as JSON. Default: none, for reports of `introspect`. */
  readonly collections?: Readonly<Record<string, object>>
  readonly reports: readonly Report[]
  /** Options of `rowgate schema diff` and `apply`, such as `--fill`. */
  readonly options?: readonly string[]
}

const types: Readonly<Record<DatabaseName, Readonly<Record<string, string>>>> = {
  SQLite: { text: 'TEXT', key: 'TEXT', int: 'INTEGER' },
  PostgreSQL: { text: 'text', key: 'text', int: 'bigint' },
  MariaDB: {
    text: 'longtext character set utf8mb4 collate utf8mb4_nopad_bin',
    key: 'varchar(40) character set utf8mb4 collate utf8mb4_nopad_bin',
    int: 'bigint',
  },
}

/** Returns the statements of a case for a kind of database. */
export function statementsOf(
  { sql }: MessageCase,
  { name, quoted }: DatabaseKind,
): readonly string[] {
  const statements = Array.isArray(sql) ? (sql as readonly string[]) : ofDatabase(sql, name)
  return statements.map((statement) =>
    statement
      .replace(/\{(text|key|int)\}/g, (_, type: string) => types[name][type] ?? type)
      .replace(/\[([A-Za-z]\w*)\]/g, (_, column: string) => quoted(column)),
  )
}

function ofDatabase(sql: MessageCase['sql'], name: DatabaseName): readonly string[] {
  return (sql as Readonly<Partial<Record<DatabaseName, readonly string[]>>>)[name] ?? []
}

/** Returns whether a case is for a kind of database. */
export function isFor({ on, sql }: MessageCase, { name }: DatabaseKind): boolean {
  return (on === undefined || on.includes(name)) && (Array.isArray(sql) || name in sql)
}
