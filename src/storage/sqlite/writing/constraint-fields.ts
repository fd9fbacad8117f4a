import type { PublishedCollection } from '../../../definition/published.ts'
import type { Row } from '../../adapter.ts'
import { bindValue } from '../statements/columns.ts'
import { rowsOf, type Connection, type SqliteValue } from '../connection/connection.ts'
import { foreignKeysOf } from '../../../schema/sqlite/foreign-keys.ts'
import { quoted } from '../../sql/fragments.ts'
import { closing, isWord, tokensOf } from '../../../schema/sqlite/tokens.ts'
import { folded } from '../../../schema/model.ts'

/** Finds the fields of a failed constraint, which the errors of SQLite do not contain. */
export interface ConstraintFields {
  /** Returns the fields in the expression of a CHECK, given the message of SQLite. */
  check(collection: PublishedCollection, message: string): readonly string[]
  /** Returns the fields of the first foreign key whose parent row is missing. */
  foreignKey(collection: PublishedCollection, row: Row): readonly string[]
}

const checkFailed = 'CHECK constraint failed: '

/** Creates the functions on a connection. They are called only after an error. */
export function constraintFields(connection: Connection): ConstraintFields {
  function statementOf(table: string): string {
    const select = `SELECT sql FROM sqlite_schema WHERE type = 'table' AND lower(name) = lower(?)`
    const [statement] = rowsOf(connection, select, [table])[0] ?? []
    return typeof statement === 'string' ? statement : ''
  }

  function isMissing(parent: string, columns: readonly string[], values: readonly SqliteValue[]) {
    const conditions = columns.map((column) => `${quoted(column)} = ?`).join(' AND ')
    const select = `SELECT 1 FROM ${quoted(parent)} WHERE ${conditions} LIMIT 1`
    return rowsOf(connection, select, values).length === 0
  }

  return {
    check(collection, message) {
      const start = message.indexOf(checkFailed)
      if (start === -1) return []
      // The name of the constraint or, if it has none, its expression.
      const failed = message.slice(start + checkFailed.length)
      const statement = statementOf(collection.table)
      const named = expressionOf(statement, failed) ?? failed
      const names = namesIn(named)
      return collection.fields
        .filter(({ column }) => names.has(folded(column)))
        .map(({ name }) => name)
    },
    foreignKey(collection, row) {
      for (const { columns, target, targetColumns } of foreignKeysOf(connection, [
        collection.table,
      ])) {
        const fields = columns.flatMap((name) =>
          collection.fields.filter(({ column }) => folded(column) === folded(name)),
        )
        const values = fields.map((field) => bindValue(field, row[field.name] ?? null))
        if (fields.length < columns.length || values.includes(null)) continue
        // SQLite reports a key without columns before it looks for rows.
        if (targetColumns.includes('')) continue
        if (isMissing(target, targetColumns, values)) return fields.map(({ name }) => name)
      }
      return []
    },
  }
}

/** Returns the names in an expression, in lower case. */
function namesIn(expression: string): ReadonlySet<string> {
  const names = tokensOf(expression).filter(({ kind }) => kind === 'word' || kind === 'name')
  return new Set(names.map(({ text }) => folded(text)))
}

/** Returns the expression of `CONSTRAINT name CHECK (...)` in a CREATE TABLE statement. */
function expressionOf(statement: string, constraint: string): string | undefined {
  const tokens = tokensOf(statement)
  const at = tokens.findIndex(
    (token, index) =>
      isWord(token, 'CONSTRAINT') &&
      tokens[index + 1]?.text === constraint &&
      isWord(tokens[index + 2], 'CHECK'),
  )
  if (at === -1) return undefined
  const end = tokens[closing(tokens, at + 3)]
  return statement.slice(tokens[at + 3]?.start, end?.start)
}
