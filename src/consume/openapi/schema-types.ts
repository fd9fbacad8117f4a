import type { LargeNumbers } from '../connection/json-text.ts'
import { escapeKey } from '../json-path.ts'
import { aliasCycles, schemaNameOf, schemasPlace, type AliasCycles } from './alias-cycles.ts'
import {
  impliedTypesOf,
  isNullable,
  listOf,
  objectOf,
  OpenApiError,
  targetOf,
  stringOf,
  type DocumentObject,
  type Work,
} from './document.ts'
import { inside, within, type Alias, type Place } from './schema-place.ts'
import {
  arrayOf,
  atom,
  comment,
  indented,
  intersectionOf,
  literalType,
  pascalCase,
  propertyName,
  tupleOf,
  unionOf,
  uniqueNames,
  unknownType,
  type TypeText,
} from './typescript-text.ts'

/** The maximum nesting of a type, also through references that have no name. */
const maxDepth = 48
const maxInlineReferences = 8

/**
 * Writes the types of a document's schemas. Named schemas become named types, so that recursive schemas become recursive
 * types; a recursive reference that has no name ends as `unknown`.
 */
export class SchemaTypes {
  readonly #document: DocumentObject
  readonly #work: Work
  readonly #largeNumbers: LargeNumbers | undefined
  readonly #schemas: DocumentObject
  readonly #unique: (name: string) => string
  readonly #names: ReadonlyMap<string, string>
  // A schema is written after the one that names it: a long chain of them would exhaust the stack.
  readonly #used = new Set<string>()
  readonly #cycles: AliasCycles
  #usesJsonNumber = false
  #usesFilePart = false
  readonly #bases = new Map<string, { readonly name: string; readonly text: string }>()

  /** No type has a `reserved` name. */
  constructor(
    document: DocumentObject,
    reserved: readonly string[],
    {
      work,
      largeNumbers,
    }: { readonly work: Work; readonly largeNumbers?: LargeNumbers | undefined },
  ) {
    this.#largeNumbers = largeNumbers
    this.#document = document
    this.#work = work
    this.#schemas = objectOf(objectOf(document['components'])['schemas'])
    this.#unique = uniqueNames(reserved)
    this.#names = new Map(
      Object.keys(this.#schemas).map((key) => [key, this.#unique(pascalCase(key))]),
    )
    this.#cycles = aliasCycles(this.#schemas, work)
  }

  /** Whether a type that was written so far has JsonNumber in it. */
  get usesJsonNumber(): boolean {
    return this.#usesJsonNumber
  }

  /** Whether a type that was written so far has FilePart in it. */
  get usesFilePart(): boolean {
    return this.#usesFilePart
  }

  /** Returns the type of a schema. `pointer` is its place; `hasFiles` is whether binary values in it are files. */
  typeOf(schema: unknown, pointer: string, hasFiles = false): string {
    return this.#write(schema, { pointer, depth: 0, inlined: 0, hasFiles }).text
  }

  #named(key: string): TypeText {
    this.#used.add(key)
    this.#cycles.requireMeaning(key)
    return atom(this.#names.get(key) ?? 'unknown')
  }

  /** Returns the declarations of all named schemas that were used so far. */
  declarations(): readonly string[] {
    const written = new Map<string, string>()
    // The set grows while it is iterated.
    for (const key of this.#used) {
      const { text: type } = this.#write(
        this.#schemas[key],
        this.#placeOfNamed(key, { isAlternative: false }),
      )
      const text = comment(stringOf(objectOf(this.#schemas[key])['description']))
      written.set(key, `${text}export type ${this.#names.get(key) ?? 'unknown'} = ${type}\n`)
    }
    return Array.from(this.#names.keys()).flatMap((key) => {
      const base = this.#bases.get(key)
      const text = base && `export type ${base.name} = ${base.text}\n`
      return [text, written.get(key)].filter((each) => each !== undefined)
    })
  }

  #placeOfNamed(name: string, alias: Omit<Alias, 'name'>): Place {
    const pointer = schemasPlace + escapeKey(name)
    return { pointer, depth: 0, inlined: 0, alias: { ...alias, name } }
  }

