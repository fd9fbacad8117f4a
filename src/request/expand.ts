import type { Principal } from '../definition/principal.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedExpansion } from '../definition/published.ts'
import { repeatedName } from '../protocol/names.ts'
import { hasParameter, malformedQuery, parameters, type KnownLists } from '../protocol/query.ts'
import type { Expanded } from './event.ts'
import { hasRight, unlessForbidden } from './roles.ts'
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
  const { expansions } = view.collection
  const expanded = expansions
    .filter(({ name }) => names.includes(name))
    .flatMap((expansion) => readableBy(expansion, view, caller) ?? [])
  for (const name of names) {
    if (!expanded.some(({ expansion }) => expansion.name === name))
      throw malformedQuery(`Unknown relation in ${parameter}: ${repeatedName(name)}.`)
  }
  const most = rows * expanded.reduce((sum, { expansion }) => sum + expansion.limit, 0)
  if (most > maxRelated) {
    const { limit } = parameters
    throw malformedQuery(
      `The response could have ${most} related items, and at most ${maxRelated} are allowed: lower ${limit.name}, or name fewer relations in ${parameter}.`,
    )
  }
  return expanded
}

/**
 * Returns the parameters that a query may repeat, with the one for related items if the query has it and the caller can
 * read any. The row rules of other collections run for no other query.
 */
export function withExpandParameter(
  known: KnownLists,
  query: string,
  view: View,
  caller: Principal,
): KnownLists {
  const { expansions } = view.collection
  if (expansions.length === 0 || !hasParameter(query, parameter)) return known
  const isKnown = expansions.some((one) => readableBy(one, view, caller) !== undefined)
  return isKnown ? new Map([...known, [parameter, { isList: true }]]) : known
}

/** Returns whether the roles of a caller let it read the items of a relation, and the fields that lead to them. */
export function isExpandable(
  { to, own, theirs }: PublishedExpansion,
  view: View,
  caller: Principal,
): boolean {
  const isListed = ({ listed }: View, fields: readonly PublishedField[]): boolean =>
    fields.every(({ name }) => listed.byName.has(name))
  if (!hasRight(to, 'Filter', caller)) return false
  return isListed(view, own) && isListed(fieldsViewOf(to, caller), theirs)
}

/** Returns a relation as a caller may read it; undefined if its items are not for this caller. */
function readableBy(
  expansion: PublishedExpansion,
  view: View,
  caller: Principal,
): Expanded | undefined {
  if (!isExpandable(expansion, view, caller)) return undefined
  const other = unlessForbidden(() => viewOf(expansion.to, caller))
  return other && { expansion, view: other }
}
