import type { Mistake } from '../checks/mistakes.ts'
import { hasLengthWithin } from '../protocol/code-points.ts'
import type { ApplicationDefinitions } from './application.ts'
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
  return (text) => !hasLengthWithin(text, minLength, maxLength) || form.test(text)
}

/**
 * Returns a mistake for each default that does not match the pattern of its field. It runs the patterns, so
 * definitions of unknown origin must not be checked with it.
 */
export function defaultPatternMistakes(applications: ApplicationDefinitions): readonly Mistake[] {
  return Object.entries(applications).flatMap(([application, { collections }]) =>
    Object.entries(collections).flatMap(([collection, { fields }]) =>
      Object.entries(fields).flatMap(([name, field]) => {
        if (field.type !== 'text' || typeof field.default !== 'string') return []
        if (field.default === 'database') return []
        if (field.pattern === undefined || !isPattern(field.pattern)) return []
        if (compilePattern(field)(field.default)) return []
        const place = `applications.${application}.collections.${collection}.fields.${name}.default`
        return [{ place, advice: 'does not have the required form' }]
      }),
    ),
  )
}
