import type { PublishedEventName } from '../definition/handler.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { decodeBody } from '../protocol/json.ts'
import { malformedQuery, unknownParameter, type DecodedQuery } from '../protocol/query.ts'
import type {
  Condition,
  DataEvent,
  DeleteEvent,
  FilterEvent,
  InsertEvent,
  UpdateEvent,
} from './event.ts'
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

/** What the target of a request for a collection brings, decoded but not looked up. */
export interface DecodedTarget {
  readonly collection: PublishedCollection
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
  { collection, key, query }: DecodedTarget,
  rules: PageRules,
): Plan {
  if (name === 'Filter') {
    if (key !== undefined) return planItem(collection, key, query)
    const page = planPage(collection, query, rules)
    return () => page
  }
  if (query.conditions.size > 0 || Object.keys(query.collection).length > 0)
    throw unknownParameter()
  if (name === 'Insert') return (bytes) => planInsert(collection, decodeBody(bytes))
  const resolved = () => resolveKey(collection, key ?? '')
  if (name === 'Delete') return () => planDelete(collection, resolved())
  return (bytes) => {
    const body = decodeBody(bytes)
    return planUpdate(collection, resolved(), body)
  }
}

/** Resolves a GET of a collection: every name is looked up, every value typed, every limit applied. */
export function planPage(
  collection: PublishedCollection,
  query: DecodedQuery,
  rules: PageRules,
): FilterEvent {
  const { limit, offset, sort, fields, q, count } = query.collection
  return {
    type: 'Filter',
    collection,
    result: 'page',
    query: {
      conditions: resolveConditions(collection, query.conditions),
      search:
        q === undefined || q === ''
          ? null
          : { fields: collection.searchNames, text: searchText(q) },
      sort: resolveSort(collection, sort ?? []),
      limit: resolveLimit(collection, limit, rules),
      offset: offset ?? 0,
      select: resolveSelection(collection, fields),
      count: count ?? false,
    },
  }
}

/** Resolves a GET of an item. Field names in the query are further conditions (D10). */
export function planItem(
  collection: PublishedCollection,
  rawKey: string,
  query: DecodedQuery,
): Plan {
  if (Object.keys(query.collection).length > 0) {
    throw malformedQuery('Parameters with a $ prefix act on collections, not on items.')
  }
  const conditions = resolveConditions(collection, query.conditions)
  return () => {
    const key = keyConditions(collection, resolveKey(collection, rawKey))
    return itemEvent(collection, [...key, ...conditions])
  }
}

/** A Filter for the one item that meets the conditions, which contain its key. */
export function itemEvent(
  collection: PublishedCollection,
  conditions: readonly Condition[],
): FilterEvent {
  const select = collection.allNames
  const query = { conditions, search: null, sort: [], limit: 1, offset: 0, select, count: false }
  return { type: 'Filter', collection, result: 'item', query }
}

/** Resolves a POST on a collection. */
export function planInsert(
  collection: PublishedCollection,
  body: Readonly<Record<string, unknown>>,
): InsertEvent {
  return { type: 'Insert', collection, submitted: checkSubmitted(collection, body) }
}

/** Resolves a POST on an item. */
export function planUpdate(
  collection: PublishedCollection,
  key: readonly StoredValue[],
  body: Readonly<Record<string, unknown>>,
): UpdateEvent {
  const submitted = checkSubmitted(collection, body, key)
  return { type: 'Update', collection, key, conditions: keyConditions(collection, key), submitted }
}

/** Resolves a DELETE of an item. */
export function planDelete(
  collection: PublishedCollection,
  key: readonly StoredValue[],
): DeleteEvent {
  return { type: 'Delete', collection, key, conditions: keyConditions(collection, key) }
}
