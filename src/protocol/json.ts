import { canonicalNumber, isJsonNumber, type JsonNumber } from './json-number.ts'
import { depthOf } from './json-scan.ts'

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

// What JSON text needs so that its value may exceed the bounds of a json field, apart from its depth: control
// characters, an escape of U+0000 or of a surrogate, or a number that may be too large for a double.
const unusual =
  /[\0-\x1f]|\\u(?:0000|[dD][89a-fA-F])|(?:^|[[:,]) *-?[0-9](?:[0-9]{199}|[0-9.]*[eE]\+?[0-9]{3})/

/**
 * Returns whether the value of JSON text may have what no json field may have: more levels, U+0000, a lone
 * surrogate, or a number that is too large for a double. False is certain if the text is valid JSON.
 */
export function mayExceedBounds(text: string, levels = maxDepth): boolean {
  return unusual.test(text) || depthOf(text) > levels || !text.isWellFormed()
}
