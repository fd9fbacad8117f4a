import type { Mistake } from '../../checks/mistakes.ts'
import { escapeKey, unescapeKey, valueBelow } from '../json-path.ts'

/** An object of a document. */
export type DocumentObject = Readonly<Record<string, unknown>>

/** The error of a document that can't be imported. Its message lists every mistake, with its place. */
export class OpenApiError extends Error {
  override readonly name = 'OpenApiError'
  readonly mistakes: readonly Mistake[]

  constructor(mistakes: readonly Mistake[]) {
    const lines = mistakes.map(({ place, advice }) => `  - ${place}: ${advice}`)
    super(`The document can not be imported:\n${lines.join('\n')}`)
    this.mistakes = mistakes
  }
}

const maxNodes = 1_000_000
const maxReferences = 32
const maxCountedDepth = 1000

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
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Returns the mistakes of the references in a document: those of other documents are rejected. */
export function referenceMistakes(document: unknown): readonly Mistake[] {
  const mistakes: Mistake[] = []
  // Objects of a YAML document may be shared: each is visited once.
  const seen = new Set<unknown>()
  const open: (readonly [place: string, value: unknown])[] = [['#', document]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [place, value] = next
    if (typeof value !== 'object' || value === null || seen.has(value)) continue
    seen.add(value)
    if (seen.size > maxNodes) return [{ place: '#', advice: 'the document is too large' }]
    for (const [key, inner] of Object.entries(value)) {
      const at = `${place}/${escapeKey(key)}`
      if (key === '$ref' && typeof inner === 'string' && !isInside(place)) {
        const advice = referenceAdvice(document, inner)
        if (advice !== undefined) mistakes.push({ place: at, advice })
      }
      open.push([at, inner])
    }
  }
  return mistakes
}

/** Resolves an object that may be a reference, also one that leads to another. */
export function resolved(document: DocumentObject, value: unknown): DocumentObject {
  let at = objectOf(value)
  for (let count = 0; count < maxReferences; count++) {
    const reference = textOf(at['$ref'])
    if (reference === undefined) return at
    at = objectOf(targetOf(document, reference))
  }
  return {}
}

/** Returns what a reference such as `#/components/schemas/Order` points to; undefined if it does not exist. */
export function targetOf(document: unknown, reference: string): unknown {
  if (reference === '#') return document
  if (!reference.startsWith('#/')) return undefined
  return valueBelow(document, reference.slice(2).split('/').map(keyOf))
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
    if (depth > maxCountedDepth) return Infinity
    sizes.set(value, 1)
    const reference = textOf((value as DocumentObject)['$ref'])
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

// A property of a schema or an example may have the name $ref.
function isInside(place: string): boolean {
  return /\/(?:properties|example|examples\/[^/]+\/value|default|const|enum\/\d+)$/.test(place)
}

function referenceAdvice(document: unknown, reference: string): string | undefined {
  if (!reference.startsWith('#'))
    return 'refers to another document: bundle the documents first, for instance with a bundler of OpenAPI'
  return targetOf(document, reference) === undefined ? 'refers to nothing' : undefined
}
