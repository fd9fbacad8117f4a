import { isValueOf, itemValue } from '../definition/field-type.ts'
import { suggestion } from '../definition/nearest-name.ts'
import type { PublishedCollection, PublishedField } from '../definition/published.ts'
import type { Json } from '../protocol/json.ts'
import type { ItemValues } from './query.ts'
import { stored } from './submitted.ts'

/** Returns the canonical form of a value from application code. Throws a TypeError for a wrong type. */
export function acceptedType(field: PublishedField, value: unknown): Json {
  const { kind, definition } = field
  if (!isValueOf(definition, value)) {
    throw new TypeError(`The value of ${field.name} must be ${kind.mustBe(definition)}.`)
  }
  return itemValue(field.type, stored(field, value as Json))
}

/** Returns the canonical form of an item that a handler may have changed. Throws a TypeError for unknown fields and wrong types. */
export function acceptedItem(
  collection: PublishedCollection,
  item: Readonly<ItemValues>,
): ItemValues {
  const accepted: ItemValues = {}
  for (const name of Object.keys(item)) {
    const field = collection.byName.get(name)
    if (field === undefined) {
      const advice = suggestion(name, collection.allNames, 'fields')
      throw new TypeError(`The collection ${collection.name} has no field ${name}; ${advice}`)
    }
    const value: unknown = item[name]
    accepted[name] = value === null || value === undefined ? null : acceptedType(field, value)
  }
  return accepted
}
