import { z } from 'zod'
import { adviceFor, explain } from '../definition/options.ts'

/**
 * Checks what a method was called with. Throws a TypeError that lists every mistake with its place,
 * and never quotes a value: it may be a key or a password in the wrong place.
 */
export function checkCall<Given>(call: string, shape: z.ZodType<Given>, given: unknown): Given {
  const result = shape.safeParse(given, { error: adviceFor })
  if (result.success) return result.data
  const mistakes = result.error.issues.flatMap((issue) => explain(issue, [call]))
  throw new TypeError(mistakes.map(({ place, advice }) => `${place} ${advice}`).join('\n'))
}

/** A shape for values that a test accepts; the advice says what to write instead. */
export function accepted<Value>(test: (value: unknown) => boolean, advice: string) {
  return z.custom<Value>(test, { error: advice })
}

/** True or false. */
export const flag = accepted<boolean>(
  (value) => typeof value === 'boolean',
  'must be true or false',
)

/** The priority of a provider (D43). */
export const priority = accepted<number>(Number.isSafeInteger, 'must be a whole number')

/** A text of one line: `least` to `most` characters, well-formed and without control characters. */
export function line(least: number, most: number) {
  return accepted<string>(
    (value) => isLine(value) && value.length >= least && lengthOf(value) <= most,
    `must be a text of ${least} to ${most} characters without control characters`,
  )
}

/** Whether a value is well-formed text without control characters. */
export function isLine(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !/\p{Cc}/u.test(value)
}

function lengthOf(text: string): number {
  return text.length > 1_000 ? text.length : Array.from(text).length
}

/** A whole number of minutes. */
export function minutes(least: 0 | 1) {
  return accepted<number>(
    (value) => Number.isSafeInteger(value) && (value as number) >= least,
    `must be a whole number of minutes, at least ${least}`,
  )
}
