import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { rowsOf, type Connection } from '../../storage/sqlite/connection/connection.ts'
import { columnDefinition, isOwnColumn, isWrittenColumn } from './statements.ts'
import { quoted } from '../../storage/sql/fragments.ts'
import { folded, searchPrefix, type Table } from '../model.ts'
import { sharedFields } from '../wanted-indexes.ts'
import { closing, isSign, isWord, tokensOf, type Token } from './tokens.ts'

/** What a rebuild changes. */
export interface Rebuild {
  readonly table: Table
  /** The fields whose columns are redeclared. */
  readonly unfit: readonly PublishedField[]
}

const temporary = 'rowgate_rebuilt'

/**
 * Returns the statements that redeclare columns of a table and keep its rows, its other columns, indexes and
 * triggers. Undefined if a column has a constraint of its own that would be lost.
 */
export function rebuildStatements(
  connection: Connection,
  { table, unfit }: Rebuild,
): readonly string[] | undefined {
  return copyStatements(connection, table, (part) => changedPart(part, unfit))
}

/** What changes whether columns reject null. */
export interface NullChange {
  readonly table: Table
  readonly sharing: readonly PublishedCollection[]
  readonly columns: readonly string[]
  readonly rejectsNull: boolean
}

/**
 * Returns the statements that let columns of a table reject null, or allow it, and keep everything else. Undefined if
 * the declaration of a column does not show how.
 */
export function nullStatements(
  connection: Connection,
  { table, columns, sharing, rejectsNull }: NullChange,
): readonly string[] | undefined {
  const names = new Set(columns.map(folded))
  return copyStatements(connection, table, ({ column, text }) => {
    const own = folded(column ?? '')
    if (!names.has(own)) return keptText(text)
    const field = sharedFields(sharing).get(own)
    if (field !== undefined && isOwnColumn(text, field)) return columnDefinition(field, rejectsNull)
    return rejectsNull ? `${keptText(text)} NOT NULL` : withoutNotNull(text)
  })
}

function withoutNotNull(text: string): string | undefined {
  const tokens = tokensOf(text)
  const words = wordsOf(text)
  const at = tokens.findIndex(
    (token, index) => isWord(token, 'NOT') && isWord(tokens[index + 1], 'NULL'),
  )
  const [not, end] = [tokens[at], tokens[at + 1]]
  if (not === undefined || end === undefined) return undefined
  if (words.includes('CONSTRAINT') || words.includes('CONFLICT') || !words.includes('NOT'))
    return undefined
  return keptText(`${text.slice(0, not.start).trimEnd()}${text.slice(end.end)}`)
}

// A comment at the end must not hide the comma that follows.
function keptText(text: string): string {
  return text.includes('--') ? `${text}\n` : text
}

function copyStatements(
  connection: Connection,
  { name, statement: created = '', columns: all }: Table,
  change: (part: TablePart) => string | undefined,
): readonly string[] | undefined {
  const text = tableText(created)
  if (text === undefined) return undefined
  const parts = text.parts.map(change)
  if (parts.includes(undefined)) return undefined
  const columns = all
    .filter(({ isComputed }) => !isComputed)
    .map((column) => quoted(column.name))
    .join(', ')
  const own = `SELECT sql FROM sqlite_schema WHERE lower(tbl_name) = lower(?)
    AND type IN ('index', 'trigger') AND sql IS NOT NULL AND lower(substr(name, 1, ${searchPrefix.length})) <> '${searchPrefix}'
    ORDER BY type, rowid`
  // A search index is filled again afterwards: its texts may have another form.
  const dependents = rowsOf(connection, own, [name]).map(([statement]) => `${statement as string};`)
  const sequence = /\bAUTOINCREMENT\b/i.test(created) ? keptSequence(name) : []
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
  const field = unfit.find((one) => folded(one.column) === folded(column ?? ''))
  if (field === undefined) return keptText(text)
  const words = wordsOf(text)
  if (ownConstraints.some((word) => words.includes(word))) return undefined
  if (words.includes('CHECK') && !isWrittenColumn(text, field)) return undefined
  if (field.inKey || !words.includes('NOT')) return columnDefinition(field)
  // Only the library writes it before a CHECK.
  return / NOT NULL$/i.test(text)
    ? `${columnDefinition(field)} NOT NULL`
    : columnDefinition(field, true)
}

/** Returns the words that follow the name of a column, outside of parentheses, in upper case. */
function wordsOf(text: string): readonly string[] {
  const tokens = tokensOf(text)
  const words: string[] = []
  for (let at = 1; at < tokens.length; at++) {
    const { kind, text: word } = tokens[at] as Token
    if (isSign(tokens[at], '(')) at = closing(tokens, at)
    else if (kind === 'word') words.push(word.toUpperCase())
  }
  return words
}

// The numbers of deleted rows must not be used again.
function keptSequence(name: string): readonly string[] {
  const [from, to] = [name, temporary].map((each) => `'${each.replaceAll("'", "''")}'`)
  return [
    `DELETE FROM sqlite_sequence WHERE name = ${to};`,
    `INSERT INTO sqlite_sequence (name, seq) SELECT ${to}, seq FROM sqlite_sequence WHERE name = ${from} COLLATE NOCASE;`,
  ]
}

/** The parts of a CREATE TABLE statement, each as it is written. */
interface TableText {
  /** Its column definitions and table constraints, in order. */
  readonly parts: readonly TablePart[]
  /** What follows the list, such as `STRICT`. */
  readonly options: string
}

/** A column definition or a table constraint. */
interface TablePart {
  /** The name of the column; undefined for a table constraint. */
  readonly column: string | undefined
  readonly text: string
}

const constraints = ['CONSTRAINT', 'PRIMARY', 'UNIQUE', 'CHECK', 'FOREIGN']

/**
 * Returns the parts of a CREATE TABLE statement. Undefined if it has no list of columns, such as the statement of
 * a virtual table, or `CREATE TABLE ... AS SELECT`.
 */
export function tableText(statement: string): TableText | undefined {
  const tokens = tokensOf(statement)
  const opening = tokens.findIndex((token) => isSign(token, '('))
  const end = tokens[closing(tokens, opening)]
  if (opening === -1 || end === undefined) return undefined
  const parts: TablePart[] = []
  let first = opening + 1
  let start = tokens[opening]?.end
  for (let at = first; ; at++) {
    const token = tokens[at] as Token
    if (isSign(token, '(')) at = closing(tokens, at)
    if (token !== end && !isSign(token, ',')) continue
    parts.push(partOf(tokens[first], statement.slice(start, token.start)))
    if (token === end) return { parts, options: statement.slice(end.end).trim() }
    first = at + 1
    start = token.end
  }
}

function partOf(first: Token | undefined, text: string): TablePart {
  const isConstraint = constraints.some((word) => isWord(first, word))
  return { column: isConstraint ? undefined : first?.text, text: text.trim() }
}
