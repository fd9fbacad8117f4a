import type { AfterSave, Committed } from '../definition/handler.ts'
import type { CollectionShape, Item } from '../definition/item.ts'
import { isThenable, whenDone, type MaybePromise } from '../maybe-promise.ts'
import { givenMessage, type MessageText } from '../messages/message.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import { changedRow, constraintFaults, frozenItem } from '../request/item-values.ts'
import type { DeleteEvent, InsertEvent, UpdateEvent } from '../request/event.ts'
import { decide as decideFindings, type Decision } from '../request/findings.ts'
import { reject, type ItemOutcome, type Outcome, type RejectedOutcome } from '../request/outcome.ts'
import type { ItemValues, Row } from '../request/query.ts'
import { itemOf } from '../request/serialize.ts'
import { echoOf, inDefinitionOrder } from '../request/submitted.ts'
import { entriesFor } from '../request/view.ts'
import { shownItem } from './computed.ts'
import { callAfterCommit } from './guard.ts'
import { dueReferences, missingReferences } from './references.ts'
import { checkRules, incompleteFaults, requireOwnRow } from './rules.ts'
import type { Scope } from './scope.ts'
import { MissingReference, writeFaults, writtenKeyFaults } from './write-faults.ts'

/** An event that writes. */
export type SaveEvent = InsertEvent | UpdateEvent | DeleteEvent

/** What Insert, Update and Delete each plug into {@link saveItem}. */
export interface SaveSteps<Event extends SaveEvent> {
  /**
   * Prepares the item. A preview always needs it. Otherwise the item of an Update or Delete is read only if
   * something has to see it. Throws NOT_FOUND if it is read and does not exist.
   */
  open(save: Save<Event>): MaybePromise<undefined>
  /** Writes the item and returns it. Throws NOT_FOUND if the item does not exist any more. */
  write(save: Save<Event>): MaybePromise<WrittenItem>
}

/** An item as storage has written it. */
export type WrittenItem = ItemOutcome['item']

/** A save between two stages. Each stage sets what the later ones need. */
export interface Save<Event extends SaveEvent = SaveEvent> {
  readonly steps: SaveSteps<Event>
  readonly event: Event
  readonly scope: Scope
  readonly isPreview: boolean
  /** The item as it is stored; null for an Insert, and for an item that was not read. */
  stored: Row | null
  /** The fields whose stored values do not fit; {@link Save.stored} has null for them. */
  unfit: readonly string[]
  /** The item that will be stored; null for a Delete, and if it was not read. */
  draft: Row | null
  /** The errors of the request itself. */
  faults: readonly ValidationEntry[]
  /** What a successful response lists. */
  information: readonly ValidationEntry[]
  /** The item that was written, but is not committed. */
  written: WrittenItem
  /** The message of a handler that has called `fail`. */
  failure: MessageText | undefined
}

/** A stage of a save. Returns the rejection that ends the save, if there is one. */
type Stage = (save: Save) => MaybePromise<Rejection>

type Rejection = RejectedOutcome | undefined

const saving: readonly Stage[] = [
  open,
  accept,
  callBefore,
  keepOwnRow,
  validate,
  decide,
  checkReferences,
  write,
  callAfter,
  decide,
]

/** The stages that write nothing and call no handler. */
const previewing: readonly Stage[] = [open, accept, keepOwnRow, validate, decide]

/** Runs an Insert, Update or Delete: one stage after the other, until the item is written or a stage rejects it. */
export function saveItem<Event extends SaveEvent>(
  steps: SaveSteps<Event>,
  event: Event,
  scope: Scope,
): MaybePromise<Outcome> {
  const save = newSave(steps, event, scope, false)
  return whenDone(through(saving, save), (rejection) => rejection ?? succeed(save))
}

