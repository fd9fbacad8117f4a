import { z } from 'zod'

type Code = (...input: never) => unknown

/** A function of the application. */
export function code<Function extends Code = Code>() {
  return z.custom<Function>((value) => typeof value === 'function', { error: 'must be a function' })
}

/** An object that has a method; the advice says what to give instead. */
export function objectWith<Value>(method: string, advice: string) {
  return z.custom<Value>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      typeof (value as Readonly<Record<string, unknown>>)[method] === 'function',
    { error: advice },
  )
}

/** The maker's word in paths and headers. */
export const brand = z
  .string()
  .regex(/^[a-z][a-z0-9]*$/, 'must consist of lower-case letters and digits')

/** A contract version, or false for none. */
export const serviceVersion = z.union([
  z.literal(false),
  z.string().regex(/^\d+\.\d+$/, 'must be a version like 4.54, or false'),
])
