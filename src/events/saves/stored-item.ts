import { errorOf, notFound } from '../../errors.ts'
import { whenDone, whenFailed, type MaybePromise } from '../../maybe-promise.ts'
import { messageOf } from '../../messages/message.ts'
import type { EventPlace } from '../../observation/reports.ts'
import { entryOf } from '../../protocol/envelope.ts'
import { stateOf } from '../../request/entity-tag.ts'
import type { DeleteEvent, UpdateEvent } from '../../request/event.ts'
import { itemEvent } from '../../request/plan.ts'
import type { Row, StorageQuery } from '../../request/query.ts'
import { wholeView } from '../../request/view.ts'
import { isStorageError, unfitError, type StorageError } from '../../storage/adapter.ts'
import type { Scope } from '../scope.ts'

/** An item as it is stored. */
interface StoredItem {
  readonly stored: Row
  /** The fields whose stored values do not fit. The row has null in place of each. */
  readonly unfit: readonly string[]
}

/**
 * Reads the item of an Update or Delete, and locks it unless it is a preview. Throws NOT_FOUND if it does not exist, and
 * PRECONDITION_FAILED if it is not in a state that the client expects. Stored values that do not fit their fields are
 * reported and left out, so that the item can be corrected or deleted.
 */
export function readItem(
  event: UpdateEvent | DeleteEvent,
  scope: Scope,
  isPreview = false,
): MaybePromise<StoredItem> {
  const { collection, conditions } = event
  const read = itemEvent(wholeView(collection), conditions)
  const query = isPreview ? read.query : { ...read.query, lock: true }
  const reading = whenFailed<StoredItem>(
    () =>
      whenDone(scope.source.filter(collection, query), ({ rows: [row] }) => {
        if (row === undefined) throw notFound()
        return { stored: row, unfit: [] }
      }),
    (error) => {
      if (!isStorageError(error) || error.kind !== 'unfit' || error.fields.length === 0) throw error
      return readFitting(event, scope, query, error)
    },
  )
  return event.expected === undefined
    ? reading
    : whenDone(reading, (item) => requireExpected(event, item))
}

function requireExpected(
  { view, expected }: UpdateEvent | DeleteEvent,
  item: StoredItem,
): MaybePromise<StoredItem> {
  return whenDone(stateOf(view, { row: item.stored }), (state) => {
    if (expected?.has(state) === true) return item
    throw errorOf('PRECONDITION_FAILED', messageOf('itemChanged', {}))
  })
}

/** Reads the values of an item that fit. */
async function readFitting(
  event: UpdateEvent | DeleteEvent,
  { source, unit }: Scope,
  query: StorageQuery,
  error: StorageError,
): Promise<StoredItem> {
  const unfit = error.fields
  const select = query.select.filter((name) => !unfit.includes(name))
  const { rows } = await source.filter(event.collection, { ...query, select })
  const [row] = rows
  if (row === undefined) throw notFound()
  unit.runtime.report({ type: 'stored-value-unfit', place: placeOf(event), error })
  return { stored: { ...row, ...nullsOf(unfit) }, unfit }
}

/** The fields with unfit values that were reported before, and the fields about which information was added. */
interface KnownUnfit {
  readonly reported: readonly string[]
  readonly added?: readonly string[]
}

/**
 * Returns the row that an Update or Delete has written. Throws NOT_FOUND if there is none. Storage omits unfit values:
 * each is reported, and the response has null and information about it.
 */
export function writtenRow(
  event: UpdateEvent | DeleteEvent,
  scope: Scope,
  row: Row | undefined,
  { reported, added = [] }: KnownUnfit,
): Row {
  if (row === undefined) throw notFound()
  const { collection } = event
  if (collection.allNames.every((name) => row[name] !== undefined)) return row
  const missing = collection.allNames.filter((name) => row[name] === undefined)
  addUnfit(
    event,
    scope,
    missing.filter((name) => !added.includes(name)),
  )
  if (missing.every((name) => reported.includes(name))) return row
  const key = event.key.map((part) => JSON.stringify(part))
  const values = missing.map((field) => ({ field, found: 'another value' }))
  const error = unfitError(collection, key, values)
  scope.unit.runtime.report({ type: 'stored-value-unfit', place: placeOf(event), error })
  return row
}

/** Adds information about unfit stored values. The response contains it for the fields that the caller can read. */
export function addUnfit(
  { view }: UpdateEvent | DeleteEvent,
  scope: Scope,
  names: readonly string[],
): void {
  const shown = names.flatMap((name) => view.readable.byName.get(name) ?? [])
  scope.add(
    shown.map((field) => entryOf(messageOf('unfitValue', { field }), field.name, 'information')),
  )
}

function nullsOf(names: readonly string[]): Row {
  return Object.fromEntries(names.map((name) => [name, null]))
}

function placeOf({ collection, type }: UpdateEvent | DeleteEvent): EventPlace {
  return { application: collection.application, collection: collection.name, event: type }
}
