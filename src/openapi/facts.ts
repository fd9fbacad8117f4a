import type { Bounds, DecimalOptions, TextOptions } from '../definition/field.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { JsonSchema } from '../definition/schema.ts'
import { parameters } from '../protocol/query.ts'
import type { Json } from '../protocol/json.ts'
import type { DescribedCollection } from './described.ts'

/** The member of operations and schemas with what OpenAPI has no form for. */
export const factsName = 'x-rowgate'

/** Returns the member of an operation: the event that it invokes, and the key of the collection's items. */
export function operationFacts(
  { collection, view }: DescribedCollection,
  event: string,
): JsonSchema {
  const { key, definition } = collection
  const { titleField: title } = definition
  return {
    [factsName]: {
      event,
      key: key.map(({ name }) => name),
      ...(title !== undefined && view.listed.byName.has(title) && { title }),
    },
  }
}

/** Returns the member of the operation that lists: also the columns, the sizes of pages and the order by default. */
export function listFacts(described: DescribedCollection): JsonSchema {
  const { collection, view } = described
  const { pageSize, defaultSort } = collection
  const { fields, responseFields } = view.listed
  const isListed = defaultSort.every(({ field }) => view.listed.byName.has(field))
  return {
    [factsName]: {
      ...(operationFacts(described, 'Filter')[factsName] as JsonSchema),
      columns: Array.from(responseFields.values())
        .filter(({ includeByDefault }) => includeByDefault)
        .map(({ name }) => name),
      pageSize: pageSize.default,
      maximum: pageSize.maximum,
      sort: isListed ? parameters.sort.encode(defaultSort) : '',
      search: fields.filter(({ search }) => search).map(({ name }) => name),
    },
  }
}

/** Returns the member of the schema of a field. Members that are false or unknown are left out. */
export function fieldFacts({ collection }: DescribedCollection, field: PublishedField): JsonSchema {
  const { name, type, definition } = field
  const { minimum, maximum } = definition as Bounds<Json>
  const { precision, scale } = definition as Partial<DecimalOptions>
  const { multiline } = definition as TextOptions
  const computed = collection.computed.some((one) => one.name === name)
  const facts = {
    type,
    // The description of the schema has further sentences.
    description: definition.description,
    references: referenceOf({ collection }, field),
    unique: definition.unique === true || undefined,
    ...defaultFacts(field),
    computed: computed || undefined,
    minimum,
    maximum,
    precision,
    scale,
    multiline: multiline === true || undefined,
  }
  return {
    [factsName]: Object.fromEntries(
      Object.entries(facts).filter(([, value]) => value !== undefined),
    ),
  }
}

/**
 * Returns the reference that a field belongs to: the collection, and the fields that hold its key, in the order of the
 * key. Of several references, it is the one with the fewest fields.
 */
function referenceOf(
  { collection }: Pick<DescribedCollection, 'collection'>,
  field: PublishedField,
): JsonSchema | undefined {
  const [first] = collection.references
    .filter(({ fields }) => fields.includes(field))
    .toSorted((one, other) => one.fields.length - other.fields.length)
  if (first === undefined) return undefined
  return { collection: first.to.name, fields: first.fields.map(({ name }) => name) }
}

/** Returns where the value of a new item comes from, if the client sends none. */
function defaultFacts({ definition, generated, show, store }: PublishedField): JsonSchema {
  if (generated !== undefined) return { generated }
  const { default: value } = definition
  if (value === undefined || value === null) return {}
  if (value === 'database') return { generated: 'database' }
  if (typeof value === 'function') return { generated: 'code' }
  // Linters take an object with the members `type` and `default` for a schema.
  return { defaultValue: show(store(value)) }
}
