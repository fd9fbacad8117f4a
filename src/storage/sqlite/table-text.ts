import { folded } from './tables.ts'

/** The parts of a CREATE TABLE statement, each as it is written. */
export interface TableText {
  /** Its column definitions and table constraints, in order. */
  readonly parts: readonly TablePart[]
  /** What follows the list, such as `STRICT`. */
  readonly options: string
}

/** A column definition or a table constraint. */
export interface TablePart {
  /** The name of the column; undefined for a table constraint. */
  readonly column: string | undefined
  readonly text: string
}

// A comment, a string literal, a name in quotes, brackets or backticks, or a character that structures the list.
const tokens =
  /--[^\n]*|\/\*[^]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[(),]/g
const firstWord =
  /^(?:\s|--[^\n]*\n|\/\*[^]*?\*\/)*(?:"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[([^\]]*)\]|'((?:[^']|'')*)'|([^\s"`[(',]+))/
const constraints = ['constraint', 'primary', 'unique', 'check', 'foreign']

/**
 * Returns the parts of a CREATE TABLE statement. Undefined if it has no list of columns, such as that of a
 * virtual table or of `CREATE TABLE ... AS SELECT`.
 */
export function tableText(statement: string): TableText | undefined {
  const texts: string[] = []
  let depth = 0
  let start = -1
  for (const { 0: token, index } of statement.matchAll(tokens)) {
    if (token === '(' && ++depth === 1) start = index + 1
    if (token === ',' && depth === 1) {
      texts.push(statement.slice(start, index))
      start = index + 1
    }
    if (token !== ')' || --depth > 0) continue
    texts.push(statement.slice(start, index))
    return { parts: texts.map(partOf), options: statement.slice(index + 1).trim() }
  }
  return undefined
}

function partOf(text: string): TablePart {
  const [, double, backtick, bracket, single, bare] = firstWord.exec(text) ?? []
  const isConstraint = bare !== undefined && constraints.includes(folded(bare))
  const column =
    double?.replaceAll('""', '"') ??
    backtick?.replaceAll('``', '`') ??
    bracket ??
    single?.replaceAll("''", "'") ??
    bare
  return { column: isConstraint ? undefined : column, text: text.trim() }
}
