import * as z from 'zod/mini'
import { runtime } from '../runtime.ts'

type Code = (...input: never) => unknown

/** Returns the schema of an option that is a function. */
export function code<Function extends Code = Code>() {
  return z.custom<Function>((value) => typeof value === 'function', { error: 'must be a function' })
}

/** Returns the schema of an option that is an object with a method. `advice` is the message of other values. */
export function objectWith<Value>(method: string, advice: string) {
  return z.custom<Value>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      typeof (value as Readonly<Record<string, unknown>>)[method] === 'function',
    { error: advice },
  )
}

/** Returns the schema of strings that are not empty and not too long. */
export function text(maxLength: number) {
  return z.string().check(z.minLength(1), z.maxLength(maxLength))
}

/** A string that is not empty. */
export const nonEmpty = z.string().check(z.minLength(1))

/**
 * Returns the schema of integers. `advice` is the message for all other values; without it, the message names
 * the bound that is not kept.
 */
export function wholeNumber(min: number, max?: number, advice?: string) {
  const whole = z.int({ error: advice, abort: advice !== undefined })
  const atLeast = whole.check(z.minimum(min, advice))
  return max === undefined ? atLeast : atLeast.check(z.maximum(max, advice))
}

/** Returns the schema of a time in milliseconds. The message for all other values names the bounds. */
export function milliseconds(min: number, max: number) {
  return wholeNumber(min, max, `must be a whole number of milliseconds from ${min} to ${max}`)
}

/** A time that a timer can measure, in milliseconds. */
export const timerMilliseconds = wholeNumber(1, 2 ** 31 - 1)

/** A function that returns the time. Default: the system's. */
export const clock = z._default(code<() => Date>(), () => () => new Date(runtime.dateNow()))

/** The brand prefix of paths and headers. */
export const brand = z
  .string()
  .check(z.regex(/^[a-z][a-z0-9]*$/, 'must consist of lower-case letters and digits'))

/** A version of the contract, or false for none. */
export const serviceVersion = z.union([
  z.literal(false),
  z.string().check(z.regex(/^\d+\.\d+$/, 'must be a version like 4.54, or false')),
])
