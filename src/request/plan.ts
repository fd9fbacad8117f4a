import type { PublishedEventName } from '../definition/handler.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { decodeBody } from '../protocol/json.ts'
import {
  firstParameter,
  malformedQuery,
  unknownParameter,
  type DecodedQuery,
} from '../protocol/query.ts'
import type { DataEvent, DeleteEvent, FilterEvent, InsertEvent, UpdateEvent } from './event.ts'
import type { Condition } from './query.ts'
import {
  keyConditions,
  resolveConditions,
  resolveKey,
  resolveLimit,
  resolveSelection,
  resolveSort,
  type PageRules,
} from './resolve.ts'
import { searchText } from './search.ts'
import { checkSubmitted } from './submitted.ts'
import type { View } from './view.ts'

/** What the target of a request for a collection brings, decoded but not looked up. */
export interface DecodedTarget {
  readonly view: View
  /** The raw key of an item path. */
  readonly key: string | undefined
  readonly query: DecodedQuery
}

/** The rest of planning: the event, from the bytes of the body. */
export type Plan = (bytes: Uint8Array) => DataEvent

/**
 * Resolves a request into its event: every name looked up, every value typed, every limit applied.
 * It does so in two steps, since other checks stand between those of the query and those of body and
 * key (D31).
 */
export function planEvent(
  name: PublishedEventName,
  { view, key, query }: DecodedTarget,
  rules: PageRules,
): Plan {
  if (name === 'Filter') {
    if (key !== undefined || view.collection.singleton) return planItem(view, key, query)
    const page = planPage(view, query, rules)
    return () => page
  }
  const parameter = firstParameter(query)
  if (parameter !== undefined) throw unknownParameter(parameter)
  if (name === 'Insert') {
    return (bytes) => {
      const { values, rounded } = decodeBody(bytes)
      return planInsert(view, values, rounded)
    }
  }
  const resolved = () => resolveKey(view.collection, key ?? '')
  if (name === 'Delete') return () => planDelete(view, resolved())
  return (bytes) => {
    const body = decodeBody(bytes)
    return planUpdate(view, resolved(), body.values, body.rounded)
  }
}

/** Resolves a GET of a collection: every name is looked up, every value typed, every limit applied. */
export function planPage(view: View, query: DecodedQuery, rules: PageRules): FilterEvent {
  const { limit, offset, sort, fields, q, count } = query.collection
  const { collection, listed } = view
  const conditions = resolveConditions(listed, query.conditions)
  requireFilters(collection, query)
  return {
    type: 'Filter',
    collection,
    view,
    result: 'page',
    query: {
      conditions: withRows(conditions, view),
      search:
        q === undefined || q === '' ? null : { fields: listed.searchNames, text: searchText(q) },
      sort: resolveSort(listed, sort),
      limit: resolveLimit(collection, limit, rules),
      offset: offset ?? 0,
      select: resolveSelection(listed, fields),
      count: count ?? false,
    },
  }
}

/** Resolves a GET of an item. Field names in the query are further conditions (D10). */
export function planItem(view: View, rawKey: string | undefined, query: DecodedQuery): Plan {
  if (Object.keys(query.collection).length > 0) {
    throw malformedQuery('Parameters with a $ prefix act on collections, not on items.')
  }
  const { collection, listed } = view
  const conditions = resolveConditions(listed, query.conditions)
  return () => {
    // A singleton has no key, and needs none.
    const key =
      rawKey === undefined ? [] : keyConditions(collection, resolveKey(collection, rawKey))
    return itemEvent(view, [...key, ...conditions])
  }
}

/** A Filter for the one item that meets the conditions, which contain its key. */
export function itemEvent(view: View, given: readonly Condition[]): FilterEvent {
  const conditions = withRows(given, view)
  const select = view.readable.allNames
  const query = { conditions, search: null, sort: [], limit: 1, offset: 0, select, count: false }
  return { type: 'Filter', collection: view.collection, view, result: 'item', query }
}

/** Resolves a POST on a collection. `rounded` names the members whose number was rounded. */
export function planInsert(
  view: View,
  body: Readonly<Record<string, unknown>>,
  rounded?: ReadonlySet<string>,
): InsertEvent {
  const { collection } = view
  const submitted = checkSubmitted(view.sendable, body, [], rounded)
  return { type: 'Insert', collection, view, submitted }
}

/** Resolves a POST on an item. `rounded` names the members whose number was rounded. */
export function planUpdate(
  view: View,
  key: readonly StoredValue[],
  body: Readonly<Record<string, unknown>>,
  rounded?: ReadonlySet<string>,
): UpdateEvent {
  const { collection } = view
  const submitted = checkSubmitted(view.sendable, body, key, rounded)
  return { type: 'Update', collection, view, key, conditions: ownItem(view, key), submitted }
}

/** Resolves a DELETE of an item. */
export function planDelete(view: View, key: readonly StoredValue[]): DeleteEvent {
  const { collection } = view
  return { type: 'Delete', collection, view, key, conditions: ownItem(view, key) }
}

function requireFilters({ requiredFilters }: PublishedCollection, query: DecodedQuery): void {
  const missing = requiredFilters.find((name) => !query.conditions.has(name))
  if (missing !== undefined) throw malformedQuery(`The parameter ${missing} is required.`)
}

function ownItem(view: View, key: readonly StoredValue[]): readonly Condition[] {
  return withRows(keyConditions(view.collection, key), view)
}

function withRows(conditions: readonly Condition[], { rows }: View): readonly Condition[] {
  return rows.length === 0 ? conditions : [...conditions, ...rows]
}
