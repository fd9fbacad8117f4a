import type { TextOptions } from './field.ts'

/** Whether a string is a regular expression in Unicode mode. */
export function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').unicode
  } catch {
    return false
  }
}

/**
 * Compiles the pattern of a field. Returns a function that reports whether a text matches. A text whose
 * length is out of bounds counts as a match: its length is the mistake, and a regular expression runs on
 * the main thread for as long as it takes.
 */
export function compilePattern(field: TextOptions): (text: string) => boolean {
  const { pattern, minLength = 0, maxLength = Infinity } = field
  if (pattern === undefined) return () => true
  const form = new RegExp(pattern, 'u')
  return (text) => !isWithin(text, minLength, maxLength) || form.test(text)
}

// A code point has one or two units, so most texts need not be counted.
function isWithin(text: string, minimum: number, maximum: number): boolean {
  const units = text.length
  if (units < minimum || units > 2 * maximum) return false
  if (units <= maximum && units >= 2 * minimum) return true
  const length = lengthOf(text)
  return length >= minimum && length <= maximum
}

function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}
