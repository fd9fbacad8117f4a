import type { z } from 'zod'
import type { ApplicationDefinitions } from './application.ts'
import { inconsistencies } from './consistency.ts'
import { mistaken, type Mistake } from './mistake.ts'
import { missingCodeMistakes } from './omitted-code.ts'
import { applicationsShape, type Form } from './shape.ts'

/**
 * Checks the applications of a service completely, before anything starts. Throws one TypeError that
 * lists every mistake with its place and what to write instead.
 */
export function checkApplications(
  applications: unknown,
  options: {
    readonly form?: Form
    readonly maximumPageSize?: number
    /** Whether the definitions are about to be served: then no code may be missing. Default false. */
    readonly toServe?: boolean
  } = {},
): ApplicationDefinitions {
  const { form = 'code', maximumPageSize = 100, toServe = false } = options
  const result = applicationsShape(form).safeParse(applications)
  const mistakes = result.success
    ? [
        ...inconsistencies(applications as ApplicationDefinitions, maximumPageSize),
        ...(toServe ? missingCodeMistakes(applications as ApplicationDefinitions) : []),
      ]
    : result.error.issues.flatMap((issue) => explain(issue, ['applications']))
  if (mistakes.length > 0) throw mistaken(mistakes)
  return applications as ApplicationDefinitions
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
