import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { JsonText } from '../protocol/envelope.ts'
import { setParsed } from '../protocol/json-text.ts'
import type { Json } from '../protocol/json.ts'
import type { ItemValues, Row } from './query.ts'

/**
 * Returns the item of a row, with the named fields in their order. It keeps the text of json fields, so that
 * `store` and `accept` of a field return them while the values are unchanged.
 */
export function itemOf(
  collection: PublishedCollection,
  row: Row,
  names: readonly string[] = collection.allNames,
): ItemValues {
  const item: ItemValues = {}
  for (const name of names) {
    const field = collection.responseFields.get(name) as PublishedField
    const stored = row[name] ?? null
    if (field.type === 'json' && typeof stored === 'string') setParsed(item, name, stored)
    else item[name] = field.show(stored)
  }
  return item
}

/** Returns a stored key as application code names it: its value, or the values of a composite key. */
export function keyValue({ key }: PublishedCollection, stored: readonly StoredValue[]): Json {
  const parts = key.map((part, index) => part.show(stored[index] ?? null))
  return parts.length === 1 ? (parts[0] ?? null) : parts
}

/** Returns the JSON text of a row's item. The text of a json field is embedded as it is stored. */
export function encodeRow(
  collection: PublishedCollection,
  row: Row,
  names: readonly string[],
): JsonText {
  if (!collection.hasJson && isWhole(row, names)) return JSON.stringify(row)
  let text = ''
  for (const name of names) {
    const field = collection.responseFields.get(name) as PublishedField
    text += (text === '' ? '{' : ',') + field.member + encodeStored(field, row[name] ?? null)
  }
  return text === '' ? '{}' : `${text}}`
}

/** Returns whether the members of a row are the named fields in their order, and no string is large. */
function isWhole(row: Row, names: readonly string[]): boolean {
  let index = 0
  for (const name in row) {
    if (name !== names[index++]) return false
    const value = row[name]
    if (value === undefined || (typeof value === 'string' && value.length > largeText)) return false
  }
  return index === names.length
}

/** Returns the JSON texts of rows. */
export function encodeRows(
  collection: PublishedCollection,
  rows: readonly Row[],
  names: readonly string[],
): readonly JsonText[] {
  return rows.map((row) => encodeRow(collection, row, names))
}

/** Returns the JSON text of a stored value. */
export function encodeStored(field: PublishedField, value: StoredValue): JsonText {
  if (typeof value !== 'string') return JSON.stringify(value)
  if (field.type === 'json') return value
  // JSON.stringify takes twice as long, and would copy a large string even if it needs no escape.
  return plainText.test(value) ? `"${value}"` : JSON.stringify(value)
}

// JSON.stringify would copy a larger string even if it needs no escape.
const largeText = 64 * 1024
const plainText = /^[^"\\\x00-\x1f\ud800-\udfff]*$/
