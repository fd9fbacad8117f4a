import * as z from 'zod'

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

/** The brand prefix of paths and headers. */
export const brand = z
  .string()
  .regex(/^[a-z][a-z0-9]*$/, 'must consist of lower-case letters and digits')

/** A version of the contract, or false for none. */
export const serviceVersion = z.union([
  z.literal(false),
  z.string().regex(/^\d+\.\d+$/, 'must be a version like 4.54, or false'),
])
