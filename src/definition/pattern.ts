import type { TextOptions } from './field.ts'

/** Returns whether a string is a valid regular expression in Unicode mode. */
export function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').unicode
  } catch {
    return false
  }
}

/**
 * Compiles the pattern of a field. Returns a function that returns whether a string matches. A string whose
 * length is out of bounds counts as a match: its length is already an error, and running the pattern on it
 * could block the main thread.
 */
export function compilePattern(field: TextOptions): (text: string) => boolean {
  const { pattern, minLength = 0, maxLength = Infinity } = field
  if (pattern === undefined) return () => true
  const form = new RegExp(pattern, 'u')
  return (text) => !isWithin(text, minLength, maxLength) || form.test(text)
}

// A code point has one or two UTF-16 units, so most strings need no count.
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
