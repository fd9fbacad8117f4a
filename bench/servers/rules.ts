import { columns, maxLengths, required, type Column } from '../customer.ts'
import type { Changes } from './store.ts'

export interface Failure {
  severity: 'error'
  field: string
  message: string
}

function failureOf(name: string, value: unknown): string | undefined {
  const max = maxLengths[name as Column] as number | undefined
  if (max === undefined) return 'There is no such field.'
  if (value === null || value === '') {
    return (required as readonly string[]).includes(name) ? 'A value is required.' : undefined
  }
  if (typeof value !== 'string') return 'The value must be a text.'
  return value.length > max ? `The value is longer than ${max} characters.` : undefined
}

/** The constraints of a customer, as one would write them by hand. */
export function failuresOf(body: Changes, complete: boolean): Failure[] {
  const failures: Failure[] = []
  for (const field in body) {
    const message = failureOf(field, body[field as Column])
    if (message) failures.push({ severity: 'error', field, message })
  }
  if (!complete) return failures
  for (const field of required) {
    if (body[field] === undefined) {
      failures.push({ severity: 'error', field, message: 'A value is required.' })
    }
  }
  return failures
}

const properties = Object.fromEntries(
  columns.map((name) => {
    const mandatory = (required as readonly string[]).includes(name)
    const type = mandatory ? 'string' : ['string', 'null']
    return [name, { type, maxLength: maxLengths[name], ...(mandatory && { minLength: 1 }) }]
  }),
)

/** The same constraints as JSON Schema, for the servers that bring ajv along. */
export const patchSchema = { type: 'object', additionalProperties: false, properties } as const
export const insertSchema = { ...patchSchema, required } as const
