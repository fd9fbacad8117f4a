import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { messageOf, type Named } from '../../messages/message.ts'
import type { ValidationEntry } from '../../protocol/envelope.ts'
import type { DataEvent, DeleteEvent, InsertEvent, UpdateEvent } from '../../request/event.ts'
import { keyFaults } from '../../request/item-path.ts'
import type { Outcome } from '../../request/outcome.ts'
import { oneItem, type Row } from '../../request/query.ts'
import { entriesFor, groupEntries } from '../../request/view.ts'
import { isStorageError, type StorageError } from '../../storage/adapter.ts'
import { HandlerRejection } from '../guard.ts'
import {
  equalTo,
  isChanged,
  missingReferences,
  storedValues,
  type ReferringItem,
} from './references.ts'
import type { Scope } from '../scope.ts'
import { rejection } from './stage.ts'

/** A save whose write has failed. */
export interface FailedSave {
  readonly event: InsertEvent | UpdateEvent | DeleteEvent
  readonly scope: Scope
  readonly stored: Row | null
  readonly draft: Row | null
}

/** Thrown instead of a write of an item that refers to items which do not exist. */
export class MissingReference extends Error {}

/** Thrown instead of a write of values that do not fit the stored item. */
export class RejectedValues extends Error {
  readonly faults: readonly ValidationEntry[]

  constructor(faults: readonly ValidationEntry[]) {
    super()
    this.faults = faults
  }
}

/**
 * Returns the entries of the client for a failed write. Throws the error if it is not about the item. Storage reports
 * one violated constraint; all references and unique groups of the definition are checked again, so that the entries
 * are the same on every storage.
 */
export async function writeFaults(
  save: FailedSave,
  error: unknown,
): Promise<readonly ValidationEntry[]> {
  // Its message is among the findings.
  if (error instanceof HandlerRejection) return []
  if (error instanceof RejectedValues) return error.faults
  const { event } = save
  const isMissing = error instanceof MissingReference
  if (event.type === 'Delete' || (!isMissing && !isAboutItem(error))) throw error
  const { uniques, references } = event.collection
  const reported = isMissing ? [] : entriesOf(event.collection, error)
  if (uniques.length === 0 && references.length === 0) return reported
  try {
    const found = await violations({ ...save, event })
    return found.length > 0 ? found : reported
  } catch (failure) {
    // Not every storage can read after a failure. Before a write, nothing has failed yet.
    if (isMissing || !isStorageError(failure)) throw failure
    return reported
  }
}

/** Returns the errors of a key that the default of a column has given to a new item. */
export function writtenKeyFaults(
  { collection, type, view }: FailedSave['event'],
  row: Row,
): readonly ValidationEntry[] {
  if (type !== 'Insert' || !collection.hasColumnDefaults) return noEntries
  if (!collection.key.some(({ hasColumnDefault }) => hasColumnDefault)) return noEntries
  return entriesFor(view, keyFaults(collection, row))
}

const noEntries: readonly ValidationEntry[] = []

/** Returns whether an error says that storage does not accept a value, or has a duplicate of it. */
export function isAboutItem(error: unknown): error is StorageError {
  return isStorageError(error) && (error.kind === 'duplicate' || error.kind === 'invalid')
}

/** Returns the entries for an error about an item of a collection. */
export function entriesOf(
  collection: PublishedCollection,
  { kind, fields }: StorageError,
): readonly ValidationEntry[] {
  if (kind === 'duplicate') return duplicateEntries(collection, fields)
  const named = { fields: labelled(collection, fields) }
  if (fields.length === 0)
    return groupEntries(fields, messageOf('someValueRejected', {}), 'sendable')
  const name = fields.length > 1 ? 'valuesRejected' : 'valueRejected'
  return groupEntries(fields, messageOf(name, named), 'sendable')
}

/** Returns an entry for each field of a key or a unique group. A value that the caller can't read may be in use. */
function duplicateEntries(
  collection: PublishedCollection,
  fields: readonly string[],
): readonly ValidationEntry[] {
  const { name } = collection
  const message =
    fields.length === 0
      ? messageOf('repeatedValue', { collection: name })
      : messageOf('repeated', { collection: name, fields: labelled(collection, fields) })
  return groupEntries(fields, message, 'readable')
}

/** Returns fields as messages name them. Storage may name columns that are not fields. */
function labelled({ byName }: PublishedCollection, names: readonly string[]): readonly Named[] {
  return names.map((name) => byName.get(name) ?? { name })
}

type FailedWrite = FailedSave & { readonly event: InsertEvent | UpdateEvent }

async function violations(save: FailedWrite): Promise<readonly ValidationEntry[]> {
  const { collection } = save.event
  const referring = await referringItem(save)
  if (referring === undefined) return []
  const missing = await missingReferences(referring)
  const repeated = await repeatedGroups(referring)
  return [
    ...missing.flatMap(({ fields, to }) => {
      const message = messageOf('unreferenced', { fields, collection: to.name })
      return groupEntries(namesOf(fields), message, 'sendable')
    }),
    ...repeated.flatMap((fields) => duplicateEntries(collection, namesOf(fields))),
  ]
}

/** Returns the item that was to be written. An update that was written without reading it reads it now. */
async function referringItem(save: FailedWrite): Promise<ReferringItem | undefined> {
  const { event, scope, stored, draft } = save
  if (draft !== null) return { event, scope, stored, item: draft }
  if (event.type === 'Insert') return undefined
  const { collection, conditions, submitted } = event
  const query = oneItem(conditions, collection.allNames)
  const { rows } = await scope.source.filter(collection, query)
  const [row] = rows
  if (row === undefined) return undefined
  return { event, scope, stored: row, item: { ...row, ...submitted.values } }
}

/** Returns the key and the unique groups that another item has as well. */
async function repeatedGroups(
  referring: ReferringItem,
): Promise<readonly (readonly PublishedField[])[]> {
  const { event, scope, stored, item } = referring
  const { collection } = event
  const { key, uniques } = collection
  const groups = stored === null && key.length > 0 ? [key, ...uniques] : uniques
  const repeated: (readonly PublishedField[])[] = []
  for (const fields of groups) {
    const values = storedValues(fields, item)
    if (values === undefined || !isChanged(fields, referring)) continue
    const query = oneItem(equalTo(fields, values), namesOf(fields))
    const { rows } = await scope.source.filter(collection, query)
    if (rows.length > 0) repeated.push(fields)
  }
  return repeated
}

function namesOf(fields: readonly PublishedField[]): readonly string[] {
  return fields.map(({ name }) => name)
}

/** Returns the outcome of a save that storage rejects only at the commit; undefined if the error is not about its item. */
export function rejectedAtCommit(event: DataEvent, error: unknown): Outcome | undefined {
  if (event.type === 'Filter' || event.type === 'Delete' || !isAboutItem(error)) return undefined
  return rejection(event, entriesFor(event.view, entriesOf(event.collection, error)))
}
