import type { PublishedEventName } from '../definition/handler.ts'
import type { PublishedComputed } from '../definition/published-computed.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { methodNotAllowed } from '../errors.ts'
import type { DecodedBody } from '../protocol/body.ts'
import type { ResourcePath } from '../protocol/path.ts'
import {
  firstParameter,
  malformedQuery,
  parameters,
  unknownParameter,
  type DecodedQuery,
} from '../protocol/query.ts'
import type {
  DataEvent,
  DeleteEvent,
  FilterEvent,
  InsertEvent,
  PlannedQuery,
  UpdateEvent,
} from './event.ts'
import { planCursor } from './paging.ts'
import { oneItem, searchText } from './query.ts'
import type { Condition, Output, SortField, StorageQuery } from './query.ts'
import {
  keyConditions,
  resolveComputed,
  resolveConditions,
  resolveKey,
  resolveLimit,
  resolveSelection,
  resolveSort,
  type PageRules,
} from './resolve.ts'
import type { AskedOperator } from './asked-operators.ts'
import { checkSubmitted } from './submitted.ts'
import type { View } from './view.ts'

/** What the path of a request leads to, as its caller may use it. */
export interface Resource {
  readonly view: View
  /** The raw key of an item path; undefined for the path of a collection. */
  readonly key: string | undefined
  /** The parameters with an operator. Default: those on fields of the view. */
  readonly operators?: ReadonlyMap<string, AskedOperator> | undefined
}

type Asked = Pick<Resource, 'view' | 'operators'>

type Methods = Readonly<Record<string, PublishedEventName>>

/** The event of each method, for paths of collections and of items. */
const methodsOf: { readonly collection: Methods; readonly item: Methods } = {
  collection: { GET: 'Filter', POST: 'Insert' },
  item: { GET: 'Filter', POST: 'Update', DELETE: 'Delete' },
}

/**
 * Returns the event that a method invokes on a path. Throws METHOD_NOT_ALLOWED with `Allow`, which
 * lists the methods of the events that the collection publishes there.
 */
export function routeMethod(
  method: string,
  path: ResourcePath,
  collection: PublishedCollection | undefined,
): PublishedEventName {
  const methods = path.key === undefined ? methodsOf.collection : methodsOf.item
  const event = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (event !== undefined && isPublished(event, path, collection)) return event
  const allowed = Object.entries(methods)
    .filter(([, invoked]) => isPublished(invoked, path, collection))
    .map(([name]) => name)
  throw methodNotAllowed(allowed)
}

function isPublished(
  event: PublishedEventName,
  { key }: ResourcePath,
  collection: PublishedCollection | undefined,
): boolean {
  if (collection === undefined) return true
  // Below a collection without key, every path is as unknown as below one that does not exist.
  if (key !== undefined && collection.key.length === 0) return true
  if (event === 'Filter' && key === undefined && !collection.hasPages) return false
  return collection.publishes.has(event)
}

/**
 * Resolves the query of a request against the fields of its view, and applies defaults and limits.
 * Throws MALFORMED_QUERY for unknown names and invalid values, and for any parameter of an Insert,
 * Update or Delete. The key of an item path is not part of the result: {@link planEvent} adds it,
 * because the contract checks the key after the body.
 */
export function resolveQuery(
  name: PublishedEventName,
  { view, key, operators }: Resource,
  query: DecodedQuery,
  rules: PageRules,
): PlannedQuery {
  if (name !== 'Filter') {
    const parameter = firstParameter(query)
    if (parameter !== undefined) throw unknownParameter(parameter)
    return itemQuery(view, [])
  }
  const isPage = key === undefined && !view.collection.singleton
  return isPage
    ? resolvePageQuery({ view, operators }, query, rules)
    : resolveItemQuery({ view, operators }, query)
}

/**
 * Plans the event of a request: resolves the key of its path and checks the values of its body. Throws
 * NOT_FOUND for a key that no item can have. `body` is required for Insert and Update.
 */
export function planEvent(
  name: PublishedEventName,
  { view, key }: Resource,
  resolved: PlannedQuery,
  body: DecodedBody = emptyBody,
): DataEvent {
  const { collection } = view
  const { values, rounded } = body
  switch (name) {
    case 'Filter': {
      if (key !== undefined) {
        const own = keyConditions(collection, resolveKey(collection, key))
        const { conditions, select, output } = resolved
        const query = oneItem([...own, ...conditions], select)
        return { type: 'Filter', collection, view, result: 'item', query, output }
      }
      const result = collection.singleton ? 'item' : 'page'
      if (resolved.output === undefined && resolved.paging === undefined) {
        return { type: 'Filter', collection, view, result, query: resolved, output: undefined }
      }
      const { output, paging, ...query } = resolved
      return { type: 'Filter', collection, view, result, query, output, ...(paging && { paging }) }
    }
    case 'Insert':
      return withOutput(planInsert(view, values, rounded))
    case 'Update':
      return withOutput(planUpdate(view, resolveKey(collection, key ?? ''), values, rounded))
    case 'Delete':
      return withOutput(planDelete(view, resolveKey(collection, key ?? '')))
  }
}

