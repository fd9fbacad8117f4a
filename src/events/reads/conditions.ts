import type { FilterOptions, GetOptions, SaveOptions } from '../../definition/handler.ts'
import { requireKnown } from '../../checks/options.ts'
import { requirePlainObject } from '../../checks/plain-object.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { Principal } from '../../definition/principal.ts'
import { forbidden } from '../../errors.ts'
import type { Expanded, FilterEvent } from '../../request/event.ts'
import { resolveExpand } from '../../request/expand.ts'
import { givenConditions } from '../../request/given-conditions.ts'
import type { Condition, ItemValues } from '../../request/query.ts'
import { fieldOf, unknownFieldError } from '../../request/item-values.ts'
import { planCursor } from '../../request/paging.ts'
import { pageQuery } from '../../request/plan-query.ts'
import { requireFilterable, sortOrder, type QueryMistakes } from '../../request/resolve.ts'
import type { View } from '../../request/view.ts'
import { setParsed } from '../../protocol/json-text.ts'
import { parameters } from '../../protocol/query.ts'

/**
 * Resolves the conditions that a call of application code has received. Throws a TypeError for unknown names and
 * invalid values.
 */
export function conditionsOf(
  collection: PublishedCollection,
  conditions: unknown,
  call: string,
): readonly Condition[] {
  return givenConditions(
    { collection, call, fieldOf: (name) => comparedField(collection, name) },
    conditions,
  )
}

function comparedField(collection: PublishedCollection, name: string): PublishedField {
  const field = fieldOf(collection, name)
  requireFilterable(field, callerMistakes)
  return field
}

/** Returns a key of application code in stored form. Throws a TypeError for a wrong number or type of parts. */
export function keyOf(collection: PublishedCollection, key: unknown): readonly StoredValue[] {
  const parts: readonly unknown[] = Array.isArray(key) ? key : [key]
  if (parts.length !== collection.key.length || parts.length === 0) {
    throw new TypeError(`A key of ${collection.name} has ${collection.key.length} parts.`)
  }
  return collection.key.map((part, index) => part.accept(parts[index]))
}

// Without a limit, a filter in process returns all items.
const everything = Number.MAX_SAFE_INTEGER

/**
 * Plans a Filter of application code, with all readable fields. `call` is what has received the conditions. Throws a
 * TypeError for invalid options.
 */
export function pageOf(
  view: View,
  conditions: unknown,
  options: FilterOptions,
  call = 'filter',
): FilterEvent {
  requireKnown('filter', options, filterOptions)
  const { limit = everything, offset = 0, sort = [], q = '', count = false } = options
  const lock = lockOf(options)
  if (lock && count) throw new TypeError('lock and count exclude each other.')
  const { collection, readable } = view
  requireAfter(collection, options)
  for (const number of [limit, offset]) {
    if (!Number.isSafeInteger(number) || number < 0) {
      throw new TypeError('limit and offset must be integers.')
    }
  }
  if (!Array.isArray(sort)) throw new TypeError('sort must be a list of field names.')
  if (typeof q !== 'string') throw new TypeError('q must be a string.')
  if (parameters.q.decode(q) === undefined) throw new TypeError(`q ${parameters.q.rule}.`)
  if (typeof count !== 'boolean') throw new TypeError('count must be true or false.')
  const keys = sort.length === 0 ? [] : parameters.sort.decode(sort.join(','))
  if (keys === undefined) throw new TypeError(`sort ${parameters.sort.rule}.`)
  const own = conditionsOf(readable, conditions, call)
  const planned = pageQuery(view, {
    sort: sortOrder(readable, keys.length > 0 ? keys : readable.defaultSort, callerMistakes),
    conditions: own,
    text: q,
    searchNames: readable.searchNames,
    limit,
    offset,
    select: readable.allNames,
    count,
  })
  const query = lock ? { ...planned, lock } : planned
  const given = { text: options.after, parameter: 'after', invalid: callerMistakes.invalid }
  const event = {
    type: 'Filter',
    collection,
    view,
    result: 'page',
    query,
    output: undefined,
  } as const
  if (!collection.hasCursor) return event
  const cursor = planCursor(collection, { ...query, conditions: own }, given)
  return { paging: { cursor, estimates: false }, ...event }
}

/**
 * Returns the relations whose items a call of application code reads as well, for at most `rows` items. Throws a TypeError
 * for unknown relations and for too many items, and FORBIDDEN for items that the caller can't read.
 */
export function expandedOf(
  reading: { readonly view: View; readonly caller: Principal },
  names: readonly string[],
  rows: number,
): readonly Expanded[] {
  const { view, caller } = reading
  const { application, name, expansions } = view.collection
  if (!Array.isArray(names) || new Set(names).size < names.length)
    throw new TypeError('expand must be a list of relations, each of them once.')
  return resolveExpand(reading, names, rows, {
    unknown: (relation) => {
      const known = expansions.map((one) => one.name)
      return known.includes(relation)
        ? forbidden({
            user: caller.user,
            reason: `the caller can't read the items of ${relation} of ${application}/${name}`,
          })
        : new TypeError(`expand: ${name} has no relation ${relation}.`)
    },
    tooMany: (_, allowed) =>
      new TypeError(
        `expand: there could be more than ${allowed} related items. Set limit, or name fewer relations.`,
      ),
  })
}

/** Returns whether a call locks the items that it reads. Throws a TypeError for another value than a boolean. */
export function lockOf({ lock = false }: GetOptions): boolean {
  if (typeof lock !== 'boolean') throw new TypeError('lock must be true or false.')
  return lock
}

function requireAfter({ name, hasCursor }: PublishedCollection, options: FilterOptions): void {
  const { after, offset } = options
  if (after === undefined) return
  if (typeof after !== 'string') throw new TypeError('after must be the cursor of a page.')
  if (!hasCursor) throw new TypeError(`${name} has no cursors: its definition needs cursor: true.`)
  if (offset !== undefined) throw new TypeError('after and offset exclude each other.')
}

/** The mistakes of application code: a TypeError. */
const callerMistakes: QueryMistakes = {
  unknownField: unknownFieldError,
  invalid: (message) => new TypeError(message),
}

/**
 * Returns a copy of the values that a call has received, which application code may change while the save waits.
 * Throws a TypeError for anything but a plain object, and for unknown fields.
 */
export function givenValues(
  collection: PublishedCollection,
  values: unknown,
  call: string,
): Readonly<ItemValues> {
  requirePlainObject('The values', values, call)
  const given = values as Readonly<ItemValues>
  const own = { ...given }
  for (const name of Object.keys(own)) {
    const { type, check, store } = fieldOf(collection, name)
    if (type !== 'json' || check(own[name]).length > 0) continue
    const text = store(own[name], given)
    if (typeof text === 'string') setParsed(own, name, text)
  }
  return own
}

/** Throws a TypeError for unknown or invalid options of a save or delete. */
export function requireSaveOptions(event: string, options: SaveOptions): void {
  requireKnown(event, options, ['ignoreWarnings'])
  const { ignoreWarnings: ids = [] } = options
  if (ids === 'all' || (typeof ids === 'object' && Symbol.iterator in ids)) return
  throw new TypeError(`${event}: ignoreWarnings must be a list of ids, or 'all'`)
}

const filterOptions = ['limit', 'offset', 'after', 'sort', 'q', 'count', 'lock', 'expand']
