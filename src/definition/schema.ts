import type { Field, TextOptions } from './field.ts'
import { fieldTypes } from './field-type.ts'

/** A JSON Schema (2020-12) as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Returns the JSON Schema of the value of a field in a body or item. Null means no value. */
export function fieldSchema(field: Field): JsonSchema {
  const { jsonType } = fieldTypes[field.type]
  const { minLength, maxLength, pattern } = field as TextOptions
  return {
    ...(jsonType !== undefined && { type: [jsonType, 'null'] }),
    ...(field.type === 'bigint' && { type: ['string', 'integer', 'null'] }),
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
    ...(pattern !== undefined && { pattern }),
    ...(field.description !== undefined && { description: field.description }),
  }
}
