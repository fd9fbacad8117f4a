import type { AfterSave, Committed } from '../definition/handler.ts'
import type { CollectionShape, Item } from '../definition/item.ts'
import { whenDone, whenFailed, type MaybePromise } from '../maybe-promise.ts'
import { givenMessage, type MessageText } from '../messages/message.ts'
import type { ValidationEntry } from '../protocol/envelope.ts'
import { changedRow, constraintFaults, frozenItem } from '../request/item-values.ts'
import type { DeleteEvent, InsertEvent, UpdateEvent } from '../request/event.ts'
import { decide as decideFindings, noFindings, type Decision } from '../request/findings.ts'
import { reject, type ItemOutcome, type Outcome, type RejectedOutcome } from '../request/outcome.ts'
import type { ItemValues, Row } from '../request/query.ts'
import { itemOf } from '../request/serialize.ts'
import { echoOf, inDefinitionOrder } from '../request/submitted.ts'
import { entriesFor } from '../request/view.ts'
import { shownItem } from './computed.ts'
import { callAfterCommit } from './guard.ts'
import { refersToItems } from './references.ts'
import { checkRules, incompleteFaults, requireOwnRow } from './rules.ts'
import type { CodeScope, Scope } from './scope.ts'
import { MissingReference, writeFaults, writtenKeyFaults } from './write-faults.ts'

/** An event that writes. */
export type SaveEvent = InsertEvent | UpdateEvent | DeleteEvent

/** What Insert, Update and Delete each plug into {@link runSave}. */
export interface SaveSteps<Event extends SaveEvent> {
  /**
   * Prepares the item. A preview always needs it. Otherwise the item of an Update or Delete is read only if
   * something has to see it. Throws NOT_FOUND if it is read and does not exist.
   */
  open(event: Event, scope: Scope, purpose: 'save' | 'preview'): MaybePromise<Save<Event>>
  /** Writes the item and returns its row. Throws NOT_FOUND if the item does not exist any more. */
  write(save: Save<Event>): MaybePromise<Row>
}

/** A save between two stages. Each stage adds its results to it. */
export interface Save<Event extends SaveEvent = SaveEvent> {
  readonly event: Event
  readonly scope: Scope
  /** The item as it is stored; null for an Insert, and for an item that was not read. */
  readonly stored: Row | null
  /** The fields whose stored values do not fit; {@link Save.stored} has null for them. */
  readonly unfit: readonly string[]
  /** The item that will be stored; null for a Delete, and if it was not read. */
  readonly draft: Row | null
  /** The errors of the request itself. */
  readonly faults: readonly ValidationEntry[]
}

/** A save whose findings do not block it. */
export type Decided<Stage> = Stage & {
  /** What a successful response lists. */
  readonly information: readonly ValidationEntry[]
}

/** A save that is written, but not committed. */
type Written<Stage> = Stage & {
  readonly row: Row
  /** The message of a handler that has called `fail`. */
  readonly failure?: MessageText | undefined
}

/**
 * Runs an Insert, Update or Delete: accept -> before -> validate -> decide -> write -> after -> decide ->
 * outcome. Each stage returns the value of the next one, or the rejection that ends the save.
 */
export function runSave<Event extends SaveEvent>(
  steps: SaveSteps<Event>,
  event: Event,
  scope: Scope,
): MaybePromise<Outcome> {
  const accepted = next(steps.open(event, scope, 'save'), accept)
  const handled = next(accepted, runBefore)
  const validated = next(handled, validate)
  const decided = next(validated, decide)
  const written = next(decided, (save) => write(save, steps))
  const completed = next(written, runAfter)
  return next(next(completed, decide), succeed)
}

/** Runs the stages of a save that write nothing, without its `before` handler: accept -> validate -> decide. */
export function previewSave<Event extends SaveEvent>(
  steps: SaveSteps<Event>,
  event: Event,
  scope: Scope,
): MaybePromise<Decided<Save<Event>> | RejectedOutcome> {
  const accepted = next(steps.open(event, scope, 'preview'), accept)
  const validated = next(accepted, validate)
  return next(validated, decide)
}