  /**
   * The type of a schema without the alternatives of its cycle, for a schema that is one of them and has it as a part:
   * whatever is valid for that one is one of the alternatives.
   */
  #baseOf(key: string): TypeText {
    const known = this.#bases.get(key)
    if (known !== undefined) return atom(known.name)
    const type = this.#write(
      this.#schemas[key],
      this.#placeOfNamed(key, { isAlternative: false, base: new Set([key]) }),
    )
    if (type.text === unknownType.text) return unknownType
    const name = this.#unique(`${this.#names.get(key) ?? ''}Base`)
    this.#bases.set(key, { name, text: type.text })
    return atom(name)
  }

  #write(schema: unknown, place: Place): TypeText {
    this.#work.steps(1)
    const type = this.#unwritten(schema, place)
    this.#work.characters(type.text.length)
    return type
  }

  #unwritten(schema: unknown, place: Place): TypeText {
    if (place.depth > maxDepth)
      throw new OpenApiError([{ place: place.pointer, advice: 'the schema is nested too deeply' }])
    if (schema === false) return atom('never')
    const parts = objectOf(schema)
    const reference = stringOf(parts['$ref'])
    return unionOf([
      intersectionOf([
        ...(reference === undefined ? [] : [this.#referred(reference, place)]),
        ...this.#plain(parts, place),
        ...listOf(parts['allOf']).map((each, at) => this.#write(each, within(place, 'allOf', at))),
        ...this.#alternatives(parts, 'oneOf', place),
        ...this.#alternatives(parts, 'anyOf', place),
      ]),
      ...(isNullable(parts) ? [atom('null')] : []),
    ])
  }

  #referred(reference: string, place: Place): TypeText {
    const name = schemaNameOf(reference)
    // A named type has no files.
    if (name !== undefined && !place.hasFiles && Object.hasOwn(this.#schemas, name))
      return this.#cyclic(name, place) ?? this.#named(name)
    if (place.inlined >= maxInlineReferences) return unknownType
    const { depth, inlined, hasFiles } = place
    const next = { pointer: reference, depth: depth + 1, inlined: inlined + 1, hasFiles }
    return this.#write(targetOf(this.#document, reference), next)
  }

  /** The type of a schema that leads back to the one that it is a part of; undefined for others. */
  #cyclic(name: string, { alias, depth }: Place): TypeText | undefined {
    if (alias === undefined || alias.isAlternative || !this.#cycles.areInCycle(alias.name, name))
      return undefined
    // A part that is the schema itself adds nothing to it.
    if (name === alias.name) return unknownType
    const { base } = alias
    if (base === undefined) return this.#baseOf(name)
    if (base.has(name)) return unknownType
    base.add(name)
    return this.#write(this.#schemas[name], {
      ...this.#placeOfNamed(name, alias),
      depth: depth + 1,
    })
  }

  #alternatives(parts: DocumentObject, key: 'oneOf' | 'anyOf', place: Place): TypeText[] {
    const list = listOf(parts[key])
    if (list.length === 0) return []
    const { alias } = place
    if (alias?.base !== undefined && list.some((each) => this.#cycles.leadsInto(each, alias.name)))
      return []
    return [unionOf(list.map((each, at) => this.#write(each, within(place, key, at))))]
  }

  /** The type of the keywords of one schema; none if they don't restrict the type. */
  #plain(parts: DocumentObject, place: Place): TypeText[] {
    if (place.hasFiles && isBinary(parts)) {
      this.#usesFilePart = true
      return [atom('FilePart')]
    }
    if (Object.hasOwn(parts, 'const')) return [literalType(parts['const'])]
    const values = parts['enum']
    if (Array.isArray(values)) {
      this.#work.steps(values.length)
      return [unionOf(values.map(literalType))]
    }
    const types = impliedTypesOf(parts)
    return types.length === 0
      ? []
      : [unionOf(types.map((type) => this.#ofType(type, parts, place)))]
  }

  #ofType(type: string, parts: DocumentObject, place: Place): TypeText {
    switch (type) {
      case 'string':
      case 'boolean':
      case 'null':
        return atom(type)
      case 'number':
      case 'integer':
        return this.#numberType(parts)
      case 'array':
        return this.#arrayType(parts, place)
      case 'object':
        return this.#objectType(parts, place)
      default:
        return unknownType
    }
  }

  /** A number that may need more digits than a double has is also what such numbers are read as. */
  #numberType({ format }: DocumentObject): TypeText {
    const number = atom('number')
    if (format !== 'int64' && format !== 'uint64') return number
    if (this.#largeNumbers === 'string') return unionOf([number, atom('string')])
    if (this.#largeNumbers !== 'exact') return number
    this.#usesJsonNumber = true
    return unionOf([number, atom('JsonNumber')])
  }

  #arrayType(parts: DocumentObject, place: Place): TypeText {
    const items = parts['items']
    const first = listOf(parts['prefixItems']).map((each, at) =>
      this.#write(each, inside(place, 'prefixItems', at)),
    )
    const rest = items === false ? undefined : this.#write(items ?? {}, inside(place, 'items'))
    return first.length === 0 && rest !== undefined ? arrayOf(rest) : tupleOf(first, rest)
  }

  #objectType(parts: DocumentObject, place: Place): TypeText {
    const properties = Object.entries(objectOf(parts['properties']))
    const required = new Set(listOf(parts['required']).map(String))
    const lines: string[] = []
    const types: TypeText[] = []
    for (const [name, schema] of properties) {
      const type = this.#write(schema, inside(place, 'properties', name))
      types.push(type)
      const mark = required.delete(name) ? '' : '?'
      const text = comment(stringOf(objectOf(schema)['description']))
      lines.push(`${text}${propertyName(name)}${mark}: ${type.text}`)
    }
    for (const name of required) lines.push(`${propertyName(name)}: unknown`)
    const index = this.#indexType(parts, types, place)
    if (index !== undefined) lines.push(`[name: string]: ${index.text}`)
    if (lines.length === 0) return atom('{ [name: string]: unknown }')
    return atom(`{\n  ${lines.map(indented).join('\n  ')}\n}`)
  }

  #indexType(
    parts: DocumentObject,
    properties: readonly TypeText[],
    place: Place,
  ): TypeText | undefined {
    const additional = parts['additionalProperties']
    if (additional === undefined || typeof additional === 'boolean') {
      if (additional === false || properties.length > 0) return undefined
      return listOf(parts['required']).length > 0 ? undefined : unknownType
    }
    const type = this.#write(additional, inside(place, 'additionalProperties'))
    // All properties must have a type of the index signature; absent ones are undefined.
    return properties.length === 0 ? type : unionOf([type, ...properties, atom('undefined')])
  }
}

/** Returns whether a schema describes bytes: in OpenAPI 3.0 by its format, in 3.1 by its media type. */
function isBinary(parts: DocumentObject): boolean {
  if (parts['contentEncoding'] !== undefined) return false
  const hasMediaType = parts['contentMediaType'] !== undefined && parts['type'] === undefined
  return parts['format'] === 'binary' || hasMediaType
}
