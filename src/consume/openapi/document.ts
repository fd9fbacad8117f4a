import type { Mistake } from '../../checks/mistakes.ts'
import { unescapeKey, valueBelow } from '../json-path.ts'

/** An object of a document. */
export type DocumentObject = Readonly<Record<string, unknown>>

/** The error of a document that can't be imported. Its message lists every mistake, with its place. */
export class OpenApiError extends Error {
  override readonly name = 'OpenApiError'
  readonly mistakes: readonly Mistake[]

  constructor(mistakes: readonly Mistake[]) {
    const lines = mistakes.map(({ place, advice }) => `  - ${place}: ${advice}`)
    super(`The document cannot be imported:\n${lines.join('\n')}`)
    this.mistakes = mistakes
  }
}

const maxNodes = 1_000_000
const maxReferences = 32
/** The maximum nesting of a document. */
export const maxLevels = 1000
const maxReferenceLength = 2000

/** Counts the work that a document causes. */
export interface Work {
  /** Adds steps, such as schemas or values that are read. Throws an OpenApiError beyond the limit. */
  steps(count: number): void
  /** Adds characters that are written. Throws an OpenApiError beyond the limit. */
  characters(count: number): void
}

/**
 * Returns a counter for one import. A small document may have references whose product is huge, and no other bound
 * would end the import of it.
 */
export function createWork(maxSteps = 2_000_000, maxCharacters = 50_000_000): Work {
  let [steps, characters] = [0, 0]
  return {
    steps(count) {
      steps += count
      if (steps > maxSteps)
        throw tooLarge(`its references lead to more than ${maxSteps} schemas and values`)
    },
    characters(count) {
      characters += count
      if (characters > maxCharacters)
        throw tooLarge(`its types have more than ${maxCharacters} characters`)
    },
  }
}

function tooLarge(reason: string): OpenApiError {
  return new OpenApiError([{ place: '#', advice: `the document is too large: ${reason}` }])
}

/** Returns the members of a value; none if it is not an object. */
export function objectOf(value: unknown): DocumentObject {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as DocumentObject) : {}
}

/** Returns the elements of a value; none if it is not an array. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns a string; undefined if the value is not one. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Returns the types that a schema states; none if it has no `type`. */
export function typesOf({ type }: DocumentObject): readonly string[] {
  return typeof type === 'string' ? [type] : listOf(type).map(String)
}

/**
 * Returns whether a schema accepts null beside what its other keywords describe: by the flag of OpenAPI 3.0, or by a type
 * beside values or alternatives that do not have null.
 */
export function isNullable(schema: DocumentObject): boolean {
  // OpenAPI 3.0 requires the flag and null among the values of an enumeration.
  if (schema['nullable'] === true) return true
  if (listOf(schema['enum']).includes(null)) return false
  const isComposed = ['$ref', 'enum', 'const', 'allOf', 'oneOf', 'anyOf'].some(
    (key) => key in schema,
  )
  return isComposed && Array.isArray(schema['type']) && schema['type'].includes('null')
}

/** Returns the types that a schema states, or that its keywords imply if it has no `type`. */
export function impliedTypesOf(schema: DocumentObject): readonly string[] {
  const types = typesOf(schema)
  if (types.length > 0 || Array.isArray(schema['type'])) return types
  const isObject = ['properties', 'additionalProperties', 'required'].some((key) => key in schema)
  return isObject ? ['object'] : 'items' in schema || 'prefixItems' in schema ? ['array'] : []
}

/** Returns what makes a document too large to be read; undefined if nothing does. */
export function sizeMistake(document: unknown): Mistake | undefined {
  // Objects of a YAML document may be shared: each is visited once.
  const seen = new Set<unknown>()
  const open: (readonly [value: unknown, depth: number])[] = [[document, 0]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, depth] = next
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    if (seen.size > maxNodes)
      return { place: '#', advice: `the document has more than ${maxNodes} objects` }
    if (depth > maxLevels)
      return { place: '#', advice: `the document has more than ${maxLevels} levels` }
    for (const inner of Object.values(value)) open.push([inner, depth + 1])
  }
  return undefined
}

/** Resolves an object that may be a reference, also one that leads to another. */
export function resolved(document: DocumentObject, value: unknown): DocumentObject {
  let at = objectOf(value)
  for (let count = 0; count < maxReferences; count++) {
    const reference = stringOf(at['$ref'])
    if (reference === undefined) return at
    at = objectOf(targetOf(document, reference))
  }
  return {}
}

/** Returns what a reference such as `#/components/schemas/Order` points to; undefined if it does not exist. */
export function targetOf(document: unknown, reference: string): unknown {
  if (reference === '#') return document
  if (!reference.startsWith('#/')) return undefined
  return valueBelow(document, keysOfPlace(reference))
}

/** Returns the keys that lead to a place such as `#/paths/~1orders`. */
export function keysOfPlace(place: string): readonly string[] {
  return place.split('/').slice(1).map(keyOf)
}

/**
 * Returns the number of objects in a document whose references are replaced by their targets; infinity if
 * it is larger than a limit, or nested too deeply to be counted. A recursive reference counts once.
 */
export function expandedSize(document: DocumentObject, limit: number): number {
  const sizes = new Map<object, number>()
  const sizeOf = (value: unknown, depth: number): number => {
    if (typeof value !== 'object' || value === null) return 0
    const known = sizes.get(value)
    if (known !== undefined) return known
    if (depth > maxLevels) return Infinity
    sizes.set(value, 1)
    const reference = stringOf((value as DocumentObject)['$ref'])
    let size = reference === undefined ? 1 : 1 + sizeOf(targetOf(document, reference), depth + 1)
    for (const inner of Object.values(value)) {
      size += sizeOf(inner, depth + 1)
      if (size > limit) size = Infinity
    }
    sizes.set(value, size)
    return size
  }
  return sizeOf(document, 0)
}

function keyOf(segment: string): string {
  try {
    return unescapeKey(decodeURIComponent(segment))
  } catch {
    // A percent sign that is not an escape.
    return unescapeKey(segment)
  }
}

/** Returns what is wrong with a reference, such as one to another document; undefined if it is valid. */
export function referenceAdvice(document: unknown, reference: string): string | undefined {
  if (!reference.startsWith('#'))
    return 'refers to another document: bundle the documents first, for instance with a bundler of OpenAPI'
  if (reference.length > maxReferenceLength) return `has more than ${maxReferenceLength} characters`
  const target = targetOf(document, reference)
  if (target === undefined) return 'refers to nothing'
  const isSchema = typeof target === 'object' || typeof target === 'boolean'
  return isSchema && target !== null ? undefined : 'refers to a value that is not an object'
}
