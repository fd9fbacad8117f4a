import type { AfterSave, Committed } from '../../definition/handler.ts'
import type { CollectionShape, Item } from '../../definition/item.ts'
import { whenDone, type MaybePromise } from '../../maybe-promise.ts'
import { givenMessage, type MessageText } from '../../messages/message.ts'
import { changedRow, constraintFaults, frozenItem } from '../../request/item-values.ts'
import type { ItemValues } from '../../request/query.ts'
import { itemOf } from '../../request/serialize.ts'
import { callAfterCommit } from '../guard.ts'
import { decide, type Rejection, type Save } from './stage.ts'

/**
 * Calls the `before` handler, and checks the item that it may have changed. Later stages use a copy of that item,
 * because code that has not been awaited may still change it.
 */
export function callBefore(save: Save): MaybePromise<Rejection> {
  const { event, scope, stored } = save
  const { collection, type } = event
  const before = collection.events[type]?.before as Handler | undefined
  if (before === undefined) return undefined
  const { prepared } = scope
  const item = save.draft && itemOf(collection, save.draft)
  const shown = { stored: stored && frozenItem(collection, stored), prepared }
  const own = item === null ? shown : { item, ...shown }
  const seen = Object.assign(own, scope.context())
  const called = unlessRejected(save, () => scope.call('before', () => before(seen)))
  if (item === null) return called
  return whenDone(called, (rejection) => rejection ?? takeChanges(save, item))
}

type Handler = (event: object) => MaybePromise<void>

function takeChanges(save: Save, item: ItemValues): MaybePromise<Rejection> {
  const { event, scope, stored } = save
  const { collection } = event
  const changed = scope.call('before', () => changedRow(collection, item, stored))
  return whenDone(changed, (row) => {
    scope.add(constraintFaults(collection, row))
    save.draft = row
    return undefined
  })
}

/** Calls the `after` handler, which may still reject the save. */
export function callAfter(save: Save): MaybePromise<Rejection> {
  const { event, scope } = save
  const after: ((event: AfterSave<CollectionShape>) => MaybePromise<void>) | undefined =
    event.collection.events[event.type]?.after
  if (after === undefined) return undefined
  let failure: MessageText | undefined
  const fail = (message: MessageText): void => {
    givenMessage(message)
    failure = message
  }
  const { item, stored } = itemsOf(save)
  const seen = { item, stored, prepared: scope.prepared, fail, ...scope.context() }
  const called = unlessRejected(save, () => scope.call('after', () => after(seen)))
  return whenDone(called, (rejection) => {
    save.failure = failure
    return rejection
  })
}

/** Calls the `committed` handler of a save once it is committed. */
export function callWhenCommitted(save: Save): void {
  const { collection, type } = save.event
  const committed: ((event: Committed<CollectionShape>) => unknown) | undefined =
    collection.events[type]?.committed
  if (committed === undefined) return
  const { unit, caller } = save.scope
  const { principal } = caller
  const place = { application: collection.application, collection: collection.name, event: type }
  const run = () => committed({ event: type, principal, ...itemsOf(save) })
  unit.onCommit(() => {
    callAfterCommit(unit.runtime, place, run)
  })
}

/** Calls a handler. If it calls `reject`, the save ends with the findings so far. */
function unlessRejected(save: Save, call: () => MaybePromise<void>): MaybePromise<Rejection> {
  return whenDone(save.scope.untilRejected(call), (isCompleted) =>
    isCompleted ? undefined : decide(save),
  )
}

/** Returns the items that a handler receives after the write. */
function itemsOf({ event, written, stored }: Save): {
  readonly item: Item<CollectionShape>
  readonly stored: Readonly<ItemValues> | null
} {
  const { collection } = event
  if (!('row' in written)) throw new Error('The written item has no row.')
  return {
    item: frozenItem(collection, written.row),
    stored: stored && frozenItem(collection, stored),
  }
}
