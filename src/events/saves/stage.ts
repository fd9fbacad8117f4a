import { whenDone, type MaybePromise } from '../../maybe-promise.ts'
import type { MessageText } from '../../messages/message.ts'
import type { ValidationEntry } from '../../protocol/envelope.ts'
import type { DeleteEvent, InsertEvent, UpdateEvent } from '../../request/event.ts'
import { decideFindings, type Decision } from '../../request/findings.ts'
import { reject, type ItemOutcome, type RejectedOutcome } from '../../request/outcome.ts'
import type { Row } from '../../request/query.ts'
import { echoOf } from '../../request/submitted.ts'
import { shownItem } from '../reads/computed.ts'
import type { Scope } from '../scope.ts'

/** An event that writes. */
export type SaveEvent = InsertEvent | UpdateEvent | DeleteEvent

/** What Insert, Update and Delete each plug into `saveItem`. */
export interface SaveSteps<Event extends SaveEvent> {
  /**
   * Prepares the item. A preview always needs it. Otherwise the item of an Update or Delete is read only if a check,
   * a handler or a row rule needs it. Throws NOT_FOUND if it is read and does not exist.
   */
  open(save: Save<Event>): MaybePromise<undefined>
  /** Writes the item and returns it. Throws NOT_FOUND if the item no longer exists. */
  write(save: Save<Event>): MaybePromise<WrittenItem>
}

/** An item as storage has written it. */
export type WrittenItem = ItemOutcome['item']

/** A save between two stages. Each stage sets what the later ones need. */
export interface Save<Event extends SaveEvent = SaveEvent> {
  readonly steps: SaveSteps<Event>
  event: Event
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
export type Stage = (save: Save) => MaybePromise<Rejection>

/** What a stage returns: undefined if the save goes on. */
export type Rejection = RejectedOutcome | undefined

/** Rejects a save with errors, or with warnings that the client has not confirmed. */
export function decide(save: Save): MaybePromise<Rejection> {
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

/** Returns the rejection of a save. For a Delete it contains the item, if the item was read or written. */
export function rejectionOf(save: Save, validations: readonly ValidationEntry[]): RejectedOutcome {
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
