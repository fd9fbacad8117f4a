import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { equal, type Condition, type SortField } from './query.ts'

/** A field of a position, and its direction. */
export interface PositionField {
  readonly field: PublishedField
  readonly descending: boolean
}

/** Returns the first fields of an order that identify an item together: up to the last field of the key. */
export function positionFields(
  { key, byName }: PublishedCollection,
  sort: readonly SortField[],
): readonly PositionField[] {
  const missing = new Set(key.map(({ name }) => name))
  const fields: PositionField[] = []
  for (const { field: name, descending } of sort) {
    const field = byName.get(name)
    if (field === undefined || missing.size === 0) break
    missing.delete(name)
    fields.push({ field, descending })
  }
  return fields
}

/**
 * Returns the conditions of the rows after a position: one or two lists, each of which selects a range of the
 * order, one after the other. The first condition of a range bounds the first field, so that an index finds
 * where it starts. A range together with null is none, so rows without value have their own.
 */
export function rangesAfter(
  fields: readonly PositionField[],
  values: readonly StoredValue[],
): readonly (readonly Condition[])[] {
  const [{ field, descending }, ...further] = fields as readonly [PositionField, ...PositionField[]]
  const [value = null, ...rest] = values
  const { name, inKey } = field
  const ties = further.length === 0 ? [] : [afterIn(further, rest)]
  if (value === null) {
    const own = [equal(name, null), ...ties]
    return descending ? [own] : [own, [{ is: 'not', condition: equal(name, null) }]]
  }
  const beyond: Condition = { field: name, is: descending ? 'lt' : 'gt', value }
  const bound: Condition = { field: name, is: descending ? 'lte' : 'gte', value }
  const own = ties.length === 0 ? [beyond] : [bound, anyOf([beyond, ...ties])]
  return descending && !inKey ? [own, [equal(name, null)]] : [own]
}

/** Returns the condition of the rows after a position. Its last field is one of the key, and has a value. */
function afterIn(fields: readonly PositionField[], values: readonly StoredValue[]): Condition {
  const [{ field, descending }, ...further] = fields as readonly [PositionField, ...PositionField[]]
  const [value = null, ...rest] = values
  const { name, inKey } = field
  const after: Condition[] = []
  if (value !== null) {
    after.push({ field: name, is: descending ? 'lt' : 'gt', value })
    if (descending && !inKey) after.push(equal(name, null))
  } else if (!descending) after.push({ is: 'not', condition: equal(name, null) })
  if (further.length > 0) {
    after.push({ is: 'and', conditions: [equal(name, value), afterIn(further, rest)] })
  }
  return anyOf(after)
}

/** Returns the condition that at least one of several holds. */
export function anyOf(conditions: readonly Condition[]): Condition {
  const [only] = conditions
  return only !== undefined && conditions.length === 1 ? only : { is: 'or', conditions }
}