function next<From extends object, To>(
  stage: MaybePromise<From | RejectedOutcome>,
  proceed: (save: From) => MaybePromise<To | RejectedOutcome>,
): MaybePromise<To | RejectedOutcome> {
  return whenDone(stage, (save) => (isRejected(save) ? save : proceed(save)))
}

function isRejected(stage: { readonly type?: unknown }): stage is RejectedOutcome {
  return stage.type !== undefined
}

/** Rejects a save with errors of its own. Application code never receives a value of a wrong type. */
function accept<Event extends SaveEvent>(save: Save<Event>): Save<Event> | RejectedOutcome {
  const { event, faults } = save
  if (faults.length === 0) return save
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
function runBefore<Event extends SaveEvent>(
  save: Save<Event>,
): MaybePromise<Save<Event> | RejectedOutcome> {
  const { event, scope, stored } = save
  const { collection, type } = event
  const before = collection.events[type]?.before as Handler | undefined
  if (before === undefined) return save
  const { prepared } = scope
  const draft = save.draft && itemOf(collection, save.draft)
  const shown = { stored: stored && frozenItem(collection, stored), prepared }
  const own = draft === null ? shown : { item: draft, ...shown }
  const seen = Object.assign(own, scope.context())
  const called = untilRejected(save, () => scope.call('before', () => before(seen)))
  if (draft === null) return called
  return next(called, () => {
    const accepted = scope.call('before', () => changedRow(collection, draft, stored))
    return whenDone(accepted, (row) => {
      scope.add(constraintFaults(collection, row))
      return { ...save, draft: row }
    })
  })
}

type Handler = (event: object) => MaybePromise<void>

/** Adds the findings of the definition and of the validations. */
function validate<Event extends SaveEvent>(save: Save<Event>): MaybePromise<Save<Event>> {
  const { event, scope, draft } = save
  if (draft === null || event.view.rows.length === 0) return checkItem(save)
  return whenDone(requireOwnRow(event, scope, draft), () => checkItem(save))
}

function checkItem<Event extends SaveEvent>(save: Save<Event>): MaybePromise<Save<Event>> {
  const { event, scope, stored, draft } = save
  const { collection, type } = event
  if (draft !== null) scope.add(incompleteFaults(save))
  const rules = collection.rulesOn[type]
  const item = draft ?? stored ?? {}
  return whenDone(checkRules(rules, scope, { collection, event: type, item, stored }), () => save)
}

/** Rejects a save with errors, or with warnings that the client has not confirmed. */
function decide<Stage extends Save>(save: Stage): MaybePromise<Decided<Stage> | RejectedOutcome> {
  return whenDone(decisionOn(save), ({ blocking, information }) =>
    blocking.length > 0
      ? rejectionOf(save, [...blocking, ...information])
      : Object.assign(save, { information }),
  )
}

/** Decides on the findings of a save so far. */
export function decisionOn({
  event,
  scope,
}: {
  readonly event: SaveEvent
  readonly scope: CodeScope
}): MaybePromise<Decision> {
  if (scope.findings.length === 0) return noFindings
  const { view, type } = event
  const key = event.type === 'Insert' ? [] : event.key
  const data = event.type === 'Delete' ? {} : event.submitted.values
  const subject = { view, event: type, key, data }
  return decideFindings(scope.findings, subject, scope.terms.caller.confirmed)
}

/** Writes the item. Rejects the save if storage does not accept a value, or finds a duplicate. */
function write<Event extends SaveEvent>(
  save: Decided<Save<Event>>,
  steps: SaveSteps<Event>,
): MaybePromise<Written<Save<Event>> | RejectedOutcome> {
  const { event, scope } = save
  const store = (): MaybePromise<Written<Save<Event>> | RejectedOutcome> =>
    whenDone(writeReferring(save, steps), (row) => {
      scope.terms.running.log.writes++
      const faults = writtenKeyFaults(event, row)
      if (faults.length > 0) return rejectionOf(save, [...faults, ...save.information])
      return Object.assign(save, event.type === 'Delete' ? { row, stored: row } : { row })
    })
  return whenFailed<Written<Save<Event>> | RejectedOutcome>(store, (error) => {
    return whenDone(writeFaults(save, error), (faults) =>
      whenDone(decisionOn(save), ({ blocking, information }) => {
        const entries = inDefinitionOrder(event.view.sendable, entriesFor(event.view, faults))
        return rejectionOf(save, [...entries, ...blocking, ...information])
      }),
    )
  })
}

/** Writes an item that refers only to items that exist. Throws a {@link MissingReference} for another one. */
function writeReferring<Event extends SaveEvent>(
  save: Save<Event>,
  steps: SaveSteps<Event>,
): MaybePromise<Row> {
  const { event, scope, stored, draft: item } = save
  // An update that was not read has no reference that must be read first.
  if (event.type === 'Delete' || item === null || event.collection.references.length === 0)
    return steps.write(save)
  return whenDone(refersToItems({ event, scope, stored, item }), (refers) => {
    if (!refers) throw new MissingReference()
    return steps.write(save)
  })
}

/** Calls the `after` handler, which may still reject the save. */
function runAfter<Event extends SaveEvent>(
  written: Written<Save<Event>>,
): MaybePromise<Written<Save<Event>> | RejectedOutcome> {
  const { event, scope } = written
  const after: ((event: AfterSave<CollectionShape>) => MaybePromise<void>) | undefined =
    event.collection.events[event.type]?.after
  if (after === undefined) return written
  let failure: MessageText | undefined
  const fail = (message: MessageText): void => {
    givenMessage(message)
    failure = message
  }
  const { item, stored } = itemsOf(written)
  const seen = { item, stored, prepared: scope.prepared, fail, ...scope.context() }
  const called = untilRejected(written, () => scope.call('after', () => after(seen)))
  return next(called, () => Object.assign(written, { failure }))
}

/** Returns the outcome of a save that has passed every stage. */
function succeed(written: Decided<Written<Save>>): ItemOutcome {
  const { event, scope, row, information, failure } = written
  const { collection, type, view } = event
  const committed: ((event: Committed<CollectionShape>) => unknown) | undefined =
    collection.events[type]?.committed
  if (committed !== undefined) {
    const { principal } = scope.terms.caller
    const run = () => committed({ event: type, principal, ...itemsOf(written) })
    callAfterCommit(scope.terms, { collection, event: type, run })
  }
  return {
    type: 'item',
    collection,
    select: view.readable.allNames,
    item: { row },
    validations: information,
    ...(failure !== undefined && { failure }),
  }
}

function itemsOf({ event, row, stored }: Written<Save>): {
  readonly item: Item<CollectionShape>
  readonly stored: Readonly<ItemValues> | null
} {
  const { collection } = event
  return {
    item: frozenItem(collection, row),
    stored: stored && frozenItem(collection, stored),
  }
}

/** Returns the rejection of a save. That of a Delete shows its item, if that was read or written. */
function rejectionOf(save: Save, validations: readonly ValidationEntry[]): RejectedOutcome {
  const { event, stored, unfit, scope } = save
  if (event.type !== 'Delete' || stored === null) return rejection(event, validations)
  const item = shownItem(event, { stored, unfit }, scope.terms.runtime.report)
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
function untilRejected<Stage extends Save>(
  save: Stage,
  call: () => MaybePromise<void>,
): MaybePromise<Stage | RejectedOutcome> {
  const called = save.scope.untilRejected(call)
  return whenDone<boolean, Stage | RejectedOutcome>(called, (isCompleted) =>
    isCompleted ? save : decide(save),
  )
}
