import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { whenDone, type MaybePromise } from '../../maybe-promise.ts'
import type { ValidationEntry } from '../../protocol/envelope.ts'
import { completeRow } from '../../request/item-values.ts'
import type { DeleteEvent, InsertEvent, UpdateEvent } from '../../request/event.ts'
import type { Row } from '../../request/query.ts'
import { rowValues } from '../../request/rows.ts'
import { fault, isSame } from '../../request/submitted.ts'
import { computedFaults } from '../reads/computed.ts'
import { withIncrements } from './increments.ts'
import { deleteReferred } from './delete-referred.ts'
import type { Save, SaveSteps, WrittenItem } from './stage.ts'
import type { Scope } from '../scope.ts'
import { addUnfit, readItem, writtenRow } from './stored-item.ts'
import { addUnread, fixedIn, needsNoStoredItem, writeUnread } from './unread-update.ts'
import { RejectedValues } from './write-faults.ts'

/** The steps of an Insert: the submitted values, completed with defaults. */
export const insertSteps: SaveSteps<InsertEvent> = {
  open(save) {
    const { event, scope } = save
    const { collection, view } = event
    const submitted = settable(event, scope)
    // Absent fields of the row rule take the values that the rule requires.
    const given =
      view.rows.length === 0 ? submitted : Object.assign(rowValues(view.rows), submitted)
    const complete = () => completeRow(collection, given, scope.unit.runtime.now)
    const completed = collection.computesDefaults ? scope.call('default', complete) : complete()
    return whenDone(completed, (draft) => {
      const own = allFaults(event, draft, scope)
      save.draft = draft
      save.faults = collection.hasColumnDefaults ? [...own, ...nullFaults(event, scope)] : own
      return undefined
    })
  },
  write({ event, scope, draft }) {
    const { collection } = event
    const nulls = collection.hasColumnDefaults ? givenNulls(event, scope) : noFields
    // The adapter generates a number that is missing, and the column a value that was not given.
    const values = rowOf(collection, draft, (field, value) => {
      if (value !== null) return true
      return field.hasColumnDefault ? nulls.includes(field) : field.generated !== 'database'
    })
    return whenDone(scope.source.insert(collection, values), (row) => ({ row }))
  },
}

/** Returns the fields with a column default that the client, or the row rule, sets to null. */
function givenNulls(event: InsertEvent, scope: Scope): readonly PublishedField[] {
  const { collection, submitted, view } = event
  const fixed = fixedIn(event, scope)
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
function nullFaults(event: InsertEvent, scope: Scope): readonly ValidationEntry[] {
  const missing = givenNulls(event, scope).filter(({ required }) => required)
  return missing.map((field) => fault(field, 'required'))
}

/**
 * The steps of an Update: the stored item, changed by the submitted values. The item is read first unless the
 * submitted values can be saved without it.
 */
export const updateSteps: SaveSteps<UpdateEvent> = {
  open(save) {
    const { event, scope, isPreview } = save
    return !isPreview && needsNoStoredItem(event, scope) ? undefined : openStored(save)
  },
  write(save) {
    const { event, scope, stored: before, unfit, draft } = save
    if (draft === null)
      return event.increments === undefined ? writeUnread(event, scope) : writeIncrements(save)
    const { collection, conditions, submitted } = event
    const changed = (field: PublishedField, value: StoredValue): boolean => {
      const { name, readOnly } = field
      // A null that replaces a stored value of a wrong type is a change.
      const isReplaced =
        unfit.includes(name) && name in submitted.values && !fixedIn(event, scope).includes(field)
      if (isReplaced) return true
      const stored = before?.[name] ?? null
      // The database may compute the value, and write JSON in another form.
      return readOnly ? !isSame(field, value, stored) : value !== stored
    }
    const changes = rowOf(collection, draft, changed)
    const updated = scope.source.update(collection, conditions, changes)
    return whenDone(updated, (row) => ({
      row: writtenRow(event, scope, row, { reported: unfit }),
    }))
  },
}

/** Reads the item of an Update, and changes it by the submitted values. */
function openStored(save: Save<UpdateEvent>): MaybePromise<undefined> {
  const { scope, isPreview } = save
  const { increments } = save.event
  return whenDone(readItem(save.event, scope, isPreview), ({ stored, unfit }) => {
    if (increments !== undefined) save.event = withIncrements(save.event, increments, stored)
    const { event } = save
    const given = settable(event, scope)
    Object.assign(save, { stored, unfit, draft: { ...stored, ...given } })
    save.faults = allFaults(event, stored, scope)
    // What is saved is found when it is written.
    const untouched = unfit.filter((name) => !(name in given))
    if (isPreview) addUnfit(event, scope, untouched)
    return undefined
  })
}

/**
 * Writes increments to an item that was not read. If storage has not added them, the locked item shows why: it does not
 * exist, or has no room for them.
 */
function writeIncrements(save: Save<UpdateEvent>): MaybePromise<WrittenItem> {
  return whenDone(addUnread(save.event, save.scope), (row) => {
    if (row !== undefined) return { row }
    return whenDone(openStored(save), () => {
      if (save.faults.length > 0) throw new RejectedValues(save.faults)
      return updateSteps.write(save)
    })
  })
}

/**
 * The steps of a Delete. Its item is read first only if the client expects a state of it, or a handler or a validation
 * needs it.
 */
export const deleteSteps: SaveSteps<DeleteEvent> = {
  open(save) {
    const { event, scope } = save
    const { collection, expected } = event
    const isSeen =
      expected !== undefined ||
      collection.events.Delete?.before !== undefined ||
      collection.rulesOn.Delete.length > 0
    if (!isSeen) return undefined
    return whenDone(readItem(event, scope), ({ stored, unfit }) => {
      // A rejection shows the item as well.
      addUnfit(event, scope, unfit)
      Object.assign(save, { stored, unfit })
      return undefined
    })
  },
  write({ event, scope, unfit }) {
    const { collection, conditions } = event
    const remove = (): MaybePromise<{ readonly row: Row }> =>
      whenDone(scope.source.delete(collection, conditions), (row) => ({
        row: writtenRow(event, scope, row, { reported: unfit, added: unfit }),
      }))
    return collection.referredBy.length === 0 ? remove() : deleteReferred(event, scope, remove)
  },
}

/** Returns the submitted values that the caller may set. */
function settable(event: InsertEvent | UpdateEvent, scope: Scope): Row {
  const { values } = event.submitted
  const fixed = fixedIn(event, scope).filter(({ name }) => values[name] !== undefined)
  if (fixed.length === 0) return values
  const names = new Set(fixed.map(({ name }) => name))
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)))
}

/** Returns the errors of the submitted values, and of the values that the caller can't set. */
function allFaults(
  event: InsertEvent | UpdateEvent,
  before: Row,
  scope: Scope,
): readonly ValidationEntry[] {
  const { faults, computed } = event.submitted
  const readOnly = readOnlyFaults(event, before, scope)
  if (computed !== undefined) {
    const stored = event.type === 'Update' ? before : null
    return [...faults, ...readOnly, ...computedFaults(event, stored, scope.unit.runtime.report)]
  }
  return readOnly.length === 0 ? faults : [...faults, ...readOnly]
}

/** Returns an error for each value that the caller can't set. It may be sent back unchanged. */
function readOnlyFaults(
  event: InsertEvent | UpdateEvent,
  before: Row,
  scope: Scope,
): readonly ValidationEntry[] {
  const { values } = event.submitted
  let faults: ValidationEntry[] | undefined
  for (const field of fixedIn(event, scope)) {
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
