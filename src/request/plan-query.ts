import type { Principal } from '../definition/principal.ts'
import type { PublishedComputed } from '../definition/published-computed.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import {
  malformedQuery,
  parameters,
  unknownParameter,
  type DecodedQuery,
} from '../protocol/query.ts'
import type { AskedOperator } from './asked-operators.ts'
import type { Expanded, FilterEvent, PlannedQuery } from './event.ts'
import { resolveExpand } from './expand.ts'
import { planCursor } from './paging.ts'
import { oneItem, searchText } from './query.ts'
import type { Condition, Output, SortField, StorageQuery } from './query.ts'
import {
  resolveComputed,
  resolveConditions,
  resolveLimit,
  resolveSelection,
  resolveSort,
  type PageRules,
} from './resolve.ts'
import type { View } from './view.ts'

/** Returns what a response with computed fields contains. */
export function outputOf(
  stored: readonly string[],
  computed: readonly PublishedComputed[],
): Output {
  return { select: [...stored, ...computed.map(({ name }) => name)], computed }
}

/** Returns a query whose response has computed fields: it also selects the fields that they need. */
function withComputed(
  query: StorageQuery,
  { allNames }: PublishedCollection,
  computed: readonly PublishedComputed[],
): PlannedQuery {
  if (computed.length === 0) return query
  const named = new Set([
    ...query.select,
    ...computed.flatMap(({ needs }) => needs.map(({ name }) => name)),
  ])
  const select = allNames.filter((name) => named.has(name))
  return { output: outputOf(query.select, computed), ...query, select }
}

/** A page of items in terms of the collection: names and values are checked already. */
export interface PageRequest extends Pick<StorageQuery, 'limit' | 'offset' | 'select' | 'count'> {
  readonly conditions: readonly Condition[]
  readonly sort: readonly SortField[]
  /** What to search for; undefined or empty: nothing. */
  readonly text: string | undefined
  /** The fields that the search reads. */
  readonly searchNames: readonly string[]
}

/** Returns the storage query of a page, limited to the rows of the view. */
export function pageQuery(
  view: View,
  { conditions, text = '', searchNames, sort, limit, offset, select, count }: PageRequest,
): StorageQuery {
  const search = text === '' ? null : { fields: searchNames, text: searchText(text) }
  return { conditions: withRows(conditions, view), search, sort, limit, offset, select, count }
}

/**
 * Plans the Filter for a page of the items that meet conditions, with the fields of a page. `further` fields are read as well,
 * and are not part of the items.
 */
export function planPage(
  view: View,
  given: Pick<PageRequest, 'conditions' | 'sort' | 'limit'>,
  further: readonly PublishedField[] = [],
): FilterEvent {
  const { collection, listed } = view
  const rest = { text: undefined, searchNames: [], offset: 0, count: false }
  const page = pageQuery(view, { ...given, ...rest, select: listed.defaultNames })
  const shown = withComputed(page, collection, resolveComputed(listed, undefined))
  const { output, ...query } =
    further.length === 0 ? shown : withFurther(shown, collection, further)
  return { type: 'Filter', collection, view, result: 'page', query, output }
}

/** What a query asks of, as its caller may use it. */
export interface Asked {
  readonly view: View
  readonly caller: Principal
  /** The parameters with an operator. Default: those on fields of the view. */
  readonly operators?: ReadonlyMap<string, AskedOperator> | undefined
}

/** Resolves the query of a page. */
export function resolvePageQuery(
  { view, caller, operators }: Asked,
  query: DecodedQuery,
  rules: PageRules,
): PlannedQuery {
  const { limit, offset = 0, after, sort, fields, q, count = false, expand } = query.collection
  const { collection, listed } = view
  if (after !== undefined) requireCursors(collection, query)
  const conditions = resolveConditions(listed, query, operators)
  requireFilters(collection, query)
  const page = pageQuery(view, {
    conditions,
    text: q,
    searchNames: listed.searchNames,
    sort: resolveSort(listed, sort),
    limit: resolveLimit(collection, limit, rules),
    offset,
    select: resolveSelection(listed, fields),
    count,
  })
  const planned = withExpanded(
    withComputed(page, collection, resolveComputed(listed, fields)),
    collection,
    expand && resolveExpand({ view, caller }, expand, page.limit),
  )
  const { hasCursor, estimatesCount: estimates } = collection
  if (!hasCursor && !estimates) return planned
  const given = { text: after, parameter: parameters.after.name, invalid: malformedQuery }
  const cursor = hasCursor ? planCursor(collection, { ...page, conditions }, given) : undefined
  return { paging: { cursor, estimates }, ...planned }
}

/** Returns a query whose response has related items: it also selects the fields that lead to them. */
function withExpanded(
  query: PlannedQuery,
  collection: PublishedCollection,
  expanded: readonly Expanded[] | undefined,
): PlannedQuery {
  if (expanded === undefined) return query
  const further = expanded.flatMap(({ expansion }) => expansion.own)
  return { ...withFurther(query, collection, further), expanded }
}

/** Returns a query that selects further fields, which are not part of the response. */
function withFurther(
  query: PlannedQuery,
  { allNames }: PublishedCollection,
  further: readonly PublishedField[],
): PlannedQuery {
  const named = new Set([...query.select, ...further.map(({ name }) => name)])
  const select = allNames.filter((name) => named.has(name))
  return { output: outputOf(query.select, []), ...query, select }
}

function requireCursors({ hasCursor }: PublishedCollection, { collection }: DecodedQuery): void {
  const { after, offset } = parameters
  if (!hasCursor) throw unknownParameter(after.name)
  if (collection.offset === undefined) return
  throw malformedQuery(`The parameters ${after.name} and ${offset.name} exclude each other.`)
}

/** Resolves the query of an item. The names of fields in it are further conditions. */
export function resolveItemQuery(
  { view, caller, operators }: Asked,
  query: DecodedQuery,
): PlannedQuery {
  const { collection } = view
  const { expand, ...others } = query.collection
  if (Object.keys(others).length > 0) {
    throw malformedQuery(
      collection.expansions.length === 0
        ? 'Parameters with a $ prefix act on collections, not on items.'
        : `Parameters with a $ prefix act on collections, not on items, apart from ${parameters.expand.name}.`,
    )
  }
  const item = itemQuery(view, resolveConditions(view.listed, query, operators))
  return withExpanded(
    withComputed(item, collection, view.readable.computed),
    collection,
    expand && resolveExpand({ view, caller }, expand, 1),
  )
}

/** Returns the query of the one item that meets conditions and is in the view. */
export function itemQuery(view: View, given: readonly Condition[]): StorageQuery {
  return oneItem(withRows(given, view), view.readable.allNames)
}

function requireFilters({ requiredFilters }: PublishedCollection, query: DecodedQuery): void {
  const missing = requiredFilters.find((name) => !query.conditions.has(name))
  if (missing !== undefined) throw malformedQuery(`The parameter ${missing} is required.`)
}

/** Returns conditions with the conditions of the row rule at the end. */
export function withRows(conditions: readonly Condition[], { rows }: View): readonly Condition[] {
  return rows.length === 0 ? conditions : [...conditions, ...rows]
}
