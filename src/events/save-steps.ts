import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { notFound } from '../errors.ts'
import { whenDone, whenFailed, type MaybePromise } from '../maybe-promise.ts'
import type { EventPlace } from '../observation/reports.ts'
import { messageOf } from '../messages/message.ts'
import { entryOf, type ValidationEntry } from '../protocol/envelope.ts'
import { completeRow } from '../request/item-values.ts'
import type { DeleteEvent, InsertEvent, UpdateEvent } from '../request/event.ts'
import { itemEvent } from '../request/plan.ts'
import type { Row } from '../request/query.ts'
import { rowValues } from '../request/rows.ts'
import { fault, isSame } from '../request/submitted.ts'
import { wholeView } from '../request/view.ts'
import { isStorageError, unfitError } from '../storage/adapter.ts'
import { computedFaults } from './computed.ts'
import { deleteReferred } from './delete-referred.ts'
import type { Terms } from './runtime.ts'
import type { SaveSteps } from './save.ts'
import type { Scope } from './scope.ts'
import { decidesAlone, fixedIn, unreadChanges } from './unread-update.ts'

/** The steps of an Insert: the submitted values, completed with defaults. */
export const insertSteps: SaveSteps<InsertEvent> = {
  open(event, scope) {
    const { collection, view } = event
    const { terms } = scope
    const submitted = settable(event, terms)
    // Absent fields of the row rule take the values that the rule requires.
    const given =
      view.rows.length === 0 ? submitted : Object.assign(rowValues(view.rows), submitted)
    const complete = () => completeRow(collection, given, terms.runtime.now)
    const completed = collection.computesDefaults ? scope.call('default', complete) : complete()
    return whenDone(completed, (draft) => {
      const own = allFaults(event, draft, terms)
      const faults = collection.hasColumnDefaults ? [...own, ...nullFaults(event, terms)] : own
      return { event, scope, stored: null, unfit: [], draft, faults }
    })
  },
  write({ event, scope, draft }) {
    const { collection } = event
    const nulls = collection.hasColumnDefaults ? givenNulls(event, scope.terms) : noFields
    // The adapter generates a number that is missing, and the column a value that was not given.
    const row = rowOf(collection, draft, (field, value) => {
      if (value !== null) return true
      return field.hasColumnDefault ? nulls.includes(field) : field.generated !== 'database'
    })
    return scope.source.insert(collection, row)
  },
}

/** Returns the fields with a column default that the client, or the row rule, sets to null. */
function givenNulls(event: InsertEvent, terms: Terms): readonly PublishedField[] {
  const { collection, submitted, view } = event
  const fixed = fixedIn(event, terms)
  return collection.fields.filter((field) => {
    if (!field.hasColumnDefault) return false
    if (submitted.values[field.name] === null && !fixed.includes(field)) return true
    return view.rows.some(
      (rule) => rule.is === 'equal' && rule.field === field.name && rule.value === null,
    )
  })
}

const noFields: readonly PublishedField[] = []

// Only an absent value gets the default of the column.
function nullFaults(event: InsertEvent, terms: Terms): readonly ValidationEntry[] {
  const missing = givenNulls(event, terms).filter(({ required }) => required)
  return missing.map((field) => fault(field, 'required'))
}

/**
 * The steps of an Update: the stored item, changed by the submitted values. The item is read first unless
 * they alone decide whether they can be saved.
 */
export const updateSteps: SaveSteps<UpdateEvent> = {
  open(event, scope, purpose) {
    const { terms } = scope
    if (purpose === 'save' && decidesAlone(event, terms)) {
      return { event, scope, stored: null, unfit: [], draft: null, faults: noFaults }
    }
    return whenDone(readItem(event, scope), ({ stored, unfit }) => {
      const given = settable(event, terms)
      const draft = { ...stored, ...given }
      const faults = allFaults(event, stored, terms)
      // What is saved is found when it is written.
      if (purpose === 'preview')
        addUnfit(
          event,
          scope,
          unfit.filter((name) => !(name in given)),
        )
      return { event, scope, stored, unfit, draft, faults }
    })
  },
  write({ event, scope, stored: before, unfit, draft }) {
    const { source, terms } = scope
    const { collection, conditions, submitted } = event
    const changed = (field: PublishedField, value: StoredValue): boolean => {
      const { name, readOnly } = field
      // A null that replaces a stored value of a wrong type is a change.
      const isReplaced =
        unfit.includes(name) && name in submitted.values && !fixedIn(event, terms).includes(field)
      if (isReplaced) return true
      const stored = before?.[name] ?? null
      // The database may compute the value, and write JSON in another form.
      return readOnly ? !isSame(field, value, stored) : value !== stored
    }
    const changes = draft === null ? unreadChanges(event) : rowOf(collection, draft, changed)
    const updated = source.update(collection, conditions, changes)
    return whenDone(updated, (row) => writtenRow(event, scope, row, { reported: unfit }))
  },
}

