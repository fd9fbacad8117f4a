import type { LargeNumbers } from '../connection/json-text.ts'
import { setMember } from '../json-path.ts'
import { aliasCycles, schemaNameOf, type AliasCycles } from './alias-cycles.ts'
import {
  listOf,
  objectOf,
  OpenApiError,
  resolved,
  stringOf,
  targetOf,
  typesOf,
  type DocumentObject,
  type Work,
} from './document.ts'
import { pascalCase, uniqueNames } from './typescript-text.ts'

type JsonSchema = Readonly<Record<string, unknown>> | boolean

/** The named schema that a schema is, or is a part or an alternative of. */
interface Alias {
  readonly name: string
  readonly isAlternative: boolean
  /** For the base of a schema, without its alternatives: the schemas that are in it so far. */
  readonly base?: Set<string> | undefined
}

const maxDepth = 64
const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])
const schemas = ['items', 'additionalProperties', 'contains', 'propertyNames'] as const
// Conditions, in which a keyword that is left out would reject values.
const conditions = ['not', 'if', 'then', 'else'] as const
const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const
const counts = [
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minContains',
] as const
const exactKeys = new Set<string>([
  ...['title', 'description', 'type', 'const', 'enum', 'required', 'pattern', 'uniqueItems'],
  ...['properties', 'items', 'additionalProperties', 'allOf', 'anyOf', ...bounds, ...counts],
])

/**
 * Makes JSON Schemas (2020-12) of the schemas of a document, for checking responses. Each schema that is referred to
 * becomes one definition, so that recursive schemas are recursive definitions. Of several alternatives (`oneOf`), more
 * than one may match, as many documents describe them; a discriminator decides between them. Formats are not checked.
 */
export class ResponseSchemas {
  readonly #document: DocumentObject
  readonly #work: Work
  readonly #largeNumbers: LargeNumbers | undefined
  readonly #named: DocumentObject
  readonly #cycles: AliasCycles
  readonly #unique = uniqueNames()
  readonly #names = new Map<string, string>()
  readonly #definitions: Record<string, JsonSchema> = {}

  constructor(
    document: DocumentObject,
    {
      work,
      largeNumbers,
    }: { readonly work: Work; readonly largeNumbers?: LargeNumbers | undefined },
  ) {
    this.#document = document
    this.#work = work
    this.#largeNumbers = largeNumbers
    this.#named = objectOf(objectOf(document['components'])['schemas'])
    this.#cycles = aliasCycles(this.#named, work)
  }

  /** Returns the JSON Schema of a schema. */
  schemaOf(schema: unknown): JsonSchema {
    return this.#convert(schema, 0)
  }

  /** Returns the definitions that the schemas so far refer to. */
  get definitions(): Readonly<Record<string, JsonSchema>> {
    return this.#definitions
  }

