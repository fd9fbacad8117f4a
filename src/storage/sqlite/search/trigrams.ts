import { foldedLetters } from '../../sql/folded-letters.ts'
import { rowsOf, type Connection } from '../connection/connection.ts'

/**
 * Returns the FTS5 query of a folded needle: it finds every row that contains the needle, and may find others.
 * Undefined if the needle has no three characters in a row that an index can find.
 */
export type MatchNeedle = (needle: string) => string | undefined

/** Three characters that mark a row with U+0000, which ends what the tokenizer reads. */
export const marker = '\uf8ff'.repeat(3)

const dottedI = '\u0130'
const dot = '\u0307'
// What an index has not as it is stored: U+0000, and what UTF-8 can't represent.
const unindexed = /[\0\ufffd\p{Cs}]/u
// Longer needles are searched by their start, so that a query stays small. Its rows are compared afterwards.
const maxCharacters = 48
const maxTerms = 8
const maxPhrases = 8

/**
 * Returns what writes the queries of a database. Throws an Error if its SQLite has no trigram tokenizer.
 *
 * The tokenizer folds letters by the tables of another version of Unicode than JavaScript. Its folds are read
 * from the SQLite that runs. Of letters that it does not fold alike, a query contains each.
 */
export function needleMatcher(connection: Connection): MatchNeedle {
  const unlike = unlikeLettersOf(connection)
  return (needle) => {
    const terms = piecesOf(needle, unlike).flatMap(termsOf).slice(0, maxTerms)
    return terms.length === 0 ? undefined : `(${terms.join(' AND ')}) OR "${marker}"`
  }
}

/** The letters that the tokenizer distinguishes, by the character that all of them fold to. */
type UnlikeLetters = ReadonlyMap<string, readonly string[]>

function unlikeLettersOf(connection: Connection): UnlikeLetters {
  try {
    return readUnlikeLetters(connection)
  } catch (error) {
    const [version] = rowsOf(connection, 'SELECT sqlite_version()')[0] ?? []
    throw new Error(
      `sqliteStorage: search: 'indexed' needs SQLite 3.34 or later with FTS5. SQLite ${String(version)} of ${connection.driver} failed: ${String(error)}`,
      { cause: error },
    )
  }
}

function readUnlikeLetters(connection: Connection): UnlikeLetters {
  const classes = [...foldedLetters()]
    .filter(([fold]) => Array.from(fold).length === 1)
    .map(([fold, letters]) => [fold, ...letters])
  const tokens = tokensOf(connection, classes.flat())
  const unlike = classes.map((letters): [string, readonly string[]] => {
    const byToken = new Map(letters.map((letter) => [tokens.get(letter), letter]))
    return [letters[0] as string, [...byToken.values()]]
  })
  return new Map(unlike.filter(([, letters]) => letters.length > 1))
}

/** Returns the token of each letter, which is repeated three times. */
function tokensOf(connection: Connection, letters: readonly string[]): ReadonlyMap<string, string> {
  connection.execute(`DROP TABLE IF EXISTS temp.rowgate_tokens;
    DROP TABLE IF EXISTS temp.rowgate_trigrams;
    CREATE VIRTUAL TABLE temp.rowgate_trigrams USING ${trigramTable};
    CREATE VIRTUAL TABLE temp.rowgate_tokens USING fts5vocab(temp, rowgate_trigrams, instance)`)
  try {
    const text = letters.map((letter) => letter.repeat(3)).join('')
    const insert = 'INSERT INTO temp.rowgate_trigrams (rowid, text) VALUES (1, ?)'
    connection.changes(insert)([text])
    const select = 'SELECT term FROM temp.rowgate_tokens WHERE "offset" % 3 = 0 ORDER BY "offset"'
    const found = rowsOf(connection, select).map(([term]) => String(term))
    return new Map(letters.map((letter, index) => [letter, found[index] as string]))
  } finally {
    connection.execute('DROP TABLE temp.rowgate_tokens; DROP TABLE temp.rowgate_trigrams')
  }
}

/** The module and the options of the table of an index. It keeps no copy of the text. */
export const trigramTable = `fts5(text, content = '', columnsize = 0, tokenize = 'trigram')`

/** Characters in a row, each with the letters that may stand for it in a string. */
type Piece = readonly (readonly string[])[]

// U+0130 folds to two characters, so a needle may begin or end within it, or skip it as one character.
function piecesOf(needle: string, unlike: UnlikeLetters): readonly Piece[] {
  const characters = Array.from(needle.slice(0, 2 * maxCharacters)).slice(0, maxCharacters)
  const isWhole = characters.join('').length === needle.length
  const pieces: (readonly string[])[][] = [[]]
  for (const [index, character] of characters.entries()) {
    const piece = pieces.at(-1) as (readonly string[])[]
    const next = characters[index + 1]
    if (unindexed.test(character)) pieces.push([])
    else if (character === dot && characters[index - 1] === 'i') pieces.push([])
    else if (character === dot && index === 0) piece.push([dot, dottedI])
    else if (character === 'i' && (next === dot || (next === undefined && isWhole)))
      piece.push(['i', dottedI])
    else piece.push(unlike.get(character) ?? [character])
  }
  return pieces
}

/** Returns the terms that a string with a piece meets: one if it has few forms, otherwise one for three characters each. */
function termsOf(piece: Piece): readonly string[] {
  if (piece.length < 3) return []
  const forms = piece.reduce((product, letters) => product * letters.length, 1)
  if (forms <= maxPhrases) return [anyOf(piece)]
  const starts = Array.from({ length: Math.floor(piece.length / 3) }, (_, index) => index * 3)
  return starts.map((start) => anyOf(piece.slice(start, start + 3)))
}

function anyOf(piece: Piece): string {
  const forms = piece.reduce<readonly string[]>(
    (texts, letters) => texts.flatMap((text) => letters.map((letter) => text + letter)),
    [''],
  )
  const phrases = forms.map((form) => `"${form.replaceAll('"', '""')}"`)
  return `(${phrases.join(' OR ')})`
}
