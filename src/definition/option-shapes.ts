import { z } from 'zod'

/** A function of the host. */
export const code = z.custom<(...input: never) => unknown>((value) => typeof value === 'function', {
  error: 'must be a function',
})

/** The maker's word in paths and headers. */
export const brand = z
  .string()
  .regex(/^[a-z][a-z0-9]*$/, 'must consist of lower-case letters and digits')

/** A contract version, or false for none. */
export const serviceVersion = z.union([
  z.literal(false),
  z.string().regex(/^\d+\.\d+$/, 'must be a version like 4.54, or false'),
])