  #convert(schema: unknown, depth: number, alias?: Alias): JsonSchema {
    this.#work.steps(1)
    if (typeof schema === 'boolean') return schema
    if (depth > maxDepth)
      throw new OpenApiError([
        { place: '#', advice: 'a schema is nested too deeply to be checked' },
      ])
    const parts = objectOf(schema)
    const all = [
      this.#plain(parts, depth),
      ...this.#referred(stringOf(parts['$ref']), depth, alias),
      ...listOf(parts['allOf']).map((each) =>
        this.#convert(each, depth + 1, alias && { ...alias, isAlternative: false }),
      ),
      ...this.#alternatives(parts, 'oneOf', depth, alias),
      ...this.#alternatives(parts, 'anyOf', depth, alias),
    ].filter((each) => each === false || Object.keys(objectOf(each)).length > 0)
    const [first = {}] = all
    const joined = all.length > 1 ? { allOf: all } : first
    return parts['nullable'] === true ? { anyOf: [joined, { type: 'null' }] } : joined
  }

  #referred(reference: string | undefined, depth: number, alias?: Alias): readonly JsonSchema[] {
    if (reference === undefined) return []
    const name = schemaNameOf(reference)
    const isCyclic =
      name !== undefined &&
      alias !== undefined &&
      !alias.isAlternative &&
      this.#cycles.areInCycle(alias.name, name)
    if (!isCyclic) return [this.#definition(reference, name)]
    // A part that leads back to the schema: without the alternatives, of which the schema itself is one.
    const base = alias.base ?? new Set([alias.name])
    if (base.has(name)) return []
    base.add(name)
    return [this.#convert(this.#named[name], depth + 1, { name, isAlternative: false, base })]
  }

  #definition(reference: string, name: string | undefined): JsonSchema {
    let key = this.#names.get(reference)
    if (key === undefined) {
      key = this.#unique(pascalCase(name ?? reference))
      this.#names.set(reference, key)
      // Before the schema, which may refer to itself.
      this.#definitions[key] = true
      const alias = name === undefined ? undefined : { name, isAlternative: false }
      this.#definitions[key] = this.#convert(targetOf(this.#document, reference), 0, alias)
    }
    return { $ref: `rowgate:definitions#/$defs/${key}` }
  }

  #alternatives(
    parts: DocumentObject,
    key: 'oneOf' | 'anyOf',
    depth: number,
    alias?: Alias,
  ): readonly JsonSchema[] {
    const list = listOf(parts[key])
    if (list.length === 0) return []
    const isOfBase = alias?.base !== undefined
    if (isOfBase && list.some((each) => this.#cycles.leadsInto(each, alias.name))) return []
    const own = alias && { ...alias, isAlternative: true }
    const converted = list.map((each) => this.#convert(each, depth + 1, own))
    return [
      discriminated(objectOf(parts['discriminator']), list, converted) ?? { anyOf: converted },
    ]
  }

  /** Returns the keywords of one schema. */
  #plain(parts: DocumentObject, depth: number): JsonSchema {
    const plain: Record<string, unknown> = {}
    this.#addType(plain, parts)
    if ('const' in parts) plain['const'] = parts['const']
    if (typeof parts['uniqueItems'] === 'boolean') plain['uniqueItems'] = parts['uniqueItems']
    const values = listOf(parts['enum'])
    if (values.length > 0) plain['enum'] = [...new Set(values)]
    // A compiler rejects other values, and with them every response.
    for (const key of bounds) if (Number.isFinite(parts[key])) plain[key] = parts[key]
    for (const key of counts)
      if (Number.isInteger(parts[key]) && Number(parts[key]) >= 0) plain[key] = parts[key]
    const { multipleOf } = parts
    if (Number.isFinite(multipleOf) && Number(multipleOf) > 0) plain['multipleOf'] = multipleOf
    for (const bound of ['minimum', 'maximum']) addExclusive(plain, parts, bound)
    const pattern = stringOf(parts['pattern'])
    if (pattern !== undefined && isPattern(pattern)) plain['pattern'] = pattern
    const tested = [parts['not'], parts['if']].filter((each) => each !== undefined)
    const isExact = tested.every((each) => this.#isExact(each, depth))
    for (const key of [...schemas, ...(isExact ? conditions : [])])
      if (key in parts) plain[key] = this.#convert(parts[key], depth + 1)
    const first = listOf(parts['prefixItems'])
    if (first.length > 0) plain['prefixItems'] = first.map((each) => this.#convert(each, depth + 1))
    this.#addProperties(plain, parts, depth)
    return plain
  }

  /** Returns whether a schema is converted without leaving out a keyword. */
  #isExact(schema: unknown, depth: number): boolean {
    this.#work.steps(1)
    const parts = objectOf(schema)
    const inner = [
      ...['items', 'additionalProperties'].flatMap((key) => parts[key] ?? []),
      ...[...listOf(parts['allOf']), ...listOf(parts['anyOf'])],
      ...Object.values(objectOf(parts['properties'])),
    ]
    return (
      depth <= maxDepth &&
      Object.keys(parts).every((key) => exactKeys.has(key)) &&
      (parts['pattern'] === undefined || isPattern(String(parts['pattern']))) &&
      inner.every((each) => this.#isExact(each, depth + 1))
    )
  }

  #addType(plain: Record<string, unknown>, parts: DocumentObject): void {
    const stated = typesOf(parts).filter((type) => types.has(type))
    if (stated.length === 0 || stated.length < typesOf(parts).length) return
    const isLong = /^u?int64$/.test(stringOf(parts['format']) ?? '')
    const isText = isLong && this.#largeNumbers === 'string'
    const all = [...new Set([...stated, ...(isText ? ['string'] : [])])]
    plain['type'] = all.length === 1 ? all[0] : all
  }

  #addProperties(plain: Record<string, unknown>, parts: DocumentObject, depth: number): void {
    const properties = Object.entries(objectOf(parts['properties']))
    if (properties.length > 0) {
      const converted = {}
      for (const [name, schema] of properties)
        setMember(converted, name, this.#convert(schema, depth + 1))
      plain['properties'] = converted
    }
    const patterns = Object.entries(objectOf(parts['patternProperties']))
    if (patterns.every(([pattern]) => isPattern(pattern))) {
      const converted = {}
      for (const [pattern, schema] of patterns)
        setMember(converted, pattern, this.#convert(schema, depth + 1))
      if (patterns.length > 0) plain['patternProperties'] = converted
    } else delete plain['additionalProperties']
    // A response does not have what is only written.
    const written = properties.filter(([, schema]) =>
      [schema, resolved(this.#document, schema)].some(
        (each) => objectOf(each)['writeOnly'] === true,
      ),
    )
    const absent = new Set(written.map(([name]) => name))
    const required = new Set(listOf(parts['required']).filter((name) => typeof name === 'string'))
    const present = [...required].filter((name) => !absent.has(name))
    if (present.length > 0) plain['required'] = present
  }
}

/** Returns the schema of alternatives between which the value of a property decides; undefined if it does not. */
function discriminated(
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
    type: 'object',
    ...withTags(all),
    allOf: converted.map((then, index) => ({ if: withTags(tags[index] ?? []), then })),
  }
}

function singleMember(name: string, value: unknown): object {
  const object = {}
  setMember(object, name, value)
  return object
}

/** Adds a bound of OpenAPI 3.0, where a flag states that it is exclusive. */
function addExclusive(plain: Record<string, unknown>, parts: DocumentObject, bound: string): void {
  const key = `exclusive${pascalCase(bound)}`
  if (parts[key] !== true || typeof parts[bound] !== 'number') return
  plain[key] = parts[bound]
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- One of two names.
  delete plain[bound]
}

// Documents have patterns of other languages.
function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source !== ''
  } catch {
    return false
  }
}
