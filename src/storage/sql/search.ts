import { foldedLetters } from './folded-letters.ts'
import { searchText } from '../adapter.ts'

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
    const all = [...own, ...(foldedLetters().get(character) ?? [])].map(escaped)
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
