import type { Principal } from '../definition/principal.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedExpansion } from '../definition/published.ts'
import { repeatedName } from '../protocol/names.ts'
import { hasParameter, malformedQuery, parameters, type KnownLists } from '../protocol/query.ts'
import type { Expanded } from './event.ts'
import { noRows } from './query.ts'
import { hasRight, unlessForbidden } from './roles.ts'
import { fieldsViewOf, viewOf, type View } from './view.ts'

const { name: parameter } = parameters.expand

// A page without a bound could fill the memory of the process.
const maxRelated = 2_000

/** How mistakes are thrown: as a ServiceError if a client made them, as a TypeError if application code did. */
export interface ExpandMistakes {
  /** The relation is unknown, or the caller can't read its items. */
  unknown(name: string): Error
  /** The response could have more related items than allowed. */
  tooMany(most: number, allowed: number): Error
}

/** The mistakes of clients: MALFORMED_QUERY. Relations that the caller can't read are unknown. */
export const clientExpandMistakes: ExpandMistakes = {
  unknown: (name) => malformedQuery(`Unknown relation in ${parameter}: ${repeatedName(name)}.`),
  tooMany: (most, allowed) =>
    malformedQuery(
      `The response could have ${most} related items, and at most ${allowed} are allowed: lower ${parameters.limit.name}, or name fewer relations in ${parameter}.`,
    ),
}

/**
 * Returns the relations that a caller asks for, in the order of the definition. `rows` is the most items that the response
 * can have.
 */
export function resolveExpand(
  { view, caller }: { readonly view: View; readonly caller: Principal },
  names: readonly string[],
  rows: number,
  mistakes: ExpandMistakes = clientExpandMistakes,
): readonly Expanded[] {
  const { expansions } = view.collection
  const expanded = expansions
    .filter((one) => names.includes(one.name) && isExpandable(one, view, caller))
    .map((expansion) => readBy(expansion, caller))
  for (const name of names) {
    if (!expanded.some(({ expansion }) => expansion.name === name)) throw mistakes.unknown(name)
  }
  const most = rows * expanded.reduce((sum, { expansion }) => sum + expansion.limit, 0)
  if (most > maxRelated) throw mistakes.tooMany(most, maxRelated)
  return expanded
}

/**
 * Returns the parameters that a query may repeat, with the one for related items if the query has it and the roles of the
 * caller let it read any.
 */
export function withExpandParameter(
  known: KnownLists,
  query: string,
  view: View,
  caller: Principal,
): KnownLists {
  const { expansions } = view.collection
  if (expansions.length === 0 || !hasParameter(query, parameter)) return known
  const isKnown = expansions.some((one) => isExpandable(one, view, caller))
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

/** Returns a relation as a caller may read it. A row rule that leaves no rows leaves no related items either. */
function readBy(expansion: PublishedExpansion, caller: Principal): Expanded {
  const { to } = expansion
  const view = unlessForbidden(() => viewOf(to, caller))
  return { expansion, view: view ?? { ...fieldsViewOf(to, caller), rows: noRows } }
}
