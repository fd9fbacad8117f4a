import type { PublishedField } from '../../definition/published-field.ts'
import { rowsOf, type Connection } from './connection.ts'
import { columnDefinition } from './schema.ts'
import { quoted } from '../sql/fragments.ts'
import { tableText, type TablePart } from './table-text.ts'
import { searchPrefix } from '../sql/tables.ts'
import type { Table } from './tables.ts'
import { isWord, tokensOf } from './tokens.ts'

/** What a rebuild changes. */
export interface Rebuild {
  readonly name: string
  readonly table: Table
  /** The fields whose columns are declared anew. */
  readonly unfit: readonly PublishedField[]
}

const temporary = 'rowgate_rebuilt'

/**
 * Returns the statements that declare columns of a table anew and keep its rows, its other columns, indexes and
 * triggers. Undefined if a column has a constraint of its own that would be lost.
 */
export function rebuildStatements(
  connection: Connection,
  { name, table, unfit }: Rebuild,
): readonly string[] | undefined {
  const text = tableText(table.statement)
  if (text === undefined) return undefined
  const parts = text.parts.map((part) => changedPart(part, unfit))
  if (parts.includes(undefined)) return undefined
  const columns = [...table.columns.values()]
    .filter(({ computed }) => !computed)
    .map((column) => quoted(column.name))
    .join(', ')
  const own = `SELECT sql FROM sqlite_schema WHERE lower(tbl_name) = lower(?)
    AND type IN ('index', 'trigger') AND sql IS NOT NULL AND lower(substr(name, 1, ${searchPrefix.length})) <> '${searchPrefix}'
    ORDER BY type, rowid`
  // A search index is filled anew afterwards: its texts may have another form.
  const dependents = rowsOf(connection, own, [name]).map(([statement]) => `${statement as string};`)
  const sequence = /\bAUTOINCREMENT\b/i.test(table.statement) ? keptSequence(name) : []
  return [
    `CREATE TABLE ${quoted(temporary)} (\n  ${parts.join(',\n  ')}\n) ${text.options};`,
    `INSERT INTO ${quoted(temporary)} (${columns}) SELECT ${columns} FROM ${quoted(name)};`,
    ...sequence,
    `DROP TABLE ${quoted(name)};`,
    // Otherwise SQLite rejects the name if a view reads the table.
    'PRAGMA legacy_alter_table = ON;',
    `ALTER TABLE ${quoted(temporary)} RENAME TO ${quoted(name)};`,
    'PRAGMA legacy_alter_table = OFF;',
    ...dependents,
  ]
}

const ownConstraints = ['DEFAULT', 'UNIQUE', 'REFERENCES', 'GENERATED', 'AS', 'COLLATE', 'PRIMARY']

function changedPart(part: TablePart, unfit: readonly PublishedField[]): string | undefined {
  const { column, text } = part
  const field = unfit.find((one) => one.column.toLowerCase() === column?.toLowerCase())
  // A comment at the end must not hide the comma that follows.
  if (field === undefined) return text.includes('--') ? `${text}\n` : text
  const isKept = tokensOf(text).some((token) => ownConstraints.some((word) => isWord(token, word)))
  return isKept ? undefined : columnDefinition(field)
}

// The numbers of deleted rows must not be used again.
function keptSequence(name: string): readonly string[] {
  const [from, to] = [name, temporary].map((each) => `'${each.replaceAll("'", "''")}'`)
  return [
    `DELETE FROM sqlite_sequence WHERE name = ${to};`,
    `INSERT INTO sqlite_sequence (name, seq) SELECT ${to}, seq FROM sqlite_sequence WHERE name = ${from};`,
  ]
}
