import {
  resolve,
  type Document,
  type Facts,
  type Operation,
  type Parameter,
  type Schema,
} from './document.ts'
import { withLabels } from './labels.ts'

/** A field as a caller may use it in one place. */
export interface Field {
  readonly name: string
  /** The label of the definition. */
  readonly title: string | undefined
  /** What people read: the title, or what is made from the name. */
  readonly label: string
  readonly description: string | undefined
  readonly facts: Facts
  readonly isNullable: boolean
  /** Whether a new item needs a value. */
  readonly isRequired: boolean
  readonly enumeration: readonly unknown[] | undefined
  readonly minLength: number | undefined
  readonly maxLength: number | undefined
}

/** The fields of one place by name. */
export type FieldMap = ReadonlyMap<string, Field>

/** A collection as the caller may use it. */
export interface Collection {
  readonly application: string
  readonly name: string
  /** The path after `/rest/v1/`, encoded. */
  readonly path: string
  readonly description: string | undefined
  readonly key: readonly string[]
  /** The field that names an item. */
  readonly title: string | undefined
  readonly columns: readonly string[]
  readonly pageSize: number
  readonly maximum: number
  readonly sort: string
  readonly isSingleton: boolean
  readonly hasSearch: boolean
  readonly hasCursor: boolean
  readonly sortable: ReadonlySet<string>
  /** The fields that pages can be filtered by, and whether they must be. */
  readonly filters: ReadonlyMap<string, boolean>
  /** Whether changes state the version that they are about. */
  readonly hasVersions: boolean
  readonly listed: FieldMap
  readonly readable: FieldMap
  readonly insertable: FieldMap
  readonly updatable: FieldMap
  readonly can: Readonly<Record<'list' | 'read' | 'insert' | 'update' | 'remove', boolean>>
}

/** Returns the collections of a document, by their paths. */
export function collectionsOf(document: Document): ReadonlyMap<string, Collection> {
  const names = Object.keys(document.paths).map((path) => path.split('/').slice(1, 3).join('/'))
  return new Map([...new Set(names)].map((name) => [name, collectionOf(document, name)]))
}

function collectionOf(document: Document, path: string): Collection {
  const [application = '', name = ''] = path.split('/')
  const itemPath = Object.keys(document.paths).find((one) => one.startsWith(`/${path}/`)) ?? ''
  const whole = document.paths[`/${path}`] ?? {}
  const one = document.paths[itemPath] ?? {}
  const any = whole.get ?? whole.post ?? one.get ?? one.post ?? one.delete
  const list = whole.get?.['x-rowgate'].columns === undefined ? undefined : whole.get
  const reads = one.get ?? (list === undefined ? whole.get : undefined)
  const facts = { ...any?.['x-rowgate'], ...list?.['x-rowgate'] }
  const parameters = parametersOf(document, list)
  const named = (wanted: string) => parameters.find((each) => each.name === wanted)
  const orders = (named('$sort')?.schema.items as Schema | undefined)?.enum as string[] | undefined
  return {
    application,
    name,
    path,
    description: document.tags.find((tag) => tag.name === any?.tags[0])?.description,
    key: facts.key ?? [],
    title: facts.title,
    columns: facts.columns ?? [],
    pageSize: facts.pageSize ?? 10,
    maximum: facts.maximum ?? 100,
    sort: facts.sort ?? '',
    isSingleton: list === undefined && whole.get !== undefined,
    hasSearch: named('$q') !== undefined,
    hasCursor: named('$after') !== undefined,
    sortable: new Set(orders?.filter((order) => !order.startsWith('-'))),
    filters: new Map(
      parameters
        .filter((each) => each.in === 'query' && !each.name.startsWith('$'))
        .map((each) => [each.name, each.required === true]),
    ),
    hasVersions: parametersOf(document, one.post ?? one.delete).some(
      (each) => each.name === 'If-Match',
    ),
    ...withLabels({
      listed: rowFields(document, list),
      readable: itemFields(document, reads ?? one.post ?? whole.post),
      insertable: withHints(bodyFields(document, whole.post)),
      updatable: bodyFields(document, one.post),
    }),
    can: {
      list: list !== undefined,
      read: reads !== undefined,
      insert: whole.post !== undefined,
      update: one.post !== undefined,
      remove: one.delete !== undefined,
    },
  }
}

function parametersOf(document: Document, operation: Operation | undefined): readonly Parameter[] {
  return (operation?.parameters ?? []).map((each) => resolve(document, each))
}

function envelopeMember(
  document: Document,
  operation: Operation | undefined,
  member: 'item' | 'items',
): Schema {
  const schema = operation?.responses['200']?.content?.['application/json'].schema
  const envelope: Schema = schema === undefined ? {} : resolve(document, schema)
  return resolve<Schema>(document, envelope.properties?.[member] ?? {})
}

function rowFields(document: Document, list: Operation | undefined): FieldMap {
  const { items = {} } = envelopeMember(document, list, 'items')
  return fieldsOf(document, resolve<Schema>(document, items))
}

function itemFields(document: Document, operation: Operation | undefined): FieldMap {
  return fieldsOf(document, envelopeMember(document, operation, 'item'))
}

function bodyFields(document: Document, operation: Operation | undefined): FieldMap {
  const schema = operation?.requestBody?.content['application/json'].schema
  return schema === undefined ? new Map() : fieldsOf(document, resolve<Schema>(document, schema))
}

function fieldsOf(
  document: Document,
  { properties = {}, required = [] }: Schema,
): Map<string, Field> {
  return new Map(
    Object.entries(properties).map(([name, given]) => {
      const schema = resolve<Schema>(document, given)
      const { title, type, enum: values, minLength, maxLength } = schema
      const facts = schema['x-rowgate'] ?? { type: 'json' }
      const isNullable = type === undefined || [type].flat().includes('null')
      const field: Field = {
        name,
        title,
        label: title ?? name,
        description: aboutOf(facts),
        facts,
        isNullable,
        isRequired: required.includes(name),
        enumeration: values?.filter((value) => value !== null),
        minLength,
        maxLength,
      }
      return [name, field]
    }),
  )
}

/** Returns what people should know about a field besides its input. */
function aboutOf({ description, unique, minimum, maximum }: Facts): string | undefined {
  const sentences = [
    description,
    minimum !== undefined && `At least ${String(minimum)}.`,
    maximum !== undefined && `At most ${String(maximum)}.`,
    unique === true && 'Unique.',
  ].filter((sentence) => typeof sentence === 'string')
  return sentences.length === 0 ? undefined : sentences.join(' ')
}

/** Returns the fields of a new item with the note that some may stay empty. */
function withHints(fields: FieldMap): FieldMap {
  const note = 'If it is empty, the service supplies it.'
  return new Map(
    [...fields].map(([name, field]) => {
      const { facts, description } = field
      if (facts.generated === undefined) return [name, field]
      return [name, { ...field, description: [description, note].filter(Boolean).join(' ') }]
    }),
  )
}

/** Returns the path of an item of a collection after `/rest/v1/`. */
export function itemPath(collection: Collection, key: readonly string[]): string {
  return `${collection.path}/${key.map(encodeURIComponent).join(',')}`
}

/** Returns what people call a field of a collection. */
export function labelOf({ listed, readable }: Collection, name: string): string {
  return (listed.get(name) ?? readable.get(name))?.label ?? name
}

/** Returns the key of an item as strings. */
export function keyOf(collection: Collection, item: Readonly<Record<string, unknown>>): string[] {
  return collection.key.map((name) => String(item[name]))
}
