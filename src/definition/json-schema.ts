import { z } from 'zod'
import type { ApplicationDefinitions } from './application.ts'
import { checkApplications } from './check.ts'
import { applicationsShape } from './shape.ts'
import type { JsonSchema } from './schema.ts'

/**
 * The JSON Schema (2020-12) of applications that are written as JSON, for editors. The package has it
 * as a file too: `rowgate/definition.schema.json`.
 */
export function definitionJsonSchema(): JsonSchema {
  const schema = z.toJSONSchema(applicationsShape('json')) as JsonSchema
  // A file may name its schema, so that an editor finds it.
  return {
    ...schema,
    properties: { $schema: { type: 'string' } },
    propertyNames: { anyOf: [{ const: '$schema' }, schema['propertyNames']] },
  }
}

/**
 * Reads applications from JSON that has been parsed, and checks them. Throws a TypeError that lists
 * every mistake. Rules and handlers are code: add them with `defineCollection(data, behaviour)`.
 */
export function readApplications(json: unknown): ApplicationDefinitions {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return checkApplications(json, { form: 'json' })
  const { $schema: _schema, ...applications } = json as Readonly<Record<string, unknown>>
  return checkApplications(applications, { form: 'json' })
}
