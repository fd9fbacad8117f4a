import type { PublishedField } from '../definition/published-field.ts'
import { notFound } from '../errors.ts'
import { whenDone, whenFailed, type MaybePromise } from '../maybe-promise.ts'
import type { DataEvent, InsertEvent, UpdateEvent } from '../request/event.ts'
import type { ItemOutcome } from '../request/outcome.ts'
import type { Row } from '../request/query.ts'
import { changesReadReference } from './references.ts'
import type { Terms } from './runtime.ts'
import { isAboutItem } from './write-faults.ts'

/**
 * Returns whether the submitted values of an Update can be saved whatever the stored item is: they have no
 * errors, and no code or row rule has to see the item.
 */
export function decidesAlone(event: UpdateEvent, terms: Terms): boolean {
  const { collection, view, submitted } = event
  const { serve, rulesOn, events, references } = collection
  if (serve !== undefined || rulesOn.Update.length > 0 || view.rows.length > 0) return false
  if (events.Update !== undefined && seesItem(events.Update)) return false
  if (submitted.faults.length > 0 || submitted.computed !== undefined) return false
  if (references.length > 0 && changesReadReference(event, terms)) return false
  const { values } = submitted
  // A value that is sent back unchanged must not be written, for instance into a column that the database computes. So
  // the item is read also for application code, which may set read-only fields.
  for (const { name } of view.fixed) if (values[name] !== undefined) return false
  for (const { name, required } of collection.fields) {
    if (required && values[name] === null) return false
  }
  return true
}

/**
 * Returns what an Update writes whose submitted values decide alone. They may repeat the key, which does not change: a
 * database may reject any value for it.
 */
export function unreadChanges({ collection, submitted }: UpdateEvent): Row {
  const { values } = submitted
  if (collection.key.every(({ name }) => values[name] === undefined)) return values
  const names = new Set(collection.key.map(({ name }) => name))
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)))
}

function seesItem(handlers: object): boolean {
  return Object.keys(handlers).some((moment) => moment !== 'prepare')
}

/**
 * Returns the fields that the caller can't set. Clients can't set read-only ones; handlers and `system`
 * can.
 */
export function fixedIn(
  { view }: InsertEvent | UpdateEvent,
  { running, caller }: Terms,
): readonly PublishedField[] {
  const isByApplication = running.depth > 1 || caller.principal.kind === 'system'
  return isByApplication ? view.unwritable : view.fixed
}

/**
 * Runs an Update whose submitted values decide alone, if storage can return the changed item as JSON text.
 * Undefined: run it as any other save. So is an Update that storage rejects, because a save finds out which fields are
 * wrong.
 */
export function updateAsText(
  event: DataEvent,
  terms: Terms,
): MaybePromise<ItemOutcome | undefined> {
  const { transaction, log } = terms.running
  if (event.type !== 'Update' || transaction?.updateText === undefined) return undefined
  if (event.output !== undefined || !decidesAlone(event, terms)) return undefined
  const { collection, conditions } = event
  const select = event.view.readable.allNames
  const updated = whenFailed<string | null | undefined>(
    () => transaction.updateText?.(collection, conditions, unreadChanges(event), select),
    (error) => {
      if (!isAboutItem(error)) throw error
      return undefined
    },
  )
  return whenDone(updated, (json) => {
    if (json === null) throw notFound()
    if (json === undefined) return undefined
    log.writes++
    return { type: 'item', collection, select, item: { json }, validations: [] }
  })
}
