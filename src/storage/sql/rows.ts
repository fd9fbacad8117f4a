import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { encodeStored } from '../../request/serialize.ts'
import type { Row } from '../adapter.ts'
import { fieldOf } from './conditions.ts'
import type { TextRow } from './connection.ts'
import type { Tables } from './dialect.ts'
import { placeOf, typeOf } from './table-conditions.ts'

/** Returns a function that reads the row of named fields from the values at a place and after it. */
export function rowReader(
  tables: Tables,
  collection: PublishedCollection,
  names: readonly string[],
  from = 0,
): (values: TextRow) => Row {
  const place = placeOf(tables, collection)
  const types = names.map((field) => typeOf(place, fieldOf(collection, field)))
  return (values) => {
    const row: Record<string, StoredValue> = {}
    for (const [index, field] of names.entries()) {
      const text = values[from + index] ?? null
      row[field] = text === null ? null : (types[index]?.read(text) ?? null)
    }
    return row
  }
}

/**
 * Returns a function that writes the item of named fields as JSON text, from the values at a place and after it.
 * It returns undefined if a value does not fit its field.
 */
export function itemWriter(
  tables: Tables,
  collection: PublishedCollection,
  names: readonly string[],
  from = 0,
): (values: TextRow) => string | undefined {
  const place = placeOf(tables, collection)
  const members = names.map((name, index) => {
    const field = collection.responseFields.get(name) as PublishedField
    const type = typeOf(place, field)
    return { start: `${index === 0 ? '{' : ','}${field.member}`, field, type }
  })
  return (values) => {
    let item = ''
    let index = from
    for (const { start, field, type } of members) {
      const text = values[index++] ?? null
      const value = text === null ? null : type.read(text)
      const fits = value === null ? !field.inKey : field.isStored(value)
      if (!fits) return undefined
      item += start + encodeStored(field, value)
    }
    return item === '' ? '{}' : `${item}}`
  }
}
