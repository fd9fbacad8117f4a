import * as z from 'zod/mini'
import { wholeNumber } from '../checks/option-shapes.ts'
import { explain, oddObjects, withAdvice } from '../checks/options.ts'
import { hasLengthWithin } from '../protocol/code-points.ts'

/**
 * Checks the argument of a method and returns it with its defaults. Throws a TypeError that lists every
 * mistake with its place. It quotes no values, since a key or password may be in the wrong place.
 */
export function checkCall<Given>(call: string, shape: z.ZodMiniType<Given>, given: unknown): Given {
  const odd = oddObjects(shape, given, call)
  const result = shape.safeParse(given, withAdvice)
  if (result.success && odd.length === 0) return result.data
  const issues = odd.length > 0 ? [] : (result.error?.issues ?? [])
  const mistakes = [...odd, ...issues.flatMap((issue) => explain(issue, [call]))]
  throw new TypeError(mistakes.map(({ place, advice }) => `${place} ${advice}`).join('\n'))
}

/** Returns a shape of the values that pass the test; `advice` is the message for all others. */
export function accepted<Value>(test: (value: unknown) => boolean, advice: string) {
  return z.custom<Value>(test, { error: advice })
}

/** The shape of a boolean. */
export const flag = accepted<boolean>(
  (value) => typeof value === 'boolean',
  'must be true or false',
)

/** The shape of the priority of a provider. */
export const priority = accepted<number>(Number.isSafeInteger, 'must be an integer')

/** Returns a shape of strings with `min` to `max` characters, well-formed and without control characters. */
export function line(min: number, max: number) {
  return accepted<string>(
    (value) => isLine(value) && hasLengthWithin(value, min, max),
    `must be a string of ${min} to ${max} characters without control characters`,
  )
}

/** Returns whether a value is a well-formed string without control characters. */
export function isLine(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !/\p{Cc}/u.test(value)
}

/** Returns the schema of a number of minutes. */
export function minutes(min: 0 | 1) {
  return wholeNumber(min, undefined, `must be a whole number of minutes, at least ${min}`)
}
