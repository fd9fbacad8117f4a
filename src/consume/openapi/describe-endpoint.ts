import { suggestion } from '../../checks/nearest-name.ts'
import { completeOptions } from '../../checks/options.ts'
import { describeSchema } from '../tables/describe-schema.ts'
import type { TableDescription } from '../tables/table-description.ts'
import { flattenShape, type FlattenOptions } from '../tables/flatten.ts'
import { createWork, OpenApiError } from './document.ts'
import { completeDocument } from './import-openapi.ts'
import { operationsOf } from './operations.ts'
import { readDocument } from './read-document.ts'
import { responseSchema, ResponseSchemas } from './response-schemas.ts'

/**
 * Returns the tables of the responses of an endpoint, which an OpenAPI document describes. `name` is its name in the
 * imported file: `getOrder`. Rejects with an OpenApiError if the document can't be imported or has no such endpoint.
 */
export async function describeEndpoint(
  file: string,
  name: string,
  options: FlattenOptions = {},
): Promise<readonly TableDescription[]> {
  const complete = completeOptions('describeEndpoint', flattenShape, options)
  const read = await readDocument(file)
  completeDocument(read)
  const { document } = read
  const work = createWork()
  const { operations } = operationsOf(document, work)
  const operation = operations.find(({ key }) => key === name)
  if (operation === undefined) {
    const known = operations.map(({ key }) => key)
    const advice = `has no endpoint ${name}; ${suggestion(name, known, 'endpoints')}`
    throw new OpenApiError([{ place: '#/paths', advice }])
  }
  const schemas = new ResponseSchemas(document, { work })
  const schema = responseSchema(document, operation.responses, schemas)
  return describeSchema(schema, schemas.definitions, complete)
}
