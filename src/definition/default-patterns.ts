import type { ApplicationDefinitions } from './application.ts'
import type { Mistake } from './mistake.ts'
import { compilePattern, isPattern } from './pattern.ts'

/**
 * The defaults that do not match the pattern of their field. This runs the patterns, so it is left out
 * where definitions of an unknown origin are only inspected.
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
