import type { Condition, StorageQuery } from '../adapter.ts'
import { usesSearchIndex } from '../../schema/search-index.ts'
import { fieldOf } from './conditions.ts'
import { boundFields } from './order-keys.ts'
import { hasOrderOf } from './page-order.ts'
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
  const columnNamed = (field: string): string => columnOf(found, fieldOf(collection, field)).name
  const bound = boundFields(conditions)
  const fixed = new Set([...bound].map(columnNamed))
  const isFixed = ({ name }: { readonly name: string | null }): boolean => fixed.has(name ?? '')
  const { indexes } = found
  if (indexes.some(({ unique, columns }) => unique && columns.every(isFixed))) return false
  const fields = fieldsOf(conditions)
  if (fields === undefined) return true
  // An index finds the values of a column after others that have one value each.
  const isFound = (column: string): boolean =>
    indexes.some(({ columns }) => {
      const at = columns.findIndex(({ name }) => name === column)
      return at >= 0 && columns.slice(0, at).every(isFixed)
    })
  const chosen = [...new Set(fields.map(columnNamed))].filter(isFound)
  if (chosen.length === 0) return false
  const first = sort.find(({ field }) => !bound.has(field))
  if (count || first === undefined) return true
  const order = placedColumn(place, fieldOf(collection, first.field))
  // An index that has the rows of all these conditions in their order is best for any values.
  return !indexes.some(({ columns }) => {
    const at = columns.findIndex((column) => !isFixed(column))
    const next = columns[at]
    if (next === undefined || !hasOrderOf(next, order)) return false
    return chosen.every((column) => columns.slice(0, at + 1).some(({ name }) => name === column))
  })
}

/** Returns the fields of conditions. Undefined: they are about rows of other collections, too. */
function fieldsOf(conditions: readonly Condition[]): readonly string[] | undefined {
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
