import { completeOptions } from '../../checks/options.ts'
import { isJsonNumber } from '../../protocol/json-number.ts'
import type { Json } from '../../protocol/json.ts'
import type { RuleEndpoint } from '../rules/rule.ts'
import type { JsonSchemaSchema, SampleSchema } from '../schema.ts'
import { describeSchema } from './describe-schema.ts'
import { flattenShape, flattenWithin, type FlattenOptions } from './flatten.ts'
import type { TableDescription } from './table-description.ts'
import { schemaOf } from './schema-members.ts'
import { allTables } from './table.ts'

/**
 * Returns the tables of a response with their columns and types. Throws as `flatten` does.
 *
 * In place of a response it accepts an endpoint, or what {@link readAs} returns, whose responses have a sample or a JSON
 * Schema, such as an endpoint of a document that was imported with `check`. Nothing is called. Members with any name are
 * columns with the name `*`. Schemas are followed for eight levels, and less if they are very large. Throws a TypeError
 * if the type of the responses is known to the compiler only.
 */
export function describeTables(
  response: unknown,
  options: FlattenOptions = {},
): readonly TableDescription[] {
  const complete = completeOptions('describeTables', flattenShape, options)
  if (!isEndpoint(response)) return describeResponse(response, complete)
  const { entries = [], arrays = [], zip = [] } = response.reading ?? {}
  return describeEndpoint(response, {
    ...complete,
    entries: [...complete.entries, ...entries],
    arrays: [...complete.arrays, ...arrays],
    zip: [...complete.zip, ...zip],
  })
}

function isEndpoint(value: unknown): value is RuleEndpoint<unknown> {
  if (typeof value !== 'object' || value === null) return false
  const { name, call } = value as Partial<RuleEndpoint<unknown>>
  return typeof name === 'string' && typeof call === 'function'
}

function describeEndpoint(
  { name, response }: RuleEndpoint<unknown>,
  options: Required<FlattenOptions>,
): readonly TableDescription[] {
  const { sample, jsonSchema, definitions } = Object(response) as Partial<
    SampleSchema<unknown> & JsonSchemaSchema<unknown>
  >
  if (jsonSchema !== undefined)
    return describeSchema(schemaOf(jsonSchema), definitions ?? {}, options)
  if (response !== undefined && 'sample' in response) return describeResponse(sample, options)
  throw new TypeError(
    `describeTables: the responses of ${name} have no sample and no JSON Schema. Import the document with --check.`,
  )
}

function describeResponse(
  response: unknown,
  options: Required<FlattenOptions>,
): readonly TableDescription[] {
  return allTables(flattenWithin(response as Json, options)).map(({ path, rows, columns }) => ({
    path,
    rows: rows.length,
    columns: [...columns].map((name) => {
      const types = new Set<string>()
      let count = 0
      for (const { values, empty } of rows) {
        const isCell = Object.hasOwn(values, name)
        if (isCell) types.add(typeOf(values[name]))
        else if (empty !== undefined && Object.hasOwn(empty, name)) types.add(empty[name] ?? '')
        else continue
        count++
      }
      return { name, types: [...types].sort(), inEveryRow: count === rows.length }
    }),
  }))
}

function typeOf(cell: unknown): string {
  if (cell === null) return 'null'
  return isJsonNumber(cell) ? 'number' : typeof cell
}
