import type { ApplicationDefinitions } from './application.ts'
import { inconsistencies } from './consistency.ts'
import { defaultPatternMistakes } from './default-patterns.ts'
import { mistaken, type Mistake } from './mistake.ts'
import { missingCodeMistakes } from './omitted-code.ts'
import { adviceFor, explain } from './options.ts'
import { reservedNames } from './reserved-names.ts'
import { applicationsShape, type Form } from './shape.ts'
import { wellFormedPart } from './well-formed.ts'
import { defaultBrand } from '../protocol/names.ts'

/** What the check of applications depends on. */
export interface CheckOptions {
  /** Default `code`. */
  readonly form?: Form
  /** The largest page maximum that a collection may set, in items. Default 100. */
  readonly maximumPageSize?: number
  /** The brand prefix of the service. Default `svc`. */
  readonly brand?: string
  /**
   * Whether the definitions are about to be served. Then no code may be missing, and defaults are compared
   * with the patterns of their fields. Definitions that are only inspected are not: a package could bring
   * a pattern that never ends. Default false.
   */
  readonly toServe?: boolean
}

/** What an inspection of applications found. */
export interface Inspected {
  readonly mistakes: readonly Mistake[]
  /** The applications without the parts whose form is wrong, for further checks. */
  readonly wellFormed: ApplicationDefinitions
}

/**
 * Checks the applications of a service completely, before anything starts. Throws one TypeError that
 * lists every mistake with its place and what to write instead.
 */
export function checkApplications(
  applications: unknown,
  options: CheckOptions = {},
): ApplicationDefinitions {
  const { mistakes } = inspectApplications(applications, options)
  if (mistakes.length > 0) throw mistaken(mistakes)
  return applications as ApplicationDefinitions
}

/** As {@link checkApplications}, for callers that collect the mistakes of several checks. */
export function inspectApplications(applications: unknown, options: CheckOptions = {}): Inspected {
  const { form = 'code', maximumPageSize = 100, brand = defaultBrand, toServe = false } = options
  const shape = applicationsShape(form)
  const result = shape.safeParse(applications, { error: adviceFor })
  const reserved = reservedNames(applications, brand)
  const furtherMistakes = (part: ApplicationDefinitions): readonly Mistake[] => [
    ...inconsistencies(part, maximumPageSize),
    ...(toServe ? [...missingCodeMistakes(part), ...defaultPatternMistakes(part)] : []),
  ]
  if (result.success) {
    const wellFormed = applications as ApplicationDefinitions
    return { mistakes: [...reserved, ...furtherMistakes(wellFormed)], wellFormed }
  }
  const { issues } = result.error
  const { part, replaced } = wellFormedPart(shape, applications, issues)
  // What stands for a field whose form is wrong has no mistakes of its own.
  const others = furtherMistakes(part).filter(
    ({ place, advice }) =>
      !replaced.some((name) => place.split('.').includes(name) || advice.startsWith(`${name} `)),
  )
  const malformed = issues.flatMap((issue) => explain(issue, ['applications']))
  return { mistakes: [...reserved, ...malformed, ...others], wellFormed: part }
}
