import { folded } from '../model.ts'
import { closing, isSign, isWord, tokensOf, type Token } from './tokens.ts'

/** What the CHECK constraints of a table say about one column. */
export interface ColumnCheck {
  /** The only values, of `CHECK (status IN ('open', 'closed'))`. Null is accepted besides. */
  readonly allowed?: readonly (string | number)[]
  /** Whether it must be JSON: `CHECK (json_valid(data))`. */
  readonly isJson?: boolean
}

/** Returns what the CHECK constraints of a CREATE TABLE statement say about its columns, by name in lower case. */
export function readChecks(
  statement: string,
  columns: readonly string[],
): ReadonlyMap<string, ColumnCheck> {
  const known = new Set(columns.map(folded))
  const found = new Map<string, ColumnCheck>()
  if (!/check/i.test(statement)) return found
  const tokens = tokensOf(statement)
  for (let at = 0; at < tokens.length; at++) {
    if (!isWord(tokens[at], 'CHECK') || !isSign(tokens[at + 1], '(')) continue
    const end = closing(tokens, at + 1)
    for (const term of split(tokens.slice(at + 2, end), 'AND')) {
      for (const [column, check] of checkOf(term, known))
        found.set(column, { ...found.get(column), ...check })
    }
    at = end
  }
  return found
}

function checkOf(
  term: readonly Token[],
  known: ReadonlySet<string>,
): readonly (readonly [column: string, check: ColumnCheck])[] {
  // `column IS NULL OR ...` changes nothing: a CHECK accepts null.
  const options = split(unwrapped(term), 'OR')
    .map(unwrapped)
    .filter((option) => !isNullTest(option))
  const [option = []] = options
  if (options.length !== 1) return []
  const [first, second, third, fourth] = option
  if (isWord(first, 'JSON_VALID') && isSign(second, '(') && isSign(fourth, ')')) {
    const column = columnOf(third, known)
    return column === undefined || option.length > 4 ? [] : [[column, { isJson: true }]]
  }
  const column = columnOf(first, known)
  if (column === undefined || !isWord(second, 'IN') || !isSign(third, '(')) return []
  if (closing(option, 2) !== option.length - 1) return []
  const allowed = split(option.slice(3, -1), ',').map((value) => literalOf(value, known))
  if (!allowed.every((value) => value !== undefined)) return []
  return [[column, { allowed: [...new Set(allowed)] }]]
}

/** Returns the value of a literal. NULL has none: with it in the list, a CHECK accepts every value. */
function literalOf(
  tokens: readonly Token[],
  known: ReadonlySet<string>,
): string | number | undefined {
  const isNegative = isSign(tokens[0], '-')
  const [value, ...rest] = isNegative ? tokens.slice(1) : tokens
  if (value === undefined || rest.length > 0) return undefined
  if (value.kind === 'number') return isNegative ? -Number(value.text) : Number(value.text)
  if (isNegative) return undefined
  if (value.kind === 'string') return value.text
  // SQLite reads a name in double quotes as a string if the column does not exist.
  return value.kind === 'name' && columnOf(value, known) === undefined ? value.text : undefined
}

function columnOf(token: Token | undefined, known: ReadonlySet<string>): string | undefined {
  if (token === undefined || (token.kind !== 'word' && token.kind !== 'name')) return undefined
  const column = folded(token.text)
  return known.has(column) ? column : undefined
}

function isNullTest(tokens: readonly Token[]): boolean {
  const [, is, nothing] = tokens
  return tokens.length === 3 && isWord(is, 'IS') && isWord(nothing, 'NULL')
}

/** Returns tokens without the parentheses around all of them. */
function unwrapped(tokens: readonly Token[]): readonly Token[] {
  const isWrapped = isSign(tokens[0], '(') && closing(tokens, 0) === tokens.length - 1
  return isWrapped ? unwrapped(tokens.slice(1, -1)) : tokens
}

/** Returns the parts between separators outside of parentheses. */
function split(tokens: readonly Token[], separator: string): readonly (readonly Token[])[] {
  const parts: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (isSign(token, '(')) depth++
    if (isSign(token, ')')) depth--
    if (depth === 0 && (isWord(token, separator) || isSign(token, separator))) parts.push([])
    else parts.at(-1)?.push(token)
  }
  return parts
}
