import { quoted } from '../../storage/sql/fragments.ts'
import { folded } from '../model.ts'
import type { Connection } from '../../storage/sqlite/connection/connection.ts'
import { unknownIn } from '../../storage/sqlite/connection/failure.ts'
import { statementReason } from './impossible-reasons.ts'
import { closing, isSign, isWord, tokensOf } from './tokens.ts'

/** What SQLite can't do with the rows of a table, whatever their values, each with the reason and a way out. */
export interface ImpossibleWrites {
  readonly insert?: string | undefined
  readonly delete?: string | undefined
  /** Why no update can set a column, by its name. */
  readonly columns: ReadonlyMap<string, string>
  /** Why an insert can't leave a column to its default, by its name. */
  readonly defaults: ReadonlyMap<string, string>
}

/** The columns that a service sets, and those that it may leave to their defaults. */
export interface WrittenTable {
  readonly name: string
  /** The CREATE statement. */
  readonly statement: string
  readonly columns: readonly string[]
  readonly defaulted: readonly string[]
  /** Whether an insert of every column returns the row. */
  readonly returning: boolean
}

/**
 * Finds the writes that SQLite does not compile: foreign keys that it can't check, and functions or collations of the
 * program that made the file in triggers, constraints, defaults and indexes. Nothing is written. Foreign keys must be on.
 */
export function impossibleWrites(connection: Connection, table: WrittenTable): ImpossibleWrites {
  const { name, columns, defaulted, returning } = table
  const failure = (sql: string): string | undefined => failureOf(connection, sql)
  const reason = (message: string): string => statementReason(connection, name, message)
  const checks = checkFailures(connection, table)
  const insert = failure(insertOf(name, columns, returning)) ?? Array.from(checks.values())[0]
  const isDefaultless =
    insert === undefined &&
    defaulted.length > 0 &&
    failure(insertOf(name, without(columns, defaulted))) !== undefined
  const defaults = isDefaultless ? defaulted : []
  const fixed = columns.length > 0 && failure(updateOf(name, columns)) !== undefined
  return {
    insert: mapped(insert, reason),
    delete: mapped(failure(deleteOf(name)), reason),
    columns: failures(columns, (column) =>
      mapped((fixed ? failure(updateOf(name, [column])) : undefined) ?? checks.get(column), reason),
    ),
    defaults: failures(defaults, (column) =>
      mapped(failure(insertOf(name, without(columns, [column]))), reason),
    ),
  }
}

/** Returns why SQLite can't read or count rows; undefined if it can. Some columns may be readable nevertheless. */
export function impossibleReads(
  connection: Connection,
  name: string,
  columns: readonly string[],
): string | undefined {
  const [select, count] = readsOf(name, columns)
  const failure = failureOf(connection, select) ?? failureOf(connection, count)
  return mapped(failure, (message) => statementReason(connection, name, message))
}

/** Returns the statements of which {@link impossibleReads} finds the failures. */
export function readsOf(
  name: string,
  columns: readonly string[],
): readonly [select: string, count: string] {
  const read = columns.length === 0 ? 'NULL' : columns.map(quoted).join(', ')
  return [`SELECT ${read} FROM ${quoted(name)}`, `SELECT count(*) FROM ${quoted(name)}`]
}

/** Returns the statements that compile if {@link impossibleWrites} finds nothing. */
export function writesOf({ name, columns, defaulted, returning }: WrittenTable): readonly string[] {
  return [
    insertOf(name, columns, returning),
    ...(defaulted.length === 0 ? [] : [insertOf(name, without(columns, defaulted))]),
    ...(columns.length === 0 ? [] : [updateOf(name, columns)]),
    deleteOf(name),
  ]
}

function without(columns: readonly string[], others: readonly string[]): readonly string[] {
  return columns.filter((column) => !others.includes(column))
}

function insertOf(name: string, columns: readonly string[], returns = true): string {
  const values =
    columns.length === 0
      ? 'DEFAULT VALUES'
      : `(${columns.map(quoted).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
  // With RETURNING, SQLite also checks the foreign keys that refer to the table.
  return `INSERT INTO ${quoted(name)} ${values}${returns ? ' RETURNING 1' : ''}`
}

function updateOf(name: string, columns: readonly string[]): string {
  return `UPDATE ${quoted(name)} SET ${columns.map((column) => `${quoted(column)} = ?`).join(', ')} WHERE 1 = ?`
}

// Without a condition, SQLite may remove all rows at once.
function deleteOf(name: string): string {
  return `DELETE FROM ${quoted(name)} WHERE 1 = ?`
}

function failureOf(connection: Connection, sql: string): string | undefined {
  try {
    connection.changes(sql)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * Returns why the CHECK constraints that contain a column can't be computed, by the name of the column. SQLite compiles
 * them only for connections that may write.
 */
function checkFailures(
  connection: Connection,
  { name, statement, columns }: WrittenTable,
): ReadonlyMap<string, string> {
  const tokens = /check/i.test(statement) ? tokensOf(statement) : []
  const checks = tokens.flatMap((token, at) => {
    if (!isWord(token, 'CHECK') || !isSign(tokens[at + 1], '(')) return []
    const end = closing(tokens, at + 1)
    const names = new Set(tokens.slice(at, end).map(({ text }) => folded(text)))
    return [{ names, expression: statement.slice(tokens[at + 1]?.start, tokens[end]?.end) }]
  })
  const failure = (...expressions: readonly string[]): string | undefined =>
    failureOf(connection, `SELECT ${expressions.join(', ')} FROM ${quoted(name)}`)
  const found = new Map<string, string>()
  // Nearly always all of them can be computed.
  if (failure('NULL', ...checks.map(({ expression }) => expression)) === undefined) return found
  for (const { names, expression } of checks) {
    const reason = failure(expression)
    // A SELECT rejects what a constraint may contain, such as a text in double quotes.
    if (reason === undefined || unknownIn(reason) === undefined) continue
    for (const column of columns) if (names.has(folded(column))) found.set(column, reason)
  }
  return found
}

function failures(
  columns: readonly string[],
  find: (column: string) => string | undefined,
): ReadonlyMap<string, string> {
  return new Map(
    columns.flatMap((column) => {
      const failure = find(column)
      return failure === undefined ? [] : [[column, failure] as const]
    }),
  )
}

function mapped(
  failure: string | undefined,
  reason: (message: string) => string,
): string | undefined {
  return failure === undefined ? undefined : reason(failure)
}
