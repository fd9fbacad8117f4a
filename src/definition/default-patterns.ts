import type { ApplicationDefinitions } from './application.ts'
import type { Mistake } from './mistake.ts'
import { compilePattern, isPattern } from './pattern.ts'

/**
 * Returns a mistake for each default that does not match the pattern of its field. It runs the patterns, so
 * definitions of unknown origin must not be checked with it.
 */
export function defaultPatternMistakes(applications: ApplicationDefinitions): readonly Mistake[] {
  return Object.entries(applications).flatMap(([application, { collections }]) =>
    Object.entries(collections).flatMap(([collection, { fields }]) =>
      Object.entries(fields).flatMap(([name, field]) => {
        if (field.type !== 'text' || typeof field.default !== 'string') return []
        if (field.pattern === undefined || !isPattern(field.pattern)) return []
        if (compilePattern(field)(field.default)) return []
        const place = `applications.${application}.collections.${collection}.fields.${name}.default`
        return [{ place, advice: 'does not have the required form' }]
      }),
    ),
  )
}
