import type { LargeNumbers } from '../connection/json-text.ts'
import { setMember } from '../json-path.ts'
import type { JsonSchema } from '../tables/schema-members.ts'
import { aliasCycles, schemaNameOf, type AliasCycles } from './alias-cycles.ts'
import {
  isNullable,
  listOf,
  objectOf,
  OpenApiError,
  stringOf,
  targetOf,
  typesOf,
  type DocumentObject,
  type Work,
} from './document.ts'
import { discriminated } from './discriminator.ts'
import { linesSchema, type FoundResponses } from './operation-bodies.ts'
import { isExact, isOwnClosed, isPattern, limitsOf, maxDepth } from './schema-keywords.ts'
import { joined, noneDescribed, wholes, type Component, type Wholes } from './schema-whole.ts'
import { SharedDefinitions, type ObjectContext } from './shared-definitions.ts'

/** What is known of the value that a schema describes, or is a part or an alternative of. */
interface Context extends ObjectContext {
  readonly alias?: Alias | undefined
}

/** The named schema that a schema is, or is a part or an alternative of. */
interface Alias {
  readonly name: string
  readonly isAlternative: boolean
  /** For the base of a schema, without its alternatives: the schemas that are in it so far. */
  readonly base?: Set<string> | undefined
}

// The numbers that are read as strings, because no double holds them.
const largeNumber = {
  type: 'string',
  pattern: '^-?(?:[1-9]\\d{15,}(?:\\.\\d+)?|\\d+(?:\\.\\d+)?[eE]\\+?\\d{3,})$',
}
const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])
const schemas = ['items', 'additionalProperties', 'contains', 'propertyNames'] as const
// Conditions, in which a keyword that is left out would reject values.
const conditions = ['not', 'if', 'then', 'else'] as const
/**
 * Makes JSON Schemas (2020-12) of the schemas of a document, for checking responses. Each schema that is referred to
 * becomes one definition, so that recursive schemas are recursive definitions. Of several alternatives (`oneOf`), more
 * than one may match, as many documents describe them; a discriminator decides between them. Formats are not checked.
 */
export class ResponseSchemas {
  readonly #work: Work
  readonly #largeNumbers: LargeNumbers | undefined
  readonly #named: DocumentObject
  readonly #cycles: AliasCycles
  readonly #wholes: Wholes
  readonly #definitions: SharedDefinitions

