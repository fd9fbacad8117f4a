import type { z } from 'zod'
import type { ApplicationDefinitions } from './application.ts'
import { inconsistencies } from './consistency.ts'
import { defaultPatternMistakes } from './default-patterns.ts'
import { mistaken, type Mistake } from './mistake.ts'
import { missingCodeMistakes } from './omitted-code.ts'
import { reservedNames } from './reserved-names.ts'
import { applicationsShape, type Form } from './shape.ts'
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

/**
 * Checks the applications of a service completely, before anything starts. Throws one TypeError that
 * lists every mistake with its place and what to write instead.
 */
export function checkApplications(
  applications: unknown,
  options: CheckOptions = {},
): ApplicationDefinitions {
  const { form = 'code', maximumPageSize = 100, brand = defaultBrand, toServe = false } = options
  const result = applicationsShape(form).safeParse(applications)
  const mistakes = result.success
    ? [
        ...inconsistencies(applications as ApplicationDefinitions, maximumPageSize),
        ...(toServe ? mistakesWhenServed(applications as ApplicationDefinitions) : []),
      ]
    : result.error.issues.flatMap((issue) => explain(issue, ['applications']))
  const all = [...reservedNames(applications, brand), ...mistakes]
  if (all.length > 0) throw mistaken(all)
  return applications as ApplicationDefinitions
}

function mistakesWhenServed(applications: ApplicationDefinitions): readonly Mistake[] {
  return [...missingCodeMistakes(applications), ...defaultPatternMistakes(applications)]
}

/** Checks options. Throws one TypeError that lists every mistake, with its place below `root`. */
export function checkOptions<Options>(
  root: string,
  shape: z.ZodType<Options>,
  given: unknown,
): Options {
  const result = shape.safeParse(given)
  if (result.success) return result.data
  throw mistaken(result.error.issues.flatMap((issue) => explain(issue, [root])))
}

/** A zod issue in the words of a developer. */
export function explain(issue: z.core.$ZodIssue, root: readonly PropertyKey[]): readonly Mistake[] {
  const place = [...root, ...issue.path].map(String).join('.')
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        place: `${place}.${key}`,
        advice: 'there is no such option here; remove it or correct its spelling',
      }))
    case 'invalid_type':
      return [{ place, advice: `must be of type ${issue.expected}` }]
    case 'invalid_value':
      return [{ place, advice: `must be one of ${issue.values.map(String).join(', ')}` }]
    case 'invalid_key':
      return issue.issues.map((inner) => ({ place, advice: `the name ${inner.message}` }))
    case 'invalid_union':
      return [{ place, advice: unionAdvice(issue) }]
    default:
      return [{ place, advice: issue.message }]
  }
}

function unionAdvice(issue: z.core.$ZodIssueInvalidUnion): string {
  if (issue.discriminator === 'type') {
    return 'must be text, integer, bigint, decimal, double, boolean, date, dateTime, instant, uuid or json'
  }
  const advice = issue.errors.flatMap((errors) => errors.flatMap((inner) => explain(inner, [])))
  return Array.from(new Set(advice.map((mistake) => mistake.advice))).join(', or ')
}
