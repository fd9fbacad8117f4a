import type { JsonSchema } from '../definition/schema.ts'
import { errorStatuses } from '../errors.ts'

/** Returns the schemas of validations and rejected requests. */
export function sharedSchemas(): Readonly<Record<string, JsonSchema>> {
  const statuses = new Set<number>(Object.values(errorStatuses))
  const rejection = (status: JsonSchema, item: string): JsonSchema => ({
    type: 'object',
    required: ['message', 'validations', 'status'],
    properties: {
      item: { type: 'object', description: item, additionalProperties: true },
      message: { type: 'string' },
      validations: { type: 'array', items: schemaReference('Validation') },
      status: { type: 'integer', ...status },
    },
  })
  return {
    Validation: {
      type: 'object',
      description: 'The finding of a validation.',
      required: ['message', 'severity'],
      properties: {
        validationId: { type: 'string', description: 'Of a warning: confirms it.' },
        message: { type: 'string' },
        severity: { type: 'string', enum: ['error', 'warning', 'information'] },
        field: { type: 'string', description: 'The field that it is about.' },
      },
    },
    Rejection: {
      description: 'A rejected request.',
      ...rejection(
        { enum: [...statuses].sort((one, other) => one - other), description: 'The HTTP status.' },
        'The submitted values, or the item that is kept.',
      ),
    },
    FailedValidation: {
      description: 'A failed validation: HTTP 400 with the status 200 in the body.',
      ...rejection(
        { const: 200 },
        'The submitted values; of a rejected delete, the item that stays.',
      ),
    },
  }
}

/** Returns the schema of the envelope of a success, with `item`, or with `items` and `count`. */
export function envelopeSchema(content: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return {
    type: 'object',
    required: [...Object.keys(content), 'message', 'validations', 'status'],
    properties: {
      ...content,
      message: { type: 'null' },
      validations: { type: 'array', items: schemaReference('Validation') },
      status: { type: 'integer', const: 200 },
    },
  }
}

/** Returns the schema of `count`. */
export const countSchema: JsonSchema = {
  type: ['integer', 'null'],
  minimum: 0,
  description: 'The number of all items that match; null unless $count=true.',
}

/** Returns an example of the envelope of a success. */
export function envelopeExample(content: JsonSchema): JsonSchema {
  return { value: { ...content, message: null, validations: [], status: 200 } }
}

/** Returns a reference to a schema of the document. */
export function schemaReference(schema: string): JsonSchema {
  return { $ref: `#/components/schemas/${schema}` }
}
