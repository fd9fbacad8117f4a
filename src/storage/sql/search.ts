import { searchText } from '../adapter.ts'

/** The code points that fold to a character. */
let folding: ReadonlyMap<string, readonly string[]> | undefined

function foldingTo(character: string): readonly string[] {
  folding ??= foldedCharacters()
  return folding.get(character) ?? []
}

// All code points whose fold differs are below U+20000. The scan takes about ten milliseconds, once.
function foldedCharacters(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  const changes = /\p{Changes_When_Lowercased}/u
  for (let point = 0; point < 0x2_0000; point++) {
    if (point >= 0xd800 && point < 0xe000) continue
    const character = String.fromCodePoint(point)
    if (!changes.test(character)) continue
    const fold = searchText(character)
    found.set(fold, [...(found.get(fold) ?? []), character])
  }
  return found
}

const dottedI = '\u0130'
const dot = '\u0307'

/**
 * Returns a regular expression that matches the texts whose fold contains a folded needle. No function of a
 * server folds as JavaScript does, so each character becomes the class of the code points that fold to it. U+0130
 * folds to two characters. `escaped` returns a code point as the expressions of the server write it, so that it
 * has no meaning of its own.
 */
export function searchPattern(needle: string, escaped: (character: string) => string): string {
  const oneOf = (character: string): string => {
    const own = searchText(character) === character ? [character] : []
    const all = [...own, ...foldingTo(character)].map(escaped)
    return all.length === 1 ? (all[0] as string) : `[${all.join('')}]`
  }
  const characters = Array.from(needle)
  const last = characters.length - 1
  let pattern = ''
  for (let index = 0; index <= last; index++) {
    const character = characters[index] as string
    const next = characters[index + 1]
    if (character === 'i' && next === dot) {
      pattern += `(?:${oneOf('i')}${oneOf(dot)}|${escaped(dottedI)})`
      index++
    } else if (character === 'i' && index === last) {
      pattern += `(?:${oneOf('i')}|${escaped(dottedI)})`
    } else if (character === dot && index === 0) {
      pattern += `(?:${oneOf(dot)}|${escaped(dottedI)})`
    } else pattern += oneOf(character)
  }
  return pattern
}

/** Returns whether `lower` of ASCII letters finds a folded needle exactly: i and k are folds of other letters too. */
export function isPlainNeedle(needle: string): boolean {
  return /^[\u0001-\u007f]*$/.test(needle) && !/[ik]/.test(needle)
}
