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
  return z.toJSONSchema(applicationsShape('json')) as JsonSchema
}

/**
 * Reads applications from JSON that has been parsed, and checks them. Throws a TypeError that lists
 * every mistake. Rules and handlers are code: add them with `defineCollection(data, behaviour)`.
 */
export function readApplications(json: unknown): ApplicationDefinitions {
  return checkApplications(json, { form: 'json' })
}
