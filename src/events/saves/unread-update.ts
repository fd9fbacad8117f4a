import type { PublishedField } from '../../definition/published-field.ts'
import { notFound } from '../../errors.ts'
import { whenDone, whenFailed, type MaybePromise } from '../../maybe-promise.ts'
import type { InsertEvent, UpdateEvent } from '../../request/event.ts'
import type { Row } from '../../request/query.ts'
import { roomConditions } from './increments.ts'
import { changesReadReference } from './references.ts'
import type { WrittenItem } from './stage.ts'
import type { Scope } from '../scope.ts'
import { writtenRow } from './stored-item.ts'
import { isAboutItem } from './write-faults.ts'

/**
 * Returns whether the submitted values of an Update can be saved whatever the stored item is: they have no errors, the
 * client expects no state of the item, and no application code or row rule needs it.
 */
export function needsNoStoredItem(event: UpdateEvent, scope: Scope): boolean {
  const { collection, view, submitted, increments, expected } = event
  if (expected !== undefined) return false
  if (increments !== undefined && roomConditions(event, scope.unit.runtime.adapter) === undefined)
    return false
  const { serve, rulesOn, events, references } = collection
  if (serve !== undefined || rulesOn.Update.length > 0 || view.rows.length > 0) return false
  if (events.Update !== undefined && handlersNeedItem(events.Update)) return false
  if (submitted.faults.length > 0 || submitted.computed !== undefined) return false
  if (references.length > 0 && changesReadReference(event, scope)) return false
  const { values } = submitted
  // A value that is sent back unchanged must not be written, for instance into a column that the database computes. So
  // the item is read also for application code, which may set read-only fields.
  for (const { name } of view.fixed) if (values[name] !== undefined) return false
  for (const { name, required } of collection.fields) {
    if (required && values[name] === null) return false
  }
  return true
}

function handlersNeedItem(handlers: object): boolean {
  return Object.keys(handlers).some((moment) => moment !== 'prepare')
}

/**
 * Returns the fields that the caller can't set. Clients can't set read-only ones; handlers and `system`
 * can.
 */
export function fixedIn(
  { view }: InsertEvent | UpdateEvent,
  { unit, caller }: Scope,
): readonly PublishedField[] {
  const isByApplication = unit.depth > 1 || caller.principal.kind === 'system'
  return isByApplication ? view.unwritable : view.fixed
}

/** Writes an Update that needs no stored item. Returns JSON text if the response may be, and storage writes it. */
export function writeUnread(event: UpdateEvent, scope: Scope): MaybePromise<WrittenItem> {
  const { collection, conditions, view, output } = event
  const { form, source } = scope
  const changes = unreadChanges(event)
  if (form === 'rows' || output !== undefined || source.updateText === undefined)
    return updateUnread(event, scope, changes)
  const text = whenFailed(
    () => source.updateText?.(collection, conditions, changes, view.readable.allNames),
    (error) => {
      // An update that returns a row finds out which fields are wrong.
      if (!isAboutItem(error)) throw error
      return undefined
    },
  )
  return whenDone(text, (json) => {
    if (json === null) throw notFound()
    return json === undefined ? updateUnread(event, scope, changes) : { json }
  })
}

/**
 * Adds the increments of an Update that needs no stored item, and writes its values. Undefined if the item does not exist, has
 * no room for them, or storage rejects a value: nothing is written then.
 */
export function addUnread(event: UpdateEvent, scope: Scope): MaybePromise<Row | undefined> {
  const { collection, conditions, increments = {} } = event
  const room = roomConditions(event, scope.unit.runtime.adapter) ?? []
  const amounts = Object.entries(increments).map(([name, { amount }]) => [name, amount] as const)
  return whenFailed(
    () =>
      whenDone(
        scope.source.update(
          collection,
          [...conditions, ...room],
          unreadChanges(event),
          Object.fromEntries(amounts),
        ),
        (row) => row && writtenRow(event, scope, row, { reported: [] }),
      ),
    (error) => {
      if (!isAboutItem(error)) throw error
      return undefined
    },
  )
}

function updateUnread(event: UpdateEvent, scope: Scope, changes: Row): MaybePromise<WrittenItem> {
  const { collection, conditions } = event
  const updated = scope.source.update(collection, conditions, changes)
  return whenDone(updated, (row) => ({ row: writtenRow(event, scope, row, { reported: [] }) }))
}

/**
 * Returns the values that an Update writes that needs no stored item. The submitted values may repeat the key, which
 * does not change: a database may reject any value for it.
 */
function unreadChanges({ collection, submitted }: UpdateEvent): Row {
  const { values } = submitted
  if (collection.key.every(({ name }) => values[name] === undefined)) return values
  const names = new Set(collection.key.map(({ name }) => name))
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)))
}
