import { closing, isSign, isWord, tokensOf, type Token } from './tokens.ts'

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

const constraints = ['CONSTRAINT', 'PRIMARY', 'UNIQUE', 'CHECK', 'FOREIGN']

/**
 * Returns the parts of a CREATE TABLE statement. Undefined if it has no list of columns, such as that of a
 * virtual table or of `CREATE TABLE ... AS SELECT`.
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
