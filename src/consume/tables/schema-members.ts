import { keysOf, setMember, valueBelow } from '../json-path.ts'
import { TablesError } from './tables-error.ts'

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>> | boolean

type JsonObject = Readonly<Record<string, unknown>>
type Types = ReadonlySet<string> | undefined

/** What a schema states of a value. */
export interface SchemaMembers {
  /** The types that it may have; undefined if the schema does not state any. */
  readonly types: ReadonlySet<string> | undefined
  readonly members: ReadonlyMap<string, SchemaMember>
  /** The schemas of members with any name: those of a dictionary. */
  readonly others: readonly JsonSchema[]
  /** The schemas of the elements of an array. */
  readonly elements: readonly JsonSchema[]
  /** The references that were followed. */
  readonly references: ReadonlySet<string>
}

/** A member of an object. Its value matches one of the schemas, or all of them. */
export interface SchemaMember {
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

// Of schemas in each other and references, before the stack is exhausted.
const maxDepth = 1000
const nothing: SchemaMembers = {
  types: undefined,
  members: new Map(),
  others: [],
  elements: [],
  references: new Set(),
}

/** Reads what a schema states, with its parts (`allOf`) and alternatives (`anyOf`, `oneOf`) as one object. */
export class SchemaReader {
  readonly #root: JsonSchema
  readonly #definitions: unknown
  readonly #known = new Map<JsonSchema, SchemaMembers>()

  /** `definitions` are those of `rowgate:definitions`. */
  constructor(root: JsonSchema, definitions: unknown) {
    this.#root = root
    this.#definitions = { $defs: definitions }
  }

  /** Returns what a schema states. */
  read(schema: JsonSchema): SchemaMembers {
    return this.#read(schema, 0)
  }

  #read(schema: JsonSchema, depth: number): SchemaMembers {
    const known = this.#known.get(schema)
    if (known !== undefined) return known
    if (typeof schema !== 'object') return nothing
    if (depth > maxDepth) throw tooDeep()
    // While it is read: a schema that is a part or an alternative of itself.
    this.#known.set(schema, nothing)
    try {
      const stated = both(this.#always(schema, depth), this.#conditional(schema, depth))
      this.#known.set(schema, stated)
      return stated
    } catch (error) {
      this.#known.delete(schema)
      throw error
    }
  }

