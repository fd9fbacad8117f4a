import { describe, isOdd, isPlainObject, requirePlainObject } from '../checks/plain-object.ts'

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

/**
 * Returns a query with conditions, with its `?`. Throws a TypeError for values that a query can't have. Returns undefined
 * for a list without values, which no item can meet.
 */
export function pageQuery(conditions: object, parameters: PageParameters): string | undefined {
  requirePlainObject('The conditions', conditions, 'the client')
  const pairs: (readonly [string, string])[] = []
  const add = (name: string, value: unknown): unknown =>
    pairs.push([name, value === null ? '' : wireText(`The condition on ${name}`, value)])
  for (const [name, value] of Object.entries(conditions)) {
    const operators = isPlainObject(value) ? Object.entries(value) : []
    // An object without operators is not a value either.
    if (operators.length === 0) add(name, value)
    for (const [operator, operand] of operators) {
      const values: readonly unknown[] = Array.isArray(operand) ? operand : [operand]
      if (operator === 'in' && values.length === 0) return undefined
      // Only what compares by equality has an empty value for null.
      const isNullable = /^(ne|in|notIn)$/.test(operator)
      for (const one of values)
        add(`${name}.${operator}`, one === null && !isNullable ? undefined : one)
    }
  }
  // An empty list of names means the same as none.
  for (const [name, value] of Object.entries(parameters))
    if ((value ?? '') !== '') pairs.push([`$${name}`, String(value)])
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
