import {
  bigint,
  boolean,
  computed,
  date,
  dateTime,
  decimal,
  defineCollection,
  double,
  instant,
  integer,
  json,
  text,
  uuid,
} from '../../src/entries/index.ts'
import {
  openApiDocument,
  type JsonSchema,
  type OpenApiDocument,
} from '../../src/entries/openapi.ts'

/** A collection with a field of every type, and of every option that a document shows. */
const things = defineCollection(
  {
    key: 'id',
    description: 'Things of every kind.',
    cursor: true,
    defaultSort: ['-made'],
    pageSize: { default: 5, maximum: 20 },
    fields: {
      id: uuid({ generated: 'uuid', description: 'Its number.' }),
      name: text({ required: true, minLength: 2, maxLength: 8, unique: true }),
      code: text({ pattern: '^[a-z]+$', example: 'abc' }),
      size: text({ enumeration: ['small', 'large'] }),
      amount: integer({ minimum: 1, maximum: 9, default: 3 }),
      large: bigint({ minimum: '1' }),
      price: decimal({ precision: 5, scale: 2, maximum: '100' }),
      balance: decimal({ precision: 4, scale: 0, required: true, default: '0' }),
      weight: double({ minimum: 0.5 }),
      isNew: boolean(),
      day: date({ minimum: '2020-01-01' }),
      local: dateTime({ includeByDefault: false }),
      made: instant({ generated: 'now', required: true }),
      extra: json({ includeByDefault: false }),
      long: text({ itemOnly: true }),
      changed: text({ readOnly: true, default: () => 'now' }),
    },
  },
  { computed: { label: computed(text(), ['name'], ({ name }) => name) } },
)

const parts = defineCollection({
  key: ['thing', 'part'],
  count: 'estimated',
  fields: {
    thing: uuid({ references: 'things', onDelete: 'cascade' }),
    part: text({ maxLength: 3 }),
    other: uuid({ references: 'things' }),
  },
})

const state = defineCollection(
  { singleton: true, fields: { isOpen: boolean({ required: true }) } },
  { serve: { get: () => ({ isOpen: true }) } },
)

const log = defineCollection({
  requiredFilters: ['day'],
  publishes: ['Filter'],
  fields: { day: date({ required: true }), line: text() },
})

/** One application with every kind of collection. */
export const applications = {
  shop: { description: 'A shop.', collections: { things, 'spare-parts': parts, state, log } },
}

/** A document as tests read it. */
export interface ReadDocument {
  /** Returns the operation of a path such as `/shop/things`. */
  operation(method: string, path: string): Operation
  schema(name: string): ReadSchema
  readonly document: OpenApiDocument
}

/** An operation as tests read it. */
export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: JsonSchema
  readonly responses: Readonly<
    Record<string, { readonly headers?: JsonSchema; readonly links?: JsonSchema } & JsonSchema>
  >
}

interface Parameter {
  readonly $ref?: string
  readonly name?: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: ReadSchema
}

/** A schema of an object, or of a list. */
export interface ReadSchema extends JsonSchema {
  readonly required?: readonly string[]
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly items?: { readonly enum: readonly string[] }
}

/** Makes a document, and reads it. */
export function readDocument(
  described: Parameters<typeof openApiDocument>[0],
  options: Partial<Parameters<typeof openApiDocument>[1]> = {},
): ReadDocument {
  const document = openApiDocument(described, { title: 'Shop', ...options })
  return {
    document,
    operation: (method, path) => document.paths[path]?.[method] as Operation,
    schema: (name) => document.components['schemas']?.[name] as ReadSchema,
  }
}
