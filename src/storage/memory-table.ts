import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { meetsAll, type MeetsThrough } from '../request/meets.ts'
import { pageOfRows } from '../request/page-of-rows.ts'
import type { Condition, Row, StorageQuery } from '../request/query.ts'
import { StorageError, type StoragePage } from './adapter.ts'

/** The committed rows of a collection. */
export interface Table {
  readonly collection: PublishedCollection
  /** By the JSON text of the key or, without a key, by a serial number. In the order of insertion. */
  readonly rows: Map<string, Row>
  /** The largest number that a row has had. */
  last: bigint
  /** The number of snapshots that use these rows. */
  readers: number
}

/** A table as one transaction sees it: the committed rows and its own changes. */
export interface TableView {
  readonly table: Table
  /** By key. Null: the row is deleted. */
  readonly changes: Map<string, Row | null>
  last: bigint
  /** Finds rows of other tables, as the same transaction sees them. */
  readonly through: MeetsThrough
}

/** Returns a page of the rows of a view. */
export function pageOf(view: TableView, query: StorageQuery): StoragePage {
  const rows = candidates(view, query.conditions)
  return pageOfRows(view.table.collection, rows, query, view.through)
}

/** Adds a row to a view and returns it as stored. Generates the number of a key that has one. */
export function insertRow(view: TableView, given: Row): Row {
  const { collection } = view.table
  const number = collection.key.find((field) => field.generated === 'database')
  const values = number === undefined ? given : numbered(view, number, given)
  const row = completeRow(collection, values)
  const key = collection.key.length === 0 ? nextNumber(view).toString() : keyOf(collection, row)
  rejectDuplicate(view, key)
  view.changes.set(key, row)
  return row
}

/** Changes the row that meets all conditions, which contain its key. */
export function updateRow(
  view: TableView,
  conditions: readonly Condition[],
  changes: Row,
): Row | undefined {
  const { collection } = view.table
  const before = rowWithKey(view, conditions)
  if (before === undefined) return undefined
  const row = completeRow(collection, { ...before, ...changes })
  const [from, to] = [keyOf(collection, before), keyOf(collection, row)]
  if (to !== from) {
    rejectDuplicate(view, to)
    view.changes.set(from, null)
  }
  view.changes.set(to, row)
  return row
}

/** Deletes the row that meets all conditions, which contain its key. */
export function deleteRow(view: TableView, conditions: readonly Condition[]): Row | undefined {
  const row = rowWithKey(view, conditions)
  if (row !== undefined) view.changes.set(keyOf(view.table.collection, row), null)
  return row
}

function candidates(view: TableView, conditions: readonly Condition[]): readonly Row[] {
  const key = keyIn(view.table.collection, conditions)
  if (key === undefined) return allRows(view)
  const row = rowAt(view, key)
  return row === undefined ? [] : [row]
}

function rowWithKey(view: TableView, conditions: readonly Condition[]): Row | undefined {
  const key = keyIn(view.table.collection, conditions)
  if (key === undefined) throw new TypeError('The conditions must contain the complete key.')
  const row = rowAt(view, key)
  if (row === undefined) return undefined
  return meetsAll(view.table.collection, row, conditions, view.through) ? row : undefined
}

/** Returns the row with a key. */
export function rowAt({ table, changes }: TableView, key: string): Row | undefined {
  const changed = changes.get(key)
  return changed === undefined ? table.rows.get(key) : (changed ?? undefined)
}

function allRows({ table, changes }: TableView): readonly Row[] {
  if (changes.size === 0) return [...table.rows.values()]
  const rows = [...table.rows].map(
    ([key, row]) => changes.get(key) ?? (changes.has(key) ? null : row),
  )
  const added = [...changes].map(([key, row]) => (table.rows.has(key) ? null : row))
  return [...rows, ...added].filter((row) => row !== null)
}

function numbered(view: TableView, { name, type }: PublishedField, given: Row): Row {
  const value = given[name] ?? null
  if (value !== null) {
    const number = BigInt(value)
    if (number > view.last) view.last = number
    return given
  }
  const number = nextNumber(view)
  const largest = type === 'integer' ? BigInt(Number.MAX_SAFE_INTEGER) : 2n ** 63n - 1n
  if (number > largest) throw new StorageError('unavailable', { fields: [name] })
  return { ...given, [name]: type === 'integer' ? Number(number) : number.toString() }
}

function nextNumber(view: TableView): bigint {
  view.last += 1n
  return view.last
}

function completeRow({ fields }: PublishedCollection, values: Row): Row {
  const entries = fields.map(({ name }) => [name, values[name] ?? null] as const)
  return Object.freeze(Object.fromEntries(entries))
}

function rejectDuplicate(view: TableView, key: string): void {
  if (rowAt(view, key) === undefined) return
  throw new StorageError('duplicate', { fields: view.table.collection.key.map(({ name }) => name) })
}

function keyOf({ key }: PublishedCollection, row: Row): string {
  return JSON.stringify(key.map(({ name }) => row[name] ?? null))
}

function keyIn({ key }: PublishedCollection, conditions: readonly Condition[]): string | undefined {
  if (key.length === 0) return undefined
  const parts: StoredValue[] = []
  for (const { name } of key) {
    const found = conditions.find((one) => one.is === 'equal' && one.field === name)
    if (found?.is !== 'equal') return undefined
    parts.push(found.value)
  }
  return JSON.stringify(parts)
}
