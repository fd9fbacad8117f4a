import type { PublishedField } from '../definition/published-field.ts'
import type { JsonSchema } from '../definition/schema.ts'
import type { DescribedCollection } from './described.ts'
import { countSchema, envelopeSchema, schemaReference } from './envelope.ts'
import { fieldFacts } from './facts.ts'
import { fieldSchema, isSetByService, type ValuePlace } from './field-schema.ts'

/** Returns the schemas of a collection by name. Some may be unused. */
export function itemSchemas(described: DescribedCollection): Readonly<Record<string, JsonSchema>> {
  const { collection, names, view } = described
  const { name } = collection
  const readable = Array.from(view.readable.responseFields.values())
  const listed = Array.from(view.listed.responseFields.values())
  const related = listed.filter(({ includeByDefault }) => includeByDefault)
  const inserted = writableFields(described, 'Insert')
  const start = names.schemas
  return {
    [`${start}Item`]: {
      type: 'object',
      description: `An item of ${name}, with all its fields.`,
      required: readable.map((field) => field.name),
      properties: { ...properties(described, readable, 'response'), ...relatedItems(described) },
    },
    [`${start}Row`]: {
      type: 'object',
      description: `An item of ${name} in a page: the fields that $fields selects.`,
      properties: { ...properties(described, listed, 'response'), ...relatedItems(described) },
    },
    [`${start}Related`]: {
      type: 'object',
      description: `An item of ${name} beside one that refers to it, or to which it refers.`,
      ...requiredOf(related),
      properties: properties(described, related, 'response'),
    },
    [`${start}Insert`]: {
      type: 'object',
      description: `A new item of ${name}.`,
      additionalProperties: false,
      ...requiredOf(inserted.filter((field) => isRequired(described, field))),
      properties: properties(described, inserted, 'body'),
    },
    [`${start}Update`]: {
      type: 'object',
      description: `Changes of an item of ${name}: null removes a value, an absent field keeps its value.`,
      additionalProperties: false,
      properties: properties(described, writableFields(described, 'Update'), 'body'),
    },
    [`${start}Envelope`]: envelopeSchema({ item: schemaReference(`${start}Item`) }),
    [`${start}Page`]: envelopeSchema({
      items: { type: 'array', items: schemaReference(`${start}Row`) },
      count: countSchema,
    }),
  }
}

/** Returns the members that $expand adds to an item. */
function relatedItems({ expandable }: DescribedCollection): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    expandable.map(({ expansion, schemas }): readonly [string, JsonSchema] => {
      const { name, isMany, to, limit } = expansion
      const item = schemaReference(`${schemas}Related`)
      const only = `Only with $expand=${name}.`
      if (!isMany) {
        const description = `The item of ${to.name} that it refers to; null if there is none that you can see. ${only}`
        return [name, { description, anyOf: [item, { type: 'null' }] }]
      }
      const more = { type: 'boolean', description: 'Whether there are more.' }
      const items = { type: 'array', maxItems: limit, items: item }
      const description = `The first items of ${to.name} that refer to it. ${only}`
      const required = ['items', 'more']
      return [name, { type: 'object', description, required, properties: { items, more } }]
    }),
  )
}

/** Returns the fields that the audience can send. */
export function writableFields(
  { view }: DescribedCollection,
  event: 'Insert' | 'Update',
): readonly PublishedField[] {
  return view.sendable.fields.filter(
    (field) =>
      !isSetByService(field) &&
      !view.unwritable.includes(field) &&
      !(event === 'Update' && field.inKey),
  )
}

/** Returns whether a new item needs a value of the client. */
export function isRequired({ collection }: DescribedCollection, field: PublishedField): boolean {
  const { required, generated, suppliedAtInsert, definition, name } = field
  const { equal = {} } = Object(collection.rows) as { readonly equal?: object }
  const isGiven = generated !== undefined || suppliedAtInsert || definition.default !== undefined
  // A row rule supplies the values that it compares with.
  return required && !isGiven && !Object.hasOwn(equal, name)
}

function properties(
  described: DescribedCollection,
  fields: readonly PublishedField[],
  place: ValuePlace,
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    fields.map((field) => [
      field.name,
      { ...fieldSchema(field, place), ...fieldFacts(described, field) },
    ]),
  )
}

// An empty list is not allowed by all versions of JSON Schema.
function requiredOf(fields: readonly PublishedField[]): JsonSchema {
  return fields.length === 0 ? {} : { required: fields.map(({ name }) => name) }
}
