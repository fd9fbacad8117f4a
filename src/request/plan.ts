import type { PublishedEventName } from '../definition/handler.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { methodNotAllowed } from '../errors.ts'
import type { DecodedBody } from '../protocol/body.ts'
import type { ResourcePath } from '../protocol/path.ts'
import {
  decodeQuery,
  firstParameter,
  unknownParameter,
  type DecodedQuery,
} from '../protocol/query.ts'
import { askedOperators } from './asked-operators.ts'
import type {
  DataEvent,
  DeleteEvent,
  FilterEvent,
  InsertEvent,
  PlannedQuery,
  UpdateEvent,
} from './event.ts'
import { withExpandParameter } from './expand.ts'
import {
  itemQuery,
  outputOf,
  resolveItemQuery,
  resolvePageQuery,
  withRows,
  type Asked,
} from './plan-query.ts'
import { oneItem, type Condition } from './query.ts'
import { keyConditions, resolveKey, type PageRules } from './resolve.ts'
import { checkSubmitted } from './submitted.ts'
import type { View } from './view.ts'

/** What the path of a request leads to, as its caller may use it. */
export interface Resource extends Asked {
  /** The raw key of an item path; undefined for the path of a collection. */
  readonly key: string | undefined
}

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

/** Decodes the raw query of a request with the parameters that its caller may use, and resolves it as {@link resolveQuery}. */
export function readQuery(
  name: PublishedEventName,
  resource: Resource,
  raw: string,
  rules: PageRules,
): PlannedQuery {
  const { view, caller, key } = resource
  const operators = askedOperators(view, caller)
  const query = decodeQuery(raw, withExpandParameter(operators, raw, view, caller))
  return resolveQuery(name, { view, caller, key, operators }, query, rules)
}

/**
 * Resolves the query of a request against the fields of its view, and applies defaults and limits.
 * Throws MALFORMED_QUERY for unknown names and invalid values, and for any parameter of an Insert,
 * Update or Delete. The key of an item path is not part of the result: {@link planEvent} adds it,
 * because the contract checks the key after the body.
 */
export function resolveQuery(
  name: PublishedEventName,
  resource: Resource,
  query: DecodedQuery,
  rules: PageRules,
): PlannedQuery {
  if (name !== 'Filter') {
    const parameter = firstParameter(query)
    if (parameter !== undefined) throw unknownParameter(parameter)
    return itemQuery(resource.view, [])
  }
  const { view, key } = resource
  const isPage = key === undefined && !view.collection.singleton
  return isPage ? resolvePageQuery(resource, query, rules) : resolveItemQuery(resource, query)
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
        const { conditions, select, output, expanded } = resolved
        const query = oneItem([...own, ...conditions], select)
        const event = { type: 'Filter', collection, view, result: 'item', query, output } as const
        return expanded === undefined ? event : { ...event, expanded }
      }
      const result = collection.singleton ? 'item' : 'page'
      if (resolved.output === undefined && resolved.paging === undefined) {
        return { type: 'Filter', collection, view, result, query: resolved, output: undefined }
      }
      const { output, paging, expanded, ...query } = resolved
      const more = { ...(paging && { paging }), ...(expanded && { expanded }) }
      return { type: 'Filter', collection, view, result, query, output, ...more }
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

const emptyBody: DecodedBody = { values: {}, rounded: new Set() }

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

function ownItem(view: View, key: readonly StoredValue[]): readonly Condition[] {
  return withRows(keyConditions(view.collection, key), view)
}
