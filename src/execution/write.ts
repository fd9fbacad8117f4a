import type { MaybePromise } from '../maybe-promise.ts'
import type { AfterSave, Committed } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import { notFound } from '../errors.ts'
import type { DeleteEvent, InsertEvent, UpdateEvent } from '../event/event.ts'
import type { ItemValues, Row } from '../event/query.ts'
import type { Judgement } from '../event/findings.ts'
import { reject, type Outcome } from '../event/outcome.ts'
import { itemEvent } from '../event/plan.ts'
import { itemOf } from '../event/serialize.ts'
import { wholeView, type View } from '../event/view.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import { isStorageError, type StorageReader } from '../storage/adapter.ts'
import { callHost } from './guard.ts'
import type { Terms } from './runtime.ts'
import type { Scope } from './scope.ts'

/** The item that an event is about, as it is stored. Throws NOT_FOUND when there is none. */
export async function readItem(
  reader: StorageReader,
  event: UpdateEvent | DeleteEvent,
): Promise<ItemValues> {
  const { query } = itemEvent(wholeView(event.collection), event.conditions)
  const { rows } = await reader.filter(event.collection, query)
  const [row] = rows
  if (row === undefined) throw notFound()
  return itemOf(event.collection, row)
}

/** Stores, and turns what storage objects to into a validation entry (D22). */
export async function storeOrFault(
  { collection, sendable }: View,
  store: () => MaybePromise<Row>,
): Promise<{ readonly row: Row } | { readonly fault: ValidationEntry }> {
  try {
    return { row: await store() }
  } catch (error) {
    if (!isStorageError(error)) throw error
    // A fault that concerns a field unknown to the caller is that field's: no other is named with it.
    const field = error.fields.find((name) => !sendable.byName.has(name)) ?? error.fields[0]
    const named = { severity: 'error', ...(field !== undefined && { field }) } as const
    if (error.kind === 'duplicate') {
      const names = error.fields.length === 0 ? 'unique value' : error.fields.join(', ')
      return {
        fault: { message: `Another item of ${collection.name} has this ${names}.`, ...named },
      }
    }
    if (error.kind !== 'invalid') throw error
    return {
      fault: { message: `${field ?? 'A value'} is not accepted by the database.`, ...named },
    }
  }
}

/** A save or delete that storage has done, and the transaction has not committed. */
export interface Written {
  readonly event: InsertEvent | UpdateEvent | DeleteEvent
  readonly scope: Scope
  readonly row: Row
  /** The item as it was; null for an Insert. */
  readonly stored: Readonly<ItemValues> | null
  readonly echo: Readonly<ItemValues>
  readonly judged: () => Promise<Judgement>
}

/** After the write: the `after` handler may still object, and `committed` waits for the commit. */
export async function finishWrite(written: Written, terms: Terms): Promise<Outcome> {
  const { event, scope, row, echo } = written
  const { collection, type, view } = event
  terms.running.log.writes++
  const after: ((event: AfterSave<CollectionShape>) => MaybePromise<void>) | undefined =
    collection.events[type]?.after
  let failure: string | undefined
  if (after !== undefined) {
    const fail = (message: string): void => {
      failure = message
    }
    const seen = { ...scope.context(), ...itemsOf(written), fail }
    await scope.untilRefused(() => scope.call('after', () => after(seen)))
  }
  const { objections, information } = await written.judged()
  if (objections.length > 0) return reject(type, echo, objections)
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
    runtime.track(callHost(runtime, call).catch(() => undefined))
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
