import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { meetsAll, type MeetsThrough } from '../../request/meets.ts'
import { pageOfRows } from '../../request/page-of-rows.ts'
import type { Condition, Row, StorageQuery } from '../../request/query.ts'
import { StorageError, type StoragePage } from '../adapter.ts'

type UniqueIndex = Map<string, string>
// Null: the row that had these values has lost them.
type UniqueIndexChanges = Map<string, string | null>

/** The committed rows of a collection. */
export interface Table {
  readonly collection: PublishedCollection
  /** By the JSON text of the key or, without a key, by a serial number. In the order of insertion. */
  readonly rows: Map<string, Row>
  /** The largest number that a row has had. */
  last: bigint
  /** The keys of the rows that have the values of each unique group, in the order of `uniques`. */
  readonly uniques: readonly UniqueIndex[]
  /** The number of snapshots that use these rows. */
  readers: number
}

/** A table as one transaction sees it: the committed rows and its own changes. */
export interface TableView {
  readonly table: Table
  /** By key. Null: the row is deleted. */
  readonly changes: Map<string, Row | null>
  /** The changes of each index of the table. */
  readonly uniques: readonly UniqueIndexChanges[]
  last: bigint
  /** Finds rows of other tables, as the same transaction sees them. */
  readonly through: MeetsThrough
}

/** Creates the empty table of a collection. */
export function emptyTable(collection: PublishedCollection): Table {
  const uniques = collection.uniques.map(() => new Map<string, string>())
  return { collection, rows: new Map(), last: 0n, uniques, readers: 0 }
}

/** Creates a view of a table without changes. */
export function viewOfTable(table: Table, through: MeetsThrough): TableView {
  return { table, changes: new Map(), uniques: changesOf(table), last: table.last, through }
}

/** Returns a table with the changes of a view. A table that a snapshot uses stays as it is. */
export function changedTable({ table, changes, uniques, last }: TableView): Table {
  const target = table.readers === 0 ? table : copyOf(table)
  applyTo(target.rows, changes)
  for (const [index, changed] of uniques.entries()) applyTo(target.uniques[index], changed)
  target.last = last
  return target
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
  rejectDuplicateValues(view, key, row)
  noteValues(view, key, undefined, row)
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
  if (to !== from) rejectDuplicate(view, to)
  rejectDuplicateValues(view, from, row)
  noteValues(view, to, before, row)
  if (to !== from) view.changes.set(from, null)
  view.changes.set(to, row)
  return row
}

/** Deletes the row that meets all conditions, which contain its key. */
export function deleteRow(view: TableView, conditions: readonly Condition[]): Row | undefined {
  const row = rowWithKey(view, conditions)
  if (row === undefined) return undefined
  const key = keyOf(view.table.collection, row)
  noteValues(view, key, row, undefined)
  view.changes.set(key, null)
  return row
}

function changesOf({ uniques }: Table): readonly UniqueIndexChanges[] {
  return uniques.length === 0 ? noChanges : uniques.map(() => new Map<string, string | null>())
}

const noChanges: readonly UniqueIndexChanges[] = Object.freeze([])

function copyOf(table: Table): Table {
  const uniques = table.uniques.map((index) => new Map(index))
  return { ...table, rows: new Map(table.rows), uniques, readers: 0 }
}

function applyTo<Value>(
  target: Map<string, Value> | undefined,
  changes: ReadonlyMap<string, Value | null>,
): void {
  for (const [key, value] of changes) {
    if (value === null) target?.delete(key)
    else target?.set(key, value)
  }
}

function candidates(view: TableView, conditions: readonly Condition[]): readonly Row[] {
  const key = keyIn(view.table.collection, conditions)
  if (key === undefined) return amongValues(allRows(view), conditions)
  const row = rowAt(view, key)
  return row === undefined ? [] : [row]
}

/** Returns the rows that meet the first condition with many values. A search for each row would take long. */
function amongValues(rows: readonly Row[], conditions: readonly Condition[]): readonly Row[] {
  const list = conditions.find((one) => one.is === 'in' && one.values.length > 8)
  if (list?.is !== 'in') return rows
  const values = new Set<StoredValue | undefined>(list.values)
  return rows.filter((row) => values.has(row[list.field]))
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

function rejectDuplicateValues({ table, uniques }: TableView, key: string, row: Row): void {
  if (uniques.length === 0) return
  for (const [index, fields] of table.collection.uniques.entries()) {
    const values = valuesOf(fields, row)
    if (values === undefined) continue
    const changed = uniques[index]?.get(values)
    const owner = changed === undefined ? table.uniques[index]?.get(values) : changed
    if (owner === undefined || owner === null || owner === key) continue
    throw new StorageError('duplicate', { fields: fields.map(({ name }) => name) })
  }
}

/** Notes in the indexes that a row with this key has other values. */
function noteValues(
  { table, uniques }: TableView,
  key: string,
  before: Row | undefined,
  after: Row | undefined,
): void {
  if (uniques.length === 0) return
  for (const [index, changes] of uniques.entries()) {
    const fields = table.collection.uniques[index] ?? []
    const from = before && valuesOf(fields, before)
    const to = after && valuesOf(fields, after)
    if (from !== undefined && from !== to) changes.set(from, null)
    if (to !== undefined) changes.set(to, key)
  }
}

/** Returns the values of a unique group as text; undefined if one of them is null. */
function valuesOf(fields: readonly PublishedField[], row: Row): string | undefined {
  const values = fields.map(({ name }) => row[name] ?? null)
  return values.includes(null) ? undefined : JSON.stringify(values)
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
