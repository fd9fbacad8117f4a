import type { Principal } from '../definition/principal.ts'
import type { PublishedOperator } from '../definition/published-operators.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { isServiceError } from '../errors.ts'
import type { Condition } from './query.ts'
import { holdsOneOf } from './roles.ts'
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
    if (collection === undefined || !mayFilter(collection, caller)) continue
    const field = fieldsViewOf(collection, caller).listed.byName.get(reference.name)
    if (field === undefined) continue
    const fields = reference.fields.map(({ name }) => name)
    const rows = () => visibleRows(collection, caller)
    known.set(parameter, { field, operator, isList, through: { collection, fields, rows } })
  }
  return known
}

function mayFilter({ rolesFor }: PublishedCollection, caller: Principal): boolean {
  return caller.kind === 'system' || rolesFor.Filter.every((roles) => holdsOneOf(caller, roles))
}

const noRows: readonly Condition[] = [{ is: 'or', conditions: [] }]

function visibleRows(collection: PublishedCollection, caller: Principal): readonly Condition[] {
  try {
    return rowsOf(collection, caller)
  } catch (error) {
    if (isServiceError(error) && error.code === 'FORBIDDEN') return noRows
    throw error
  }
}
