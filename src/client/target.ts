import { describe, isOdd, requirePlainObject } from '../checks/plain-object.ts'

/** The parameters of a page, by their names on the wire without the `$`. */
export type PageParameters = Readonly<Record<string, string | number | boolean | undefined>>

/** Returns the target of a collection. */
export function collectionTarget(application: string, collection: string): string {
  return `/${encodeURIComponent(application)}/${encodeURIComponent(collection)}`
}

/** Returns the path segment of a key: its value, or its parts separated by commas. */
export function keySegment(key: unknown): string {
  const parts: readonly unknown[] = Array.isArray(key) ? key : [key]
  return `/${parts.map((part) => encodeURIComponent(wireText('The key', part))).join(',')}`
}

/** Returns a query with conditions of equality, with its `?`. Throws a TypeError for other conditions. */
export function pageQuery(conditions: object, parameters: PageParameters): string {
  requirePlainObject('The conditions', conditions, 'the client')
  const pairs: (readonly [string, string])[] = []
  for (const [name, value] of Object.entries(conditions))
    pairs.push([name, value === null ? '' : wireText(`The condition on ${name}`, value)])
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) pairs.push([`$${name}`, String(value)])
  return `?${pairs
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&')}`
}

// Leaving out an undefined value would select more items.
function wireText(what: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'boolean') return String(value)
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  const found = isOdd(value) ? `, not ${describe(value)}` : '.'
  throw new TypeError(`${what} must be a string, a finite number or a boolean${found}`)
}
