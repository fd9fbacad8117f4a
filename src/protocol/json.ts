import { canonicalNumber, isJsonNumber, type JsonNumber } from './json-number.ts'
import { depthOf, isDigit } from './json-scan.ts'

/** Any JSON value. A number that a double can't hold exactly is a {@link JsonNumber}. */
export type Json =
  | null
  | boolean
  | number
  | string
  | JsonNumber
  | readonly Json[]
  | { readonly [name: string]: Json }

/**
 * The maximum nesting of the value of a json field, and of a value in a request body: the number of arrays and
 * objects from the value itself to its deepest part.
 */
export const maxDepth = 32

/** The maximum nesting of a request body, whose object is one more level than its values. */
export const maxBodyDepth = maxDepth + 1

/**
 * Returns the JSON of a value with the members of its objects in one order, and each number in one form: equal for
 * values that are equal.
 */
export function canonicalJson(value: unknown): string {
  if (isJsonNumber(value)) return canonicalNumber(value.text)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonicalJson(inner)}`).join(',')}}`
}

/**
 * Returns whether the value of valid JSON text may have what no json field may have: more levels, U+0000, a lone
 * surrogate, or a number that is too large for a double. False is certain. Most strings take a fraction of the time that
 * parsing them takes.
 */
export function mayExceedBounds(text: string, levels = maxDepth): boolean {
  return (
    !text.isWellFormed() ||
    (text.includes('\\u') && badEscape.test(text)) ||
    (exponent.test(text) && largeExponent.test(text)) ||
    hasLongNumber(text) ||
    isDeeper(text, levels)
  )
}

const badEscape = /\\u(?:0000|[dD][89a-fA-F])/
// The first of them is fast, and also finds digits in strings such as UUIDs.
const exponent = /[0-9][eE]\+?[0-9]{3}/
const largeExponent = /(?:^|[[:,])\s*-?[0-9][0-9.]*[eE]\+?[0-9]{3}/
const longNumber = /[0-9]{200}/

function hasLongNumber(text: string): boolean {
  // So many digits include one of these places.
  for (let index = 199; index < text.length; index += 200) {
    if (isDigit(text.charCodeAt(index))) return longNumber.test(text)
  }
  return false
}

function isDeeper(text: string, levels: number): boolean {
  const objects = occurrences(text, '{', levels)
  if (objects + occurrences(text, '[', levels) <= levels) return false
  return depthOf(text) > levels
}

/** Returns how often a character occurs in a string; more than `most` if it occurs more often. */
function occurrences(text: string, character: string, most: number): number {
  let count = 0
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) {
    if (++count > most) return count
  }
  return count
}
