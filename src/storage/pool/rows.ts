import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { encodeStored } from '../../request/serialize.ts'
import type { Row } from '../adapter.ts'
import { fieldOf } from '../sql/conditions.ts'
import type { TextRow } from './connection.ts'
import type { Tables } from '../sql/dialect.ts'
import type { Sql } from '../sql/fragments.ts'
import { placeOf, typeOf } from '../sql/table-conditions.ts'

/** The rows of a statement: what they have, and where their values begin. */
export interface StatementRows {
  readonly tables: Tables
  readonly collection: PublishedCollection
  readonly names: readonly string[]
  /** Default 0. */
  readonly first?: number
}

// Statements of one shape have the same object, and rows of the same fields.
const readers = new WeakMap<Sql, ReadRow>()
const writers = new WeakMap<Sql, WriteItem>()

/** Reads a row. `before` is how many values precede those of its statement; default 0. */
type ReadRow = (values: TextRow, before?: number) => Row

/** Writes a row as JSON text. Undefined if a value does not fit its field. `before` is as for {@link ReadRow}. */
export type WriteItem = (values: TextRow, before?: number) => string | undefined

/** Returns a function that reads the rows of a statement. */
export function rowReader(sql: Sql, rows: StatementRows): ReadRow {
  let reader = readers.get(sql)
  if (reader === undefined) {
    reader = createReader(rows)
    readers.set(sql, reader)
  }
  return reader
}

function createReader(rows: StatementRows): ReadRow {
  const { tables, collection, names, first = 0 } = rows
  const place = placeOf(tables, collection)
  const members = names.map((name) => ({ name, type: typeOf(place, fieldOf(collection, name)) }))
  return (values, before = 0) => {
    const row: Record<string, StoredValue> = {}
    let index = first + before
    for (const { name, type } of members) {
      const text = values[index++] ?? null
      row[name] = text === null ? null : type.read(text)
    }
    return row
  }
}

/** Returns a function that writes the rows of a statement as JSON text. */
export function itemWriter(sql: Sql, rows: StatementRows): WriteItem {
  let writer = writers.get(sql)
  if (writer === undefined) {
    writer = createWriter(rows)
    writers.set(sql, writer)
  }
  return writer
}

/** Returns an {@link itemWriter} that is not cached. */
export function createWriter(rows: StatementRows): WriteItem {
  const { tables, collection, names, first = 0 } = rows
  const place = placeOf(tables, collection)
  const members = names.map((name, index) => {
    const field = collection.responseFields.get(name) as PublishedField
    const type = typeOf(place, field)
    return { start: `${index === 0 ? '{' : ','}${field.member}`, field, type }
  })
  return (values, before = 0) => {
    let item = ''
    let index = first + before
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
