/** A token of SQL. Comments and white space are none. */
export interface Token {
  /** A `name` is quoted, a `word` is not. A sign is one character. */
  readonly kind: 'word' | 'name' | 'string' | 'number' | 'sign'
  /** Its text, without quotes. */
  readonly text: string
  /** Where it begins in the statement. */
  readonly start: number
  /** Where the text after it begins. */
  readonly end: number
}

const tokenForm =
  /--[^\n]*|\/\*[^]*?(?:\*\/|$)|'((?:[^']|'')*)'|"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[([^\]]*)\]|(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Z_a-z\u0080-\u{10ffff}][\w$\u0080-\u{10ffff}]*)|(\S)/gu

/** Returns the tokens of a statement or an expression. */
export function tokensOf(statement: string): readonly Token[] {
  return Array.from(statement.matchAll(tokenForm)).flatMap<Token>((match) => {
    const [all, string, double, backtick, bracket, number, word, sign] = match
    const place = { start: match.index, end: match.index + all.length }
    if (string !== undefined)
      return [{ kind: 'string', text: string.replaceAll("''", "'"), ...place }]
    const name = double?.replaceAll('""', '"') ?? backtick?.replaceAll('``', '`') ?? bracket
    if (name !== undefined) return [{ kind: 'name', text: name, ...place }]
    if (number !== undefined) return [{ kind: 'number', text: number, ...place }]
    if (word !== undefined) return [{ kind: 'word', text: word, ...place }]
    return sign === undefined ? [] : [{ kind: 'sign', text: sign, ...place }]
  })
}

/** Returns the place of the parenthesis that closes the one at a place; the end if there is none. */
export function closing(tokens: readonly Token[], opening: number): number {
  let depth = 0
  for (let at = opening; at < tokens.length; at++) {
    if (isSign(tokens[at], '(')) depth++
    if (isSign(tokens[at], ')') && --depth === 0) return at
  }
  return tokens.length
}

/** Returns whether a token is a word, in any case of its letters. */
export function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'word' && token.text.toUpperCase() === word
}

/** Returns whether a token is a sign. */
export function isSign(token: Token | undefined, sign: string): boolean {
  return token?.kind === 'sign' && token.text === sign
}
