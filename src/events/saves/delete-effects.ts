import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type {
  IncomingReference,
  PublishedCollection,
  Reference,
} from '../../definition/published.ts'
import { errorOf } from '../../errors.ts'
import { messageOf } from '../../messages/message.ts'
import type { DeleteEvent } from '../../request/event.ts'
import { oneItem, type Condition, type Row } from '../../request/query.ts'
import { tableIn, type StorageAdapter } from '../../storage/adapter.ts'
import { equalTo } from './references.ts'
import type { Scope } from '../scope.ts'

const batchSize = 500
const maxLevels = 1000

/** A row of storage. */
export interface StoredRow {
  readonly collection: PublishedCollection
  readonly row: Row
}

/** The changes that a delete requires. */
export interface Effects {
  /** The rows to delete. The first is the item of the event; each row precedes the rows that refer to it. */
  readonly doomed: readonly StoredRow[]
  /** The rows whose fields become null. */
  readonly detached: readonly (StoredRow & { readonly fields: readonly string[] })[]
  /** The references that restrict the delete, with the values of a referring row. */
  readonly restricting: ReadonlyMap<Reference, readonly Condition[]>
  /** How many levels of items are deleted. */
  readonly levels: number
}

/**
 * Returns the effects of deleting an item; undefined if the item does not exist. Throws ITEM_IN_USE if there are too
 * many levels of items.
 */
export async function effectsOf(event: DeleteEvent, scope: Scope): Promise<Effects | undefined> {
  const { collection, conditions } = event
  const { adapter } = scope.unit.runtime
  const reader = readerOf(scope)
  const { rows } = await scope.source.filter(
    collection,
    oneItem(conditions, namesToRead(collection)),
  )
  const [first] = rows
  if (first === undefined) return undefined
  const doomed: StoredRow[] = [{ collection, row: first }]
  const idOf = identityIn(adapter)
  const ids = new Set([idOf(collection, first)])
  const detaching: (StoredRow & { readonly fields: readonly string[] })[] = []
  let level = 0
  for (let from = 0; from < doomed.length; level++) {
    if (level > maxLevels)
      throw errorOf('ITEM_IN_USE', messageOf('tooManyLevels', { maximum: maxLevels }))
    const added: StoredRow[] = []
    for (const [reference, keys] of referencesTo(doomed.slice(from), adapter)) {
      if (reference.onDelete === 'restrict') continue
      for await (const row of referringRows(reader, reference, keys)) {
        const stored = { collection: reference.from, row }
        const id = idOf(reference.from, row)
        if (ids.has(id)) continue
        if (reference.onDelete === 'setNull') {
          detaching.push({ ...stored, fields: reference.fields.map(({ name }) => name) })
          continue
        }
        ids.add(id)
        added.push(stored)
      }
    }
    from = doomed.length
    doomed.push(...added)
  }
  const detached = detaching.filter((one) => !ids.has(idOf(one.collection, one.row)))
  const restricting = await restrictingRows({ doomed, ids, adapter }, reader)
  return { doomed, detached, restricting, levels: level }
}

interface DoomedRows extends Pick<Effects, 'doomed'> {
  readonly ids: ReadonlySet<string>
  readonly adapter: StorageAdapter
}

async function restrictingRows(
  { doomed, ids, adapter }: DoomedRows,
  reader: RowReader,
): Promise<Effects['restricting']> {
  const found = new Map<Reference, readonly Condition[]>()
  const idOf = identityIn(adapter)
  for (const [reference, keys] of referencesTo(doomed, adapter)) {
    const { from, fields, onDelete } = reference
    if (onDelete !== 'restrict') continue
    for await (const row of referringRows(reader, reference, keys)) {
      if (from.key.length > 0 && ids.has(idOf(from, row))) continue
      found.set(reference, equalTo(fields, valuesIn(row, fields)))
      break
    }
  }
  return found
}

/** Returns the references to rows, with the values that their fields have. */
function referencesTo(
  rows: readonly StoredRow[],
  adapter: StorageAdapter,
): ReadonlyMap<Reference, readonly (readonly StoredValue[])[]> {
  const found = new Map<Reference, (readonly StoredValue[])[]>()
  for (const { collection, row } of rows) {
    for (const { reference, key } of referencesInto(collection, adapter)) {
      const values = valuesIn(row, key)
      const known = found.get(reference)
      if (known === undefined) found.set(reference, [values])
      else known.push(values)
    }
  }
  return found
}

/** Reads the rows whose reference has one of the values. */
async function* referringRows(
  reader: RowReader,
  { from, fields }: Reference,
  keys: readonly (readonly StoredValue[])[],
): AsyncGenerator<Row> {
  const [only] = keys
  if (only !== undefined && keys.length === 1) {
    yield* reader.rows(from, equalTo(fields, only))
    return
  }
  // The field that excludes most of the other rows.
  const lists = fields.map(({ name }, index) => ({
    name,
    values: [...new Set(keys.map((key) => key[index] as NonNullable<StoredValue>))],
  }))
  const [longest] = lists.toSorted((one, other) => other.values.length - one.values.length)
  const wanted = new Set(keys.map((key) => JSON.stringify(key)))
  const { name: field, values } = longest as (typeof lists)[number]
  for (let at = 0; at < values.length; at += batchSize) {
    const among: Condition = { field, is: 'in', values: values.slice(at, at + batchSize) }
    for await (const row of reader.rows(from, [among]))
      if (wanted.has(JSON.stringify(valuesIn(row, fields)))) yield row
  }
}

interface RowReader {
  /** Reads all rows that meet conditions. The first read is of one row. */
  rows(collection: PublishedCollection, conditions: readonly Condition[]): AsyncGenerator<Row>
}

function readerOf({ source }: Scope): RowReader {
  return {
    async *rows(collection, conditions) {
      const sort = collection.tieBreakers.map(({ name }) => ({ field: name, descending: false }))
      const select = namesToRead(collection)
      for (let offset = 0, limit = 1; ; offset += limit, limit *= batchSize) {
        const query = { ...oneItem(conditions, select), sort, offset, limit }
        const { rows } = await source.filter(collection, query)
        yield* rows
        if (rows.length < limit) return
      }
    },
  }
}

/** Returns the fields that are read of each row. */
export function namesToRead({
  key,
  tieBreakers,
  references,
  referredBy,
}: PublishedCollection): readonly string[] {
  const own = key.length > 0 ? key : tieBreakers
  const fields = [
    ...own,
    ...references.flatMap((reference) => reference.fields),
    ...referredBy.flatMap((one) => one.key),
  ]
  return [...new Set(fields.map(({ name }) => name))]
}

/** Returns the references to the rows of a collection. Its definition alone does not show which tables are the same. */
export function referencesInto(
  collection: PublishedCollection,
  adapter: StorageAdapter,
): readonly IncomingReference[] {
  return collection.referredBy.filter(
    ({ reference: { to } }) =>
      to === collection || tableIn(adapter, to) === tableIn(adapter, collection),
  )
}

function identityIn(
  adapter: StorageAdapter,
): (collection: PublishedCollection, row: Row) => string {
  return (collection, row) => {
    const key = collection.key.map(({ name }) => row[name] ?? null)
    return JSON.stringify([tableIn(adapter, collection), key])
  }
}

function valuesIn(row: Row, fields: readonly PublishedField[]): readonly StoredValue[] {
  return fields.map(({ name }) => row[name] ?? null)
}
