import type { MaybePromise } from '../maybe-promise.ts'
import type { AfterSave, Committed } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import { notFound } from '../errors.ts'
import type { DeleteEvent, InsertEvent, UpdateEvent } from '../request/event.ts'
import type { ItemValues, Row } from '../request/query.ts'
import type { Decision } from '../request/findings.ts'
import { reject, type Outcome } from '../request/outcome.ts'
import { itemEvent } from '../request/plan.ts'
import { itemOf } from '../request/serialize.ts'
import { wholeView, type View } from '../request/view.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import { isStorageError, unfitError } from '../storage/adapter.ts'
import { callApplication } from './guard.ts'
import type { Terms } from './runtime.ts'
import type { Scope } from './scope.ts'

/** An item as it is stored. */
export interface StoredItem {
  readonly item: ItemValues
  /** The fields whose stored values do not fit. The item has null in place of each. */
  readonly unfit: readonly string[]
}

/**
 * Reads the item of an Update or Delete. Throws NOT_FOUND if it does not exist. Stored values that do
 * not fit their fields are reported and left out, so that the item can be corrected or deleted.
 */
export async function readItem(
  event: UpdateEvent | DeleteEvent,
  { running, runtime }: Terms,
): Promise<StoredItem> {
  const { collection } = event
  const { query } = itemEvent(wholeView(collection), event.conditions)
  const read = async (select: readonly string[]): Promise<ItemValues> => {
    const { rows } = await running.transaction.filter(collection, { ...query, select })
    const [row] = rows
    if (row === undefined) throw notFound()
    return itemOf(collection, row)
  }
  try {
    return { item: await read(query.select), unfit: [] }
  } catch (error) {
    if (!isStorageError(error) || error.kind !== 'unfit' || error.fields.length === 0) throw error
    const unfit = error.fields
    const item = await read(query.select.filter((name) => !unfit.includes(name)))
    const { application, name } = collection
    const place = { application, collection: name, event: event.type }
    runtime.report({ type: 'stored-value-unfit', place, error })
    return { item, unfit }
  }
}

/** Runs a write. Returns a validation entry if storage rejects a value, or finds a duplicate. */
export async function storeOrFault(
  { collection, sendable }: View,
  store: () => MaybePromise<Row>,
): Promise<{ readonly row: Row } | { readonly fault: ValidationEntry }> {
  try {
    return { row: await store() }
  } catch (error) {
    if (!isStorageError(error)) throw error
    // If the caller can't see one of the fields, the entry names that one, so that it is hidden later.
    const field = error.fields.find((name) => !sendable.byName.has(name)) ?? error.fields[0]
    const named = { severity: 'error', ...(field !== undefined && { field }) } as const
    if (error.kind === 'duplicate') {
      const names = error.fields.length === 0 ? 'unique value' : error.fields.join(', ')
      return {
        fault: { message: `Another item of ${collection.name} has this ${names}.`, ...named },
      }
    }
    if (error.kind !== 'invalid') throw error
    const names = error.fields.length === 0 ? 'A value' : error.fields.join(', ')
    return { fault: { message: `${names} is not accepted by the database.`, ...named } }
  }
}

/** A save or delete that is written, but not committed. */
export interface Written {
  readonly event: InsertEvent | UpdateEvent | DeleteEvent
  readonly scope: Scope
  readonly row: Row
  /** The item as it was; null for an Insert. */
  readonly stored: Readonly<ItemValues> | null
  readonly echo: Readonly<ItemValues>
  /** The fields whose stored values were reported already, because they do not fit. */
  readonly unfit: readonly string[]
  readonly decided: () => Promise<Decision>
}

/** Completes a write: the `after` handler may still reject it; `committed` runs after the commit. */
export async function finishWrite(written: Written): Promise<Outcome> {
  const { event, scope, row, echo } = written
  const { terms } = scope
  const { collection, type, view } = event
  terms.running.log.writes++
  reportUnfit(written, terms)
  const after: ((event: AfterSave<CollectionShape>) => MaybePromise<void>) | undefined =
    collection.events[type]?.after
  let failure: string | undefined
  if (after !== undefined) {
    const fail = (message: string): void => {
      failure = message
    }
    const seen = { ...scope.context(), ...itemsOf(written), fail }
    await scope.untilRejected(() => scope.call('after', () => after(seen)))
  }
  const { blocking, information } = await written.decided()
  if (blocking.length > 0) return reject(type, echo, [...blocking, ...information])
  announceCommit(written, terms)
  const select = view.readable.allNames
  return {
    type: 'item',
    collection,
    select,
    item: { row },
    validations: information,
    ...(failure !== undefined && { failure }),
  }
}

// Storage leaves a value that does not fit out of the row that an update or delete returns.
function reportUnfit({ event, row, unfit }: Written, { runtime }: Terms): void {
  const { collection, type } = event
  if (type === 'Insert') return
  const missing = collection.allNames.filter((name) => row[name] === undefined)
  if (missing.length === 0 || missing.every((name) => unfit.includes(name))) return
  const key = event.key.map((part) => JSON.stringify(part))
  const values = missing.map((field) => ({ field, found: 'another value' }))
  const place = { application: collection.application, collection: collection.name, event: type }
  runtime.report({ type: 'stored-value-unfit', place, error: unfitError(collection, key, values) })
}

function announceCommit(written: Written, { runtime, caller, running }: Terms): void {
  const { collection, type } = written.event
  const committed: ((event: Committed<CollectionShape>) => unknown) | undefined =
    collection.events[type]?.committed
  if (committed === undefined) return
  const place = { application: collection.application, collection: collection.name, event: type }
  const run = async () => {
    try {
      await committed({ event: type, principal: caller.principal, ...itemsOf(written) })
    } catch (error) {
      runtime.report({ type: 'committed-handler-failed', place, error })
    }
  }
  running.log.committed.push(() => {
    const call = { place, name: 'committed', run, abort: () => undefined, onWait: () => undefined }
    runtime.track(callApplication(runtime, call).catch(() => undefined))
  })
}

function itemsOf({
  event,
  row,
  stored,
}: Written): Pick<Committed<CollectionShape>, 'item' | 'stored'> {
  const item = Object.freeze(itemOf(event.collection, row))
  return { item, stored }
}
