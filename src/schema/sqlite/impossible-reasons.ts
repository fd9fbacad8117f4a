import { quoted } from '../../storage/sql/fragments.ts'
import { folded } from '../model.ts'
import type { Connection } from '../../storage/sqlite/connection/connection.ts'
import { unknownReason } from '../../storage/sqlite/connection/failure.ts'
import { foreignKeysOf, type SqliteForeignKey } from './foreign-keys.ts'
import { columnsOf, indexesOf, keyColumns } from './read.ts'

/** Returns what an error of SQLite means that a statement on a table always has, and what to do about it. */
export function statementReason(connection: Connection, table: string, message: string): string {
  const unknown = unknownReason(message)
  if (unknown !== undefined) return unknown
  const [, missing] = /^no such table: (?:main\.)?(.+)$/.exec(message) ?? []
  if (missing !== undefined) {
    const key = foreignKeysOf(connection, [table]).find(
      ({ target }) => folded(target) === folded(missing),
    )
    if (key !== undefined)
      return foreignKeyReason(key, `the table ${quoted(missing)} does not exist. Create it`)
  }
  const [, child, parent] = /^foreign key mismatch - "(.*)" referencing "(.*)"$/.exec(message) ?? []
  if (child === undefined || parent === undefined) return message
  const keys = foreignKeysOf(connection, [child]).filter(
    ({ target }) => folded(target) === folded(parent),
  )
  for (const key of keys) {
    const mismatch = mismatchOf(connection, key)
    if (mismatch !== undefined) return foreignKeyReason(key, mismatch)
  }
  return message
}

function foreignKeyReason({ table, columns, target }: SqliteForeignKey, mismatch: string): string {
  const own = columns.map(quoted).join(', ')
  return `SQLite can't check the foreign key (${own}) of ${quoted(table)} to ${quoted(target)}: ${mismatch}, remove the foreign key, or set the option foreignKeys of sqliteStorage to false`
}

/** Returns what is wrong with the columns that a foreign key refers to, and how to make them a key. */
function mismatchOf(
  connection: Connection,
  { columns, target, targetColumns, isImplicit }: SqliteForeignKey,
): string | undefined {
  const found = columnsOf(connection, [target]).get(target) ?? []
  const primary = keyColumns(found)
  if (isImplicit && columns.length !== primary.length)
    return `it has another number of columns than the primary key of ${quoted(target)}, which has ${primary.length}. Name the columns of ${quoted(target)}`
  const names = new Set(found.map(({ name }) => folded(name)))
  const missing = targetColumns.find((name) => !names.has(folded(name)))
  if (missing !== undefined) return `${quoted(target)} has no column ${quoted(missing)}. Add it`
  const wanted = groupOf(targetColumns)
  const isKey = groupOf(primary) === wanted
  const hasIndex = (indexesOf(connection, [target]).get(target) ?? []).some(
    (index) =>
      index.unique &&
      !index.partial &&
      groupOf(index.columns.map(({ name }) => name ?? '')) === wanted,
  )
  if (isKey || hasIndex) return undefined
  const listed = targetColumns.map(quoted).join(', ')
  const name = quoted([target, ...targetColumns].join('_'))
  return `(${listed}) of ${quoted(target)} is not unique. Create an index with CREATE UNIQUE INDEX ${name} ON ${quoted(target)} (${listed});`
}

function groupOf(columns: readonly string[]): string {
  return JSON.stringify(columns.map(folded).toSorted())
}