/** Runs the stages of a save that write nothing. Returns the save, or its rejection. */
export async function previewSave<Event extends SaveEvent>(
  steps: SaveSteps<Event>,
  event: Event,
  scope: Scope,
): Promise<Save<Event> | RejectedOutcome> {
  const save = newSave(steps, event, scope, true)
  return (await through(previewing, save)) ?? save
}

function newSave<Event extends SaveEvent>(
  steps: SaveSteps<Event>,
  event: Event,
  scope: Scope,
  isPreview: boolean,
): Save<Event> {
  return {
    steps,
    event,
    scope,
    isPreview,
    stored: null,
    unfit: none,
    draft: null,
    faults: none,
    information: none,
    written: notWritten,
    failure: undefined,
  }
}

const none: readonly never[] = []
const notWritten: WrittenItem = { row: {} }

/** Runs stages. Waits only for a stage that returns a promise. */
function through(stages: readonly Stage[], save: Save, from = 0): MaybePromise<Rejection> {
  for (let index = from; index < stages.length; index++) {
    const rejection = (stages[index] as Stage)(save)
    if (isThenable(rejection)) {
      return Promise.resolve(rejection).then(
        (rejected) => rejected ?? through(stages, save, index + 1),
      )
    }
    if (rejection !== undefined) return rejection
  }
  return undefined
}

function open(save: Save): MaybePromise<Rejection> {
  return save.steps.open(save)
}

/** Rejects a save with errors of its own. Application code never receives a value of a wrong type. */
function accept(save: Save): Rejection {
  const { event, faults } = save
  if (faults.length === 0) return undefined
  const named = new Set(faults.map(({ field }) => field))
  // Missing required fields are listed as well.
  const missing = incompleteFaults(save).filter(({ field }) => !named.has(field))
  const entries = [...faults, ...entriesFor(event.view, missing)]
  return rejectionOf(save, inDefinitionOrder(event.view.sendable, entries))
}

/**
 * Calls the `before` handler, and checks the item that it may have changed. Later stages use a copy of that item,
 * because code that has not been awaited may still change it.
 */
