import { setMember } from '../json-path.ts'
import type { JsonSchema } from '../tables/schema-members.ts'
import { schemaNameOf } from './alias-cycles.ts'
import { objectOf, stringOf, type DocumentObject } from './document.ts'

/**
 * Returns the schema of alternatives between which the value of a property decides; undefined if it does not decide.
 * `converted` are the alternatives as JSON Schemas.
 */
export function discriminated(
  { propertyName, mapping }: DocumentObject,
  list: readonly unknown[],
  converted: readonly JsonSchema[],
): JsonSchema | undefined {
  const property = stringOf(propertyName)
  if (property === undefined) return undefined
  const mapped = Object.entries(objectOf(mapping))
  const known = new Set<unknown>()
  const tags = list.map((each) => {
    const reference = stringOf(objectOf(each)['$ref'])
    const name = schemaNameOf(reference)
    if (reference === undefined || name === undefined) return []
    known.add(reference).add(name)
    const own = mapped.filter(([, to]) => to === reference || to === name).map(([tag]) => tag)
    // The name of a schema is a value, too, unless the mapping has it.
    return mapped.some(([tag]) => tag === name) ? own : [...own, name]
  })
  // A value that is mapped to another schema may be one of an alternative, such as of a subtype.
  if (mapped.some(([, to]) => !known.has(to))) return undefined
  if (tags.some((each) => each.length === 0)) return undefined
  const withTags = (values: readonly string[]): object => ({
    required: [property],
    properties: singleMember(property, { enum: values }),
  })
  const all = [...new Set(tags.flat())]
  return {
    if: { type: 'object' },
    then: {
      ...withTags(all),
      allOf: converted.map((then, index) => ({ if: withTags(tags[index] ?? []), then })),
    },
    // An alternative may be null.
    else: { anyOf: converted },
  }
}

function singleMember(name: string, value: unknown): object {
  const object = {}
  setMember(object, name, value)
  return object
}
