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
 * Returns a mistake for each default and example that does not match the pattern of its field. It runs the patterns, so
 * definitions of unknown origin must not be checked with it.
 */
export function patternMistakes(applications: ApplicationDefinitions): readonly Mistake[] {
  return Object.entries(applications).flatMap(([application, { collections }]) =>
    Object.entries(collections).flatMap(([collection, { fields }]) =>
      Object.entries(fields).flatMap(([name, field]) => {
        if (field.type !== 'text' || field.pattern === undefined || !isPattern(field.pattern))
          return []
        const matches = compilePattern(field)
        const byDefault = field.default === 'database' ? undefined : field.default
        const values = { default: byDefault, example: field.example }
        const place = `applications.${application}.collections.${collection}.fields.${name}`
        return Object.entries(values)
          .filter(([, value]) => typeof value === 'string' && !matches(value))
          .map(([option]) => ({
            place: `${place}.${option}`,
            advice: 'does not have the required form',
          }))
      }),
    ),
  )
}