  /** Returns what a schema states without its conditions and those among its parts. */
  #always(schema: JsonObject, depth: number): SchemaMembers {
    const { $ref: reference } = schema
    const deeper = depth + 1
    return [
      ownMembers(schema),
      ...(typeof reference === 'string' ? [this.#read(this.#target(reference), deeper)] : []),
      ...schemasOf(schema['allOf']).map((each) =>
        isCondition(each) ? this.#always(each, deeper) : this.#read(each, deeper),
      ),
      ...['anyOf', 'oneOf'].flatMap((key) => {
        const all = schemasOf(schema[key])
        return all.length === 0 ? [] : [oneOf(all.map((each) => this.#read(each, deeper)))]
      }),
    ].reduce(both, nothing)
  }

  /**
   * Returns what the conditions of a schema and those among its parts add, which is not in every value. They are read as
   * alternatives: a discriminator is a list of conditions, of which one applies.
   */
  #conditional(schema: JsonObject, depth: number): SchemaMembers {
    const branches = this.#conditionsOf(schema, depth).map((condition) => {
      const read = (key: string) => this.#read(schemaOf(condition[key]), depth + 1)
      return { tested: read('if'), met: read('then'), unmet: read('else') }
    })
    const { members, ...rest } = oneOf(branches.flatMap(({ met, unmet }) => [met, unmet]))
    const types = branches.map(({ tested, met, unmet }) =>
      eitherType([typesOfBoth(tested.types, met.types), unmet.types]),
    )
    const optional = Array.from(
      members,
      ([name, { schema }]) => [name, { schema, isRequired: false }] as const,
    )
    return { ...rest, types: types.reduce(typesOfBoth, undefined), members: new Map(optional) }
  }

  #conditionsOf(schema: JsonObject, depth: number): readonly JsonObject[] {
    const own = isCondition(schema) ? [schema] : []
    if (depth > maxDepth) throw tooDeep()
    const inParts = schemasOf(schema['allOf'])
      .filter(isCondition)
      .flatMap((each) => this.#conditionsOf(each, depth + 1))
    return [...own, ...inParts]
  }

  #target(reference: string): JsonSchema {
    const [address = '', pointer = ''] = reference.split('#')
    const document = address === '' ? this.#root : this.#definitions
    const path = decoded(pointer).replace(/^\//, '')
    return schemaOf(path === '' ? document : valueBelow(document, keysOf(path)))
  }
}

function tooDeep(): TablesError {
  const what = `its references, parts and alternatives lead to each other over more than ${maxDepth} levels`
  return new TablesError('TOO_DEEP', `The schema of the response cannot be read: ${what}.`)
}

/** Returns what the keywords of one schema state. */
function ownMembers(schema: Readonly<Record<string, unknown>>): SchemaMembers {
  const { properties, required, items, prefixItems, additionalProperties } = schema
  const { $ref: reference } = schema
  const names = new Set<unknown>(Array.isArray(required) ? required : [])
  const members = new Map<string, SchemaMember>()
  for (const [name, each] of Object.entries(Object(properties) as object))
    members.set(name, { schema: schemaOf(each), isRequired: names.has(name) })
  // A member that another part of the schema describes.
  for (const name of names)
    if (typeof name === 'string' && !members.has(name))
      members.set(name, { schema: true, isRequired: true })
  const patterns = Object(schema['patternProperties']) as Readonly<Record<string, unknown>>
  const others = [additionalProperties, ...Object.values(patterns)]
  const elements = [...schemasOf(prefixItems), ...(items === undefined ? [] : [schemaOf(items)])]
  return {
    types: typesOf(schema, { isObject: properties !== undefined, isArray: elements.length > 0 }),
    members,
    others: others.filter((each) => typeof each === 'object' && each !== null) as JsonSchema[],
    elements,
    references: new Set(typeof reference === 'string' ? [reference] : []),
  }
}

function typesOf(
  { type, enum: values, const: value }: Readonly<Record<string, unknown>>,
  { isObject, isArray }: { readonly isObject: boolean; readonly isArray: boolean },
): ReadonlySet<string> | undefined {
  const known = value !== undefined ? [value] : Array.isArray(values) ? values : undefined
  if (known !== undefined) return new Set(known.map(typeOfValue))
  if (typeof type === 'string' || Array.isArray(type))
    return new Set([type].flat().map((each) => (each === 'integer' ? 'number' : String(each))))
  return isObject ? new Set(['object']) : isArray ? new Set(['array']) : undefined
}

function typeOfValue(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

/** Returns what two parts of a schema state of one value. */
function both(a: SchemaMembers, b: SchemaMembers): SchemaMembers {
  const members = new Map(a.members)
  for (const [name, { schema, isRequired }] of b.members) {
    const known = members.get(name)
    members.set(name, {
      schema: known === undefined ? schema : joined('allOf', known.schema, schema),
      isRequired: isRequired || known?.isRequired === true,
    })
  }
  return {
    types: typesOfBoth(a.types, b.types),
    members,
    others: distinct([...a.others, ...b.others]),
    elements: distinct([...a.elements, ...b.elements]),
    references: new Set([...a.references, ...b.references]),
  }
}

/** Returns what alternatives state of one value. A member that not all objects have is optional. */
function oneOf(all: readonly SchemaMembers[]): SchemaMembers {
  const objects = all.filter(({ types, members }) =>
    types === undefined ? members.size > 0 : types.has('object'),
  )
  const members = new Map<string, SchemaMember>()
  for (const each of objects)
    for (const [name, { schema }] of each.members) {
      const known = members.get(name)?.schema
      members.set(name, {
        schema: known === undefined ? schema : joined('anyOf', known, schema),
        isRequired: objects.every((other) => other.members.get(name)?.isRequired === true),
      })
    }
  return {
    types: eitherType(all.map(({ types }) => types)),
    members,
    others: distinct(all.flatMap(({ others }) => others)),
    elements: distinct(all.flatMap(({ elements }) => elements)),
    references: new Set(all.flatMap(({ references }) => [...references])),
  }
}

function typesOfBoth(a: Types, b: Types): Types {
  if (a === undefined || b === undefined) return a ?? b
  return new Set([...a].filter((type) => b.has(type)))
}

function eitherType(all: readonly Types[]): Types {
  const isAny = all.includes(undefined)
  return isAny ? undefined : new Set(all.flatMap((types) => [...(types ?? [])]))
}

// Schemas that refer to the same ones at each level would otherwise have twice as many at each.
function distinct(schemas: readonly JsonSchema[]): readonly JsonSchema[] {
  return [...new Set(schemas)]
}

function isCondition(schema: JsonSchema): schema is JsonObject {
  return typeof schema === 'object' && ('then' in schema || 'else' in schema)
}

function joined(key: 'allOf' | 'anyOf', a: JsonSchema, b: JsonSchema): JsonSchema {
  if (a === b) return a
  if (a === true || b === true) return key === 'allOf' ? (a === true ? b : a) : true
  const object = {}
  setMember(object, key, [a, b])
  return object
}

/** Returns a value that is a schema. Any other value states nothing. */
export function schemaOf(value: unknown): JsonSchema {
  const isSchema = typeof value === 'boolean' || (typeof value === 'object' && value !== null)
  return isSchema && !Array.isArray(value) ? (value as JsonSchema) : true
}

function schemasOf(value: unknown): readonly JsonSchema[] {
  return Array.isArray(value) ? value.map(schemaOf) : []
}

function decoded(pointer: string): string {
  try {
    return decodeURIComponent(pointer)
  } catch {
    return pointer
  }
}
