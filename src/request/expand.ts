import type { PublishedExpansion } from '../definition/published.ts'
import type { Principal } from '../definition/principal.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { isServiceError } from '../errors.ts'
import { repeatedName } from '../protocol/names.ts'
import { malformedQuery, parameters } from '../protocol/query.ts'
import type { Expanded } from './event.ts'
import { requireRight } from './roles.ts'
import { fieldsViewOf, viewOf, type View } from './view.ts'

const { name: parameter } = parameters.expand

// A page without a bound could fill the memory of the process.
const maxRelated = 2_000

/**
 * Returns the relations that a client asks for, in the order of the definition. `rows` is the most items that the response
 * can have. Throws MALFORMED_QUERY for unknown relations and for those that the caller can't read, which are the same.
 */
export function resolveExpand(
  view: View,
  names: readonly string[],
  caller: Principal,
  rows: number,
): readonly Expanded[] {
  const known = expandableBy(view, caller)
  for (const name of names) {
    if (!known.some(({ expansion }) => expansion.name === name))
      throw malformedQuery(`Unknown relation in ${parameter}: ${repeatedName(name)}.`)
  }
  const expanded = known.filter(({ expansion }) => names.includes(expansion.name))
  const most = rows * expanded.reduce((sum, { expansion }) => sum + expansion.limit, 0)
  if (most > maxRelated) {
    const { limit } = parameters
    throw malformedQuery(
      `The response could have ${most} related items, and at most ${maxRelated} are allowed: lower ${limit.name}, or name fewer relations in ${parameter}.`,
    )
  }
  return expanded
}

/** Returns the parameters that a caller may repeat, with the one for related items if the caller can read any. */
export function withExpandParameter(
  known: ReadonlyMap<string, { readonly isList: boolean }>,
  view: View,
  caller: Principal,
): ReadonlyMap<string, { readonly isList: boolean }> {
  if (expandableBy(view, caller).length === 0) return known
  return new Map([...known, [parameter, { isList: true }]])
}

/** Returns whether the roles of a caller let it read the items of a relation, and the fields that lead to them. */
export function isExpandable(
  { to, own, theirs }: PublishedExpansion,
  view: View,
  caller: Principal,
): boolean {
  const isListed = ({ listed }: View, fields: readonly PublishedField[]): boolean =>
    fields.every(({ name }) => listed.byName.has(name))
  return mayRead(to, caller) && isListed(view, own) && isListed(fieldsViewOf(to, caller), theirs)
}

function expandableBy(view: View, caller: Principal): readonly Expanded[] {
  return view.collection.expansions.flatMap((expansion) => {
    if (!isExpandable(expansion, view, caller)) return []
    const other = unlessForbidden(() => viewOf(expansion.to, caller))
    return other === undefined ? [] : [{ expansion, view: other }]
  })
}

function mayRead(collection: PublishedCollection, caller: Principal): boolean {
  const right = unlessForbidden(() => {
    requireRight(collection, 'Filter', caller)
    return true
  })
  return right === true
}

function unlessForbidden<Value>(work: () => Value): Value | undefined {
  try {
    return work()
  } catch (error) {
    if (isServiceError(error) && error.code === 'FORBIDDEN') return undefined
    throw error
  }
}
