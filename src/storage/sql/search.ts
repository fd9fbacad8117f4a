import { foldedLetters } from './folded-letters.ts'
import type { FieldTypeName } from '../../definition/field.ts'
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

// The form of folded wire values of some types. 0 is any digit.
const templates: Partial<Record<FieldTypeName, readonly string[]>> = {
  boolean: ['true', 'false'],
  date: ['0000-00-00'],
  time: ['00:00:00'],
  dateTime: ['0000-00-00t00:00:00.000'],
  instant: ['0000-00-00t00:00:00z', '0000-00-00t00:00:00.000z'],
}

/** Returns whether a folded needle can occur in the wire text of a value of a type. */
export function mayContain(type: FieldTypeName, needle: string): boolean {
  if (type === 'double') return /^[-+.e0-9]*$/.test(needle)
  const text = needle.replace(/[1-9]/g, '0')
  return templates[type]?.some((template) => template.includes(text)) ?? true
}

/** Returns whether `lower` of ASCII letters finds a folded needle exactly: i and k are folds of other letters too. */
export function isPlainNeedle(needle: string): boolean {
  return /^[\u0001-\u007f]*$/.test(needle) && !/[ik]/.test(needle)
}