/** The steps of a Delete. Its item is read first only if a handler or a validation has to see it. */
export const deleteSteps: SaveSteps<DeleteEvent> = {
  open(event, scope) {
    const { collection } = event
    const isSeen =
      collection.events.Delete?.before !== undefined || collection.rulesOn.Delete.length > 0
    if (!isSeen) return { event, scope, stored: null, unfit: [], draft: null, faults: [] }
    return whenDone(readItem(event, scope), ({ stored, unfit }) => {
      // A rejection shows the item as well.
      addUnfit(event, scope, unfit)
      return { event, scope, stored, unfit, draft: null, faults: [] }
    })
  },
  write({ event, scope, unfit }) {
    const remove = (): MaybePromise<Row> =>
      whenDone(scope.source.delete(event.collection, event.conditions), (row) =>
        writtenRow(event, scope, row, { reported: unfit, added: unfit }),
      )
    return event.collection.referredBy.length === 0
      ? remove()
      : deleteReferred(event, scope, remove)
  },
}

/** An item as it is stored. */
interface StoredItem {
  readonly stored: Row
  /** The fields whose stored values do not fit. The row has null in place of each. */
  readonly unfit: readonly string[]
}

/**
 * Reads the item of an Update or Delete. Throws NOT_FOUND if it does not exist. Stored values that do
 * not fit their fields are reported and left out, so that the item can be corrected or deleted.
 */
function readItem(
  event: UpdateEvent | DeleteEvent,
  { source, terms: { runtime } }: Scope,
): MaybePromise<StoredItem> {
  const { collection, conditions } = event
  const { query } = itemEvent(wholeView(collection), conditions)
  const read = (select: readonly string[], unfit: readonly string[]): MaybePromise<StoredItem> =>
    whenDone(source.filter(collection, { ...query, select }), ({ rows: [row] }) => {
      if (row === undefined) throw notFound()
      return { stored: unfit.length === 0 ? row : { ...row, ...nullsOf(unfit) }, unfit }
    })
  return whenFailed(
    () => read(query.select, []),
    (error) => {
      if (!isStorageError(error) || error.kind !== 'unfit' || error.fields.length === 0) throw error
      const unfit = error.fields
      const names = query.select.filter((name) => !unfit.includes(name))
      return whenDone(read(names, unfit), (item) => {
        runtime.report({ type: 'stored-value-unfit', place: placeOf(event), error })
        return item
      })
    },
  )
}

/** The fields with values that do not fit that were reported before, and those that information was added about. */
interface KnownUnfit {
  readonly reported: readonly string[]
  readonly added?: readonly string[]
}

/**
 * Returns the row that an Update or Delete has written. Throws NOT_FOUND if there is none. Storage leaves
 * values out that do not fit: the response has null and information for each, and they are reported.
 */
function writtenRow(
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
  scope.terms.runtime.report({ type: 'stored-value-unfit', place: placeOf(event), error })
  return row
}

/** Adds information about stored values that do not fit, of which the response has those that the caller can read. */
function addUnfit(
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

/** Returns the submitted values that the caller may set. */
function settable(event: InsertEvent | UpdateEvent, terms: Terms): Row {
  const { values } = event.submitted
  const fixed = fixedIn(event, terms).filter(({ name }) => values[name] !== undefined)
  if (fixed.length === 0) return values
  const names = new Set(fixed.map(({ name }) => name))
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)))
}

/** Returns the errors of the submitted values, and of those that the caller can't set. */
function allFaults(
  event: InsertEvent | UpdateEvent,
  before: Row,
  terms: Terms,
): readonly ValidationEntry[] {
  const { faults, computed } = event.submitted
  const readOnly = readOnlyFaults(event, before, terms)
  if (computed !== undefined) {
    const stored = event.type === 'Update' ? before : null
    return [...faults, ...readOnly, ...computedFaults(event, stored, terms.runtime.report)]
  }
  return readOnly.length === 0 ? faults : [...faults, ...readOnly]
}

/** Returns an error for each value that the caller can't set. It may be sent back unchanged. */
function readOnlyFaults(
  event: InsertEvent | UpdateEvent,
  before: Row,
  terms: Terms,
): readonly ValidationEntry[] {
  const { values } = event.submitted
  let faults: ValidationEntry[] | undefined
  for (const field of fixedIn(event, terms)) {
    const { name } = field
    const value = values[name]
    if (value === undefined || isSame(field, value, before[name] ?? null)) continue
    faults ??= []
    faults.push(fault(field, 'readOnly'))
  }
  return faults ?? noFaults
}

const noFaults: readonly ValidationEntry[] = []

/** Returns the stored values of an item, as far as `isWritten` accepts them. */
function rowOf(
  collection: PublishedCollection,
  item: Row | null,
  isWritten: (field: PublishedField, value: StoredValue) => boolean,
): Row {
  const row: Record<string, StoredValue> = {}
  for (const field of collection.fields) {
    const value = item?.[field.name] ?? null
    if (isWritten(field, value)) row[field.name] = value
  }
  return row
}
