import { escapeKey } from '../json-path.ts'
import { isJsonNumber } from '../../protocol/json-number.ts'
import type { Json } from '../../protocol/json.ts'
import type { Cell } from './table.ts'
import { TablesError } from './tables-error.ts'

/** An object of a response. */
export type JsonObject = Readonly<Record<string, Json>>

/** Throws a {@link TablesError} if the arrays of an object have different lengths. */
export function requireEqualLengths(path: string, members: JsonObject): void {
  const arrays = Object.entries(members).filter(([, value]) => Array.isArray(value))
  const lengths = arrays.map(([key, value]) => [key, (value as readonly Json[]).length] as const)
  const other = lengths.find(([, length]) => length !== lengths[0]?.[1])
  const [first] = lengths
  if (first === undefined || other === undefined) return
  const places = [first, other].map(([key, length]) => `${path}/${escapeKey(key)} has ${length}`)
  const message = `The arrays of ${path} have different lengths: ${places.join(', ')}.`
  throw new TablesError('UNEQUAL_LENGTHS', message, path)
}

/** Returns whether an object has no members. */
export function isEmpty(members: JsonObject): boolean {
  for (const _ in members) return false
  return true
}

/** Returns whether a value is a cell of JSON. */
export function isCell(value: unknown): value is Cell {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value)
    default:
      return value === null || isJsonNumber(value)
  }
}
