import { listOf, objectOf, stringOf, type DocumentObject, type Work } from './document.ts'
import { pascalCase } from './typescript-text.ts'

/** The maximum nesting of a schema that is checked. */
export const maxDepth = 64
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

/** Returns the limits of a schema: its values, and bounds of numbers, texts, lists and objects. */
export function limitsOf(parts: DocumentObject): Readonly<Record<string, unknown>> {
  const plain: Record<string, unknown> = {}
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
  return plain
}

/** Returns whether a schema is converted without leaving out a keyword. */
export function isExact(schema: unknown, depth: number, work: Work): boolean {
  work.steps(1)
  const parts = objectOf(schema)
  const components = [...listOf(parts['allOf']), ...listOf(parts['anyOf'])]
  const inner = [
    ...['items', 'additionalProperties'].flatMap((key) => parts[key] ?? []),
    ...components,
    ...Object.values(objectOf(parts['properties'])),
  ]
  // The properties of the other components are allowed in each of them.
  const isTogether = [parts, ...components].some((each) => isOwnClosed(objectOf(each)))
  return (
    depth <= maxDepth &&
    (components.length === 0 || !isTogether) &&
    Object.keys(parts).every((key) => exactKeys.has(key)) &&
    (parts['pattern'] === undefined || isPattern(String(parts['pattern']))) &&
    inner.every((each) => isExact(each, depth + 1, work))
  )
}

/** Returns whether the own keywords of a schema restrict the properties that it does not describe. */
export function isOwnClosed({ additionalProperties: others }: DocumentObject): boolean {
  return others === false || Object.keys(objectOf(others)).length > 0
}

/** Adds a bound of OpenAPI 3.0, where a flag states that it is exclusive. */
function addExclusive(plain: Record<string, unknown>, parts: DocumentObject, bound: string): void {
  const key = `exclusive${pascalCase(bound)}`
  if (parts[key] !== true || typeof parts[bound] !== 'number') return
  plain[key] = parts[bound]
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- One of two names.
  delete plain[bound]
}

/** Returns whether a pattern can be checked: documents have patterns of other languages. */
export function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').source !== ''
  } catch {
    return false
  }
}