/** Returns a save whose response has the computed fields that the caller may read. */
function withOutput<Event extends InsertEvent | UpdateEvent | DeleteEvent>(event: Event): Event {
  const { computed, allNames } = event.view.readable
  return computed.length === 0 ? event : { ...event, output: outputOf(allNames, computed) }
}

function outputOf(stored: readonly string[], computed: readonly PublishedComputed[]): Output {
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

const emptyBody: DecodedBody = { values: {}, rounded: new Set() }

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

function resolvePageQuery(
  { view, operators }: Asked,
  query: DecodedQuery,
  rules: PageRules,
): PlannedQuery {
  const { limit, offset = 0, after, sort, fields, q, count = false } = query.collection
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
  const planned = withComputed(page, collection, resolveComputed(listed, fields))
  const { hasCursor, estimatesCount: estimates } = collection
  if (!hasCursor && !estimates) return planned
  const given = { text: after, parameter: parameters.after.name, invalid: malformedQuery }
  const cursor = hasCursor ? planCursor(collection, { ...page, conditions }, given) : undefined
  return { paging: { cursor, estimates }, ...planned }
}

function requireCursors({ hasCursor }: PublishedCollection, { collection }: DecodedQuery): void {
  const { after, offset } = parameters
  if (!hasCursor) throw unknownParameter(after.name)
  if (collection.offset === undefined) return
  throw malformedQuery(`The parameters ${after.name} and ${offset.name} exclude each other.`)
}

// Field names in the query of an item are further conditions.
function resolveItemQuery({ view, operators }: Asked, query: DecodedQuery): PlannedQuery {
  if (Object.keys(query.collection).length > 0) {
    throw malformedQuery('Parameters with a $ prefix act on collections, not on items.')
  }
  const item = itemQuery(view, resolveConditions(view.listed, query, operators))
  return withComputed(item, view.collection, view.readable.computed)
}

function itemQuery(view: View, given: readonly Condition[]): StorageQuery {
  return oneItem(withRows(given, view), view.readable.allNames)
}

/** Plans the Filter for the one item that meets the conditions, which contain its key. */
export function itemEvent(view: View, conditions: readonly Condition[]): FilterEvent {
  const query = itemQuery(view, conditions)
  const { collection } = view
  return { type: 'Filter', collection, view, result: 'item', query, output: undefined }
}

/** Plans an Insert. `rounded` names the members whose number was rounded while it was parsed. */
export function planInsert(
  view: View,
  body: Readonly<Record<string, unknown>>,
  rounded?: ReadonlySet<string>,
): InsertEvent {
  const { collection } = view
  const submitted = checkSubmitted(view.sendable, body, [], rounded)
  return { type: 'Insert', collection, view, submitted, output: undefined }
}

/** Plans an Update. `rounded` names the members whose number was rounded while it was parsed. */
export function planUpdate(
  view: View,
  key: readonly StoredValue[],
  body: Readonly<Record<string, unknown>>,
  rounded?: ReadonlySet<string>,
): UpdateEvent {
  const { collection } = view
  const submitted = checkSubmitted(view.sendable, body, key, rounded)
  const conditions = ownItem(view, key)
  return { type: 'Update', collection, view, key, conditions, submitted, output: undefined }
}

/** Plans a Delete. */
export function planDelete(view: View, key: readonly StoredValue[]): DeleteEvent {
  const { collection } = view
  const conditions = ownItem(view, key)
  return { type: 'Delete', collection, view, key, conditions, output: undefined }
}

function requireFilters({ requiredFilters }: PublishedCollection, query: DecodedQuery): void {
  const missing = requiredFilters.find((name) => !query.conditions.has(name))
  if (missing !== undefined) throw malformedQuery(`The parameter ${missing} is required.`)
}

function ownItem(view: View, key: readonly StoredValue[]): readonly Condition[] {
  return withRows(keyConditions(view.collection, key), view)
}

/** Returns conditions with the conditions of the row rule at the end. */
export function withRows(conditions: readonly Condition[], { rows }: View): readonly Condition[] {
  return rows.length === 0 ? conditions : [...conditions, ...rows]
}
