import type { Principal } from '../definition/principal.ts'
import type { PublishedOperator } from '../definition/published-operators.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { noRows, type Condition } from './query.ts'
import { hasRight, unlessForbidden } from './roles.ts'
import { rowsOf } from './rows.ts'
import { fieldsViewOf, type View } from './view.ts'

/** A parameter with an operator, as one caller may use it. */
export interface AskedOperator extends PublishedOperator {
  /** The referenced item whose field it is; absent for a field of the collection itself. */
  readonly through?: RelatedItem
}

interface RelatedItem {
  readonly collection: PublishedCollection
  /** The fields that hold its key. */
  readonly fields: readonly string[]
  /** Returns the conditions of the items that the caller may see. */
  readonly rows: () => readonly Condition[]
}

/**
 * Returns the parameters with an operator that a caller may use. A condition on referenced items needs the right to read
 * them, and the field. Without it the parameter is unknown, since another response would show that it exists.
 */
export function askedOperators(
  { listed }: View,
  caller: Principal,
): ReadonlyMap<string, AskedOperator> {
  const { operators, related, siblings } = listed
  if (related.size === 0) return operators
  const known = new Map<string, AskedOperator>(operators)
  for (const [parameter, { operator, isList, ...reference }] of related) {
    const collection = siblings.get(reference.collection)
    if (collection === undefined || !hasRight(collection, 'Filter', caller)) continue
    const field = fieldsViewOf(collection, caller).listed.byName.get(reference.name)
    if (field === undefined) continue
    const fields = reference.fields.map(({ name }) => name)
    const rows = () => unlessForbidden(() => rowsOf(collection, caller)) ?? noRows
    known.set(parameter, { field, operator, isList, through: { collection, fields, rows } })
  }
  return known
}
