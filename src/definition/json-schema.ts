import { z } from 'zod'
import type { ApplicationDefinitions } from './application.ts'
import { checkApplications } from './check.ts'
import { applicationsShape } from './shape.ts'
import type { JsonSchema } from './schema.ts'

/**
 * Returns the JSON Schema (2020-12) of applications in JSON, for editors. The package contains it as
 * `rowgate/definition.schema.json`.
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
 * Returns the applications of parsed JSON. Throws a TypeError that lists every mistake. Add validations and
 * handlers with `defineCollection(data, behaviour)`.
 */
export function readApplications(json: unknown): ApplicationDefinitions {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return checkApplications(json, { form: 'json' })
  const { $schema: _schema, ...applications } = json as Readonly<Record<string, unknown>>
  return checkApplications(applications, { form: 'json' })
}
