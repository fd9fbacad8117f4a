import type { FilterOptions } from '../definition/handler.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection, PublishedField } from '../definition/published.ts'
import { acceptedType } from '../event/accepted.ts'
import type { FilterEvent } from '../event/event.ts'
import type { Condition } from '../event/query.ts'
import { completeSort } from '../event/resolve.ts'
import { searchText } from '../event/search.ts'
import { stored } from '../event/submitted.ts'
import type { View } from '../event/view.ts'
import { parameters } from '../protocol/query.ts'

/** Conditions of host code in the language of storage. Throws a TypeError for what no field can equal. */
export function conditionsOf(
  collection: PublishedCollection,
  conditions: Readonly<Record<string, unknown>>,
): readonly Condition[] {
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
  const { limit = everything, offset = 0, sort = [], q = '', count = false } = options
  const { readable } = view
  for (const number of [limit, offset]) {
    if (!Number.isSafeInteger(number) || number < 0) {
      throw new TypeError('limit and offset must be whole numbers.')
    }
  }
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

function fieldOf(collection: PublishedCollection, name: string): PublishedField {
  const field = collection.byName.get(name)
  if (field === undefined)
    throw new TypeError(`The collection ${collection.name} has no field ${name}.`)
  return field
}