  constructor(
    document: DocumentObject,
    {
      work,
      largeNumbers,
    }: { readonly work: Work; readonly largeNumbers?: LargeNumbers | undefined },
  ) {
    this.#work = work
    this.#largeNumbers = largeNumbers
    this.#named = objectOf(objectOf(document['components'])['schemas'])
    this.#cycles = aliasCycles(this.#named, work)
    this.#wholes = wholes(document, work)
    this.#definitions = new SharedDefinitions(this.#wholes, work, (reference, context) => {
      const name = schemaNameOf(reference)
      if (name !== undefined) this.#cycles.requireMeaning(name)
      const alias = name === undefined ? undefined : { name, isAlternative: false }
      return this.#convert(targetOf(document, reference), 0, { ...context, alias })
    })
  }

  /** Returns the JSON Schema of a schema. */
  schemaOf(schema: unknown): JsonSchema {
    const converted = this.#convert(schema, 0)
    this.#definitions.convertAll()
    return converted
  }

  /** Returns the definitions that the schemas so far refer to. */
  get definitions(): Readonly<Record<string, JsonSchema>> {
    return this.#definitions.all
  }

  #convert(schema: unknown, depth: number, given: Context = {}): JsonSchema {
    this.#work.steps(1)
    if (typeof schema === 'boolean') return schema
    if (depth > maxDepth)
      throw new OpenApiError([
        { place: '#', advice: 'a schema is nested too deeply to be checked' },
      ])
    const parts = objectOf(schema)
    const around = this.#around(parts, given)
    const all = [
      this.#withLarge(this.#plain(parts, depth, around), typesOf(parts)),
      ...this.#referred(parts, depth, around),
      ...listOf(parts['allOf']).map((each) =>
        this.#convert(each, depth + 1, {
          ...this.#within(parts, each, around),
          alias: around.alias && { ...around.alias, isAlternative: false },
        }),
      ),
      ...this.#alternatives(parts, 'oneOf', depth, around),
      ...this.#alternatives(parts, 'anyOf', depth, around),
    ].filter((each) => each === false || Object.keys(objectOf(each)).length > 0)
    const [first = {}] = all
    const together = all.length > 1 ? { allOf: all } : first
    return isNullable(parts) ? { anyOf: [together, { type: 'null' }] } : together
  }

  /** Returns what is known of an object with a schema of it. A response does not have what is only written. */
  #around(schema: DocumentObject, around: Context): Context {
    const isReference = Object.keys(schema).length === 1 && '$ref' in schema
    if (isReference) return around
    const { written } = this.#wholes.of(schema)
    if (written.size === 0) return around
    const { absent = [] } = around
    const all = [...absent, ...written]
    this.#work.steps(all.length)
    return { ...around, absent: new Set(all) }
  }

  /** Returns what is known of an object in a component of its schema, which is not an alternative, or in its keywords. */
  #within(schema: DocumentObject, component: Component, around: Context): Context {
    const { elsewhere = noneDescribed } = around
    const isClosed =
      component === schema ? isOwnClosed(schema) : this.#wholes.of(component).isClosed
    const outside = isClosed ? this.#wholes.outside(schema, component) : noneDescribed
    return {
      ...around,
      elsewhere: isClosed ? joined([elsewhere, outside], this.#work) : noneDescribed,
    }
  }

  #referred(schema: DocumentObject, depth: number, given: Context): readonly JsonSchema[] {
    const reference = stringOf(schema['$ref'])
    if (reference === undefined) return []
    const { alias } = given
    const around = this.#within(schema, reference, given)
    const name = schemaNameOf(reference)
    const isCyclic =
      name !== undefined &&
      alias !== undefined &&
      !alias.isAlternative &&
      this.#cycles.areInCycle(alias.name, name)
    if (!isCyclic) return [this.#definitions.refer(reference, around)]
    // A part that leads back to the schema: without the alternatives, of which the schema itself is one.
    const base = alias.base ?? new Set([alias.name])
    if (base.has(name)) return []
    base.add(name)
    const next = { ...around, alias: { name, isAlternative: false, base } }
    return [this.#convert(this.#named[name], depth + 1, next)]
  }

  #alternatives(
    parts: DocumentObject,
    key: 'oneOf' | 'anyOf',
    depth: number,
    around: Context,
  ): readonly JsonSchema[] {
    const list = listOf(parts[key])
    if (list.length === 0) return []
    const { alias } = around
    const isOfBase = alias?.base !== undefined
    if (isOfBase && list.some((each) => this.#cycles.leadsInto(each, alias.name))) return []
    const own = {
      ...this.#within(parts, parts[key], around),
      alias: alias && { ...alias, isAlternative: true },
    }
    const converted = list.map((each) => this.#convert(each, depth + 1, own))
    return [
      discriminated(objectOf(parts['discriminator']), list, converted) ?? { anyOf: converted },
    ]
  }

  /** Returns the keywords of one schema. */
  #plain(parts: DocumentObject, depth: number, around: Context): JsonSchema {
    const plain: Record<string, unknown> = {}
    this.#addType(plain, parts)
    if ('const' in parts) plain['const'] = parts['const']
    if (typeof parts['uniqueItems'] === 'boolean') plain['uniqueItems'] = parts['uniqueItems']
    Object.assign(plain, limitsOf(parts))
    const tested = [parts['not'], parts['if']].filter((each) => each !== undefined)
    const canTest = tested.every((each) => isExact(each, depth, this.#work))
    for (const key of [...schemas, ...(canTest ? conditions : [])])
      if (key in parts) {
        // What a condition adds is a part of the object; the condition itself is not.
        const isPart = key === 'then' || key === 'else'
        const own = isPart ? this.#within(parts, parts[key], around) : {}
        plain[key] = this.#convert(parts[key], depth + 1, own)
      }
    const first = listOf(parts['prefixItems'])
    if (first.length > 0) plain['prefixItems'] = first.map((each) => this.#convert(each, depth + 1))
    this.#addProperties(plain, parts, { ...this.#within(parts, parts, around), depth })
    return plain
  }

  #withLarge(plain: JsonSchema, stated: readonly string[]): JsonSchema {
    const isNumber = stated.includes('integer') || stated.includes('number')
    if (this.#largeNumbers !== 'string' || !isNumber || stated.includes('string')) return plain
    return { if: largeNumber, else: plain }
  }

  #addType(plain: Record<string, unknown>, parts: DocumentObject): void {
    const stated = typesOf(parts).filter((type) => types.has(type))
    if (stated.length === 0 || stated.length < typesOf(parts).length) return
    const all = [...new Set(stated)]
    plain['type'] = all.length === 1 ? all[0] : all
  }

  #addProperties(
    plain: Record<string, unknown>,
    parts: DocumentObject,
    { depth, absent, elsewhere = noneDescribed }: Context & { readonly depth: number },
  ): void {
    this.#work.steps(
      elsewhere.names.size + elsewhere.patterns.size + listOf(parts['required']).length,
    )
    const properties: Record<string, JsonSchema> = {}
    for (const name of elsewhere.names) setMember(properties, name, true)
    for (const [name, schema] of Object.entries(objectOf(parts['properties'])))
      setMember(properties, name, this.#convert(schema, depth + 1))
    if (Object.keys(properties).length > 0) plain['properties'] = properties
    const patterns: Record<string, JsonSchema> = {}
    for (const pattern of elsewhere.patterns) setMember(patterns, pattern, true)
    for (const [pattern, schema] of Object.entries(objectOf(parts['patternProperties'])))
      if (isPattern(pattern)) setMember(patterns, pattern, this.#convert(schema, depth + 1))
      // It may allow any property.
      else setMember(patterns, '', true)
    if (Object.keys(patterns).length > 0) plain['patternProperties'] = patterns
    const required = new Set(listOf(parts['required']).filter((name) => typeof name === 'string'))
    const present = [...required].filter((name) => absent?.has(name) !== true)
    if (present.length > 0) plain['required'] = present
  }
}

/** Returns the JSON Schema of the responses of an operation. */
export function responseSchema(
  document: DocumentObject,
  { contents, as }: FoundResponses,
  schemas: ResponseSchemas,
): JsonSchema {
  if (as === 'text') return { type: 'string' }
  const all = contents.map((each) => {
    if (each === null) return { type: 'null' }
    return schemas.schemaOf(as === 'lines' ? linesSchema(document, each.schema) : each.schema)
  })
  const [only = true] = all
  return all.length === 1 ? only : all.length === 0 ? true : { anyOf: all }
}
