import type { Condition, StorageQuery } from '../adapter.ts'
import { usesSearchIndex } from '../../schema/search-index.ts'
import { fieldOf } from './conditions.ts'
import { boundFields } from './order-keys.ts'
import { hasOrderOf, indexEnds, type IndexEnd } from './page-order.ts'
import { columnOf, placedColumn, type TablePlace } from './table-conditions.ts'

/**
 * Returns whether the best plan of a page depends on the values of its conditions and its search. If an index finds the rows
 * of a value, but not in their order, it is best for a rare value, and worst for a frequent one: a plan for any values
 * could read the whole table for a page.
 */
export function dependsOnValues(place: TablePlace, query: StorageQuery): boolean {
  const { found, collection, dialect } = place
  const { conditions, sort, search, count } = query
  if (search !== null && usesSearchIndex(dialect, collection, search.text)) return true
  const bound = boundFields(conditions)
  const ends = indexEnds(place, bound)
  // At most one row meets the conditions.
  if (ends.some(({ index, first }) => index.unique && first === undefined)) return false
  const fields = fieldsOf(conditions)
  if (fields === undefined) return true
  const finds = ({ fixed, first }: IndexEnd, column: string): boolean =>
    first?.name === column || fixed.some(({ name }) => name === column)
  const chosen = fields
    .map((field) => columnOf(found, fieldOf(collection, field)).name)
    .filter((column) => ends.some((end) => finds(end, column)))
  if (chosen.length === 0) return false
  const next = sort.find(({ field }) => !bound.has(field))
  if (count || next === undefined) return true
  const order = placedColumn(place, fieldOf(collection, next.field))
  // An index that has the rows of all these conditions in their order is best for any values.
  return !ends.some(
    (end) => hasOrderOf(end.first, order) && chosen.every((column) => finds(end, column)),
  )
}

/** Returns the fields of conditions. Undefined: they are about rows of other collections, too. */
export function fieldsOf(conditions: readonly Condition[]): readonly string[] | undefined {
  const fields: string[] = []
  for (const condition of conditions) {
    if (condition.is === 'through') return undefined
    const inner =
      condition.is === 'and' || condition.is === 'or'
        ? fieldsOf(condition.conditions)
        : condition.is === 'not'
          ? fieldsOf([condition.condition])
          : [condition.field]
    if (inner === undefined) return undefined
    fields.push(...inner)
  }
  return fields
}