function callBefore(save: Save): MaybePromise<Rejection> {
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

/** Throws FORBIDDEN if the item would leave the rows of the caller. */
function keepOwnRow({ event, scope, draft }: Save): MaybePromise<Rejection> {
  if (draft === null || event.view.rows.length === 0) return undefined
  return whenDone(requireOwnRow(scope, event, draft), () => undefined)
}

/** Adds the findings of the definition and of the validations. */
function validate(save: Save): MaybePromise<Rejection> {
  const { event, scope, stored, draft } = save
  const { collection, type } = event
  if (draft !== null) scope.add(incompleteFaults(save))
  const rules = collection.rulesOn[type]
  if (rules.length === 0) return undefined
  return whenDone(checkRules(rules, scope, draft ?? stored ?? {}, stored), () => undefined)
}

/** Rejects a save with errors, or with warnings that the client has not confirmed. */
function decide(save: Save): MaybePromise<Rejection> {
  if (save.scope.findings.length === 0) return undefined
  return whenDone(decisionOn(save.event, save.scope), ({ blocking, information }) => {
    save.information = information
    return blocking.length > 0 ? rejectionOf(save, [...blocking, ...information]) : undefined
  })
}

/** Decides on the findings of a save so far. */
export function decisionOn(event: SaveEvent, scope: Scope): MaybePromise<Decision> {
  const { view, type } = event
  const key = event.type === 'Insert' ? [] : event.key
  const data = event.type === 'Delete' ? {} : event.submitted.values
  const subject = { view, event: type, key, data }
  return decideFindings(scope.findings, subject, scope.caller.confirmed)
}

/** Rejects an item that refers to items which do not exist, as far as storage would not find that. */
function checkReferences(save: Save): MaybePromise<Rejection> {
  const { event, scope, stored, draft: item } = save
  // An update that was not read has no reference that must be read first.
  if (event.type === 'Delete' || item === null || event.collection.references.length === 0)
    return undefined
  const referring = { event, scope, stored, item }
  const due = dueReferences(referring)
  return due.length === 0 ? undefined : rejectMissing(save, missingReferences(referring, due))
}

async function rejectMissing(save: Save, reading: Promise<readonly unknown[]>): Promise<Rejection> {
  try {
    if ((await reading).length === 0) return undefined
  } catch (error) {
    return rejectionOfWrite(save, error)
  }
  return rejectionOfWrite(save, new MissingReference())
}

/** Writes the item. Rejects the save if storage does not accept a value, or finds a duplicate. */
function write(save: Save): MaybePromise<Rejection> {
  try {
    const written = save.steps.write(save)
    if (!isThenable(written)) return takeWritten(save, written)
    return Promise.resolve(written).then(
      (item) => takeWritten(save, item),
      (error: unknown) => rejectionOfWrite(save, error),
    )
  } catch (error) {
    return rejectionOfWrite(save, error)
  }
}

/** Takes the item as storage has written it. Rejects a new item whose key no path can have. */
function takeWritten(save: Save, written: WrittenItem): Rejection {
  const { event, scope, information } = save
  scope.unit.wrote()
  save.written = written
  if (!('row' in written)) return undefined
  if (event.type === 'Delete') save.stored = written.row
  const faults = writtenKeyFaults(event, written.row)
  return faults.length > 0 ? rejectionOf(save, [...faults, ...information]) : undefined
}

/** Returns the rejection of a save whose write has failed. Throws an error that is not about the item. */
async function rejectionOfWrite(save: Save, error: unknown): Promise<RejectedOutcome> {
  const { event, scope } = save
  const faults = await writeFaults(save, error)
  const { blocking, information } = await decisionOn(event, scope)
  const entries = inDefinitionOrder(event.view.sendable, entriesFor(event.view, faults))
  return rejectionOf(save, [...entries, ...blocking, ...information])
}

/** Calls the `after` handler, which may still reject the save. */
function callAfter(save: Save): MaybePromise<Rejection> {
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

/** Returns the outcome of a save that has passed every stage. */
function succeed(save: Save): ItemOutcome {
  const { event, scope, written, information, failure } = save
  const { collection, type, view } = event
  const committed: ((event: Committed<CollectionShape>) => unknown) | undefined =
    collection.events[type]?.committed
  if (committed !== undefined) {
    const { runtime } = scope.unit
    const { principal } = scope.caller
    const place = { application: collection.application, collection: collection.name, event: type }
    const run = () => committed({ event: type, principal, ...itemsOf(save) })
    scope.unit.onCommit(() => {
      callAfterCommit(runtime, place, run)
    })
  }
  const select = view.readable.allNames
  const validations = information
  return failure === undefined
    ? { type: 'item', collection, select, item: written, validations }
    : { type: 'item', collection, select, item: written, validations, failure }
}

/** Returns the items that a handler sees after the write. */
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

/** Returns the rejection of a save. That of a Delete shows its item, if that was read or written. */
function rejectionOf(save: Save, validations: readonly ValidationEntry[]): RejectedOutcome {
  const { event, stored, unfit, scope } = save
  if (event.type !== 'Delete' || stored === null) return rejection(event, validations)
  const item = shownItem(event, { stored, unfit }, scope.unit.runtime.report)
  return reject('Delete', item, validations)
}

/** Returns the rejection of a save whose item is not known. It repeats what the client sent. */
export function rejection(
  event: SaveEvent,
  validations: readonly ValidationEntry[],
): RejectedOutcome {
  const echo = event.type === 'Delete' ? undefined : echoOf(event.view.sendable, event.submitted)
  return reject(event.type, echo, validations)
}

/** Calls a handler. If it calls `reject`, the save ends with the findings so far. */
function unlessRejected(save: Save, call: () => MaybePromise<void>): MaybePromise<Rejection> {
  return whenDone(save.scope.untilRejected(call), (isCompleted) =>
    isCompleted ? undefined : decide(save),
  )
}
