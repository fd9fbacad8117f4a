import type { FilterOptions, SaveOptions } from '../definition/handler.ts'
import { suggestion } from '../definition/nearest-name.ts'
import { requireKnown } from '../definition/options.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection, PublishedField } from '../definition/published.ts'
import { acceptedType } from '../request/accepted.ts'
import type { FilterEvent } from '../request/event.ts'
import type { Condition } from '../request/query.ts'
import { completeSort } from '../request/resolve.ts'
import { searchText } from '../request/search.ts'
import { stored } from '../request/submitted.ts'
import type { View } from '../request/view.ts'
import { parameters } from '../protocol/query.ts'

/** Conditions of host code in the language of storage. Throws a TypeError for what no field can equal. */
export function conditionsOf(
  collection: PublishedCollection,
  conditions: Readonly<Record<string, unknown>>,
): readonly Condition[] {
  requireObject('The conditions', conditions)
  return Object.entries(conditions).map(([name, value]) => {
    const field = fieldOf(collection, name)
    if (!field.kind.filterable) throw new TypeError(`The field ${name} can not be filtered.`)
    // A condition that is left out by mistake would widen the result: undefined is a TypeError too.
    const accepted = value === null ? null : acceptedType(field, value)
    return { field: name, is: 'equal', value: stored(field, accepted) }
  })
}

/** A key of host code in stored form. Throws a TypeError for a wrong number or type of parts. */
export function keyOf(collection: PublishedCollection, key: unknown): readonly StoredValue[] {
  const parts: readonly unknown[] = Array.isArray(key) ? key : [key]
  if (parts.length !== collection.key.length || parts.length === 0) {
    throw new TypeError(`A key of ${collection.name} has ${collection.key.length} parts.`)
  }
  return collection.key.map((part, index) => stored(part, acceptedType(part, parts[index])))
}

/** In process a page is whole unless it is limited: a handler that means all items must not miss some. */
const everything = Number.MAX_SAFE_INTEGER

/** A Filter of host code, with all fields. Throws a TypeError for names and numbers that can't be. */
export function pageOf(
  view: View,
  conditions: Readonly<Record<string, unknown>>,
  options: FilterOptions,
): FilterEvent {
  requireObject('The options of filter', options)
  requireKnown('filter', options, filterOptions)
  const { limit = everything, offset = 0, sort = [], q = '', count = false } = options
  const { readable } = view
  for (const number of [limit, offset]) {
    if (!Number.isSafeInteger(number) || number < 0) {
      throw new TypeError('limit and offset must be whole numbers.')
    }
  }
  if (!Array.isArray(sort)) throw new TypeError('sort must be a list of field names.')
  if (typeof q !== 'string') throw new TypeError('q must be a string.')
  if (typeof count !== 'boolean') throw new TypeError('count must be true or false.')
  const keys = sort.length === 0 ? [] : parameters.sort.decode(sort.join(','))
  if (keys === undefined) throw new TypeError(`sort ${parameters.sort.rule}.`)
  for (const { field } of keys) {
    if (fieldOf(readable, field).kind.compare === undefined) {
      throw new TypeError(`The field ${field} can not be sorted.`)
    }
  }
  const query = {
    conditions: [...conditionsOf(readable, conditions), ...view.rows],
    search: q === '' ? null : { fields: readable.searchNames, text: searchText(q) },
    sort: completeSort(readable, keys.length > 0 ? keys : readable.defaultSort),
    limit,
    offset,
    select: readable.allNames,
    count,
  }
  return { type: 'Filter', collection: view.collection, view, result: 'page', query }
}

/** Throws a TypeError for values of a save that name a field which the collection does not have. */
export function requireFields(collection: PublishedCollection, values: unknown): void {
  requireObject('The values', values)
  for (const name of Object.keys(values as object)) fieldOf(collection, name)
}

/** Throws a TypeError for options of a save or delete that are unknown or wrong. */
export function requireSaveOptions(event: string, options: SaveOptions): void {
  requireObject(`The options of ${event}`, options)
  requireKnown(event, options, ['ignoreWarnings'])
  const { ignoreWarnings: ids = [] } = options
  if (ids === 'all' || (typeof ids === 'object' && Symbol.iterator in ids)) return
  throw new TypeError(`${event}: ignoreWarnings must be a list of ids, or 'all'`)
}

/** The field of a name. Throws a TypeError that names the nearest one when there is none. */
export function fieldOf(collection: PublishedCollection, name: string): PublishedField {
  const field = collection.byName.get(name)
  if (field !== undefined) return field
  const advice = suggestion(name, collection.allNames, 'fields')
  throw new TypeError(`The collection ${collection.name} has no field ${name}; ${advice}`)
}

const filterOptions = ['limit', 'offset', 'sort', 'q', 'count']

function requireObject(what: string, given: unknown): void {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return
  throw new TypeError(`${what} must be an object.`)
}
