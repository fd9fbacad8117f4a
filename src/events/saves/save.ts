import { isThenable, whenDone, type MaybePromise } from '../../maybe-promise.ts'
import type { ItemOutcome, Outcome, RejectedOutcome } from '../../request/outcome.ts'
import { inDefinitionOrder } from '../../request/submitted.ts'
import { entriesFor } from '../../request/view.ts'
import { dueReferences, missingReferences } from './references.ts'
import { checkRules, incompleteFaults, requireOwnRow } from './rules.ts'
import { callAfter, callBefore, callWhenCommitted } from './handlers.ts'
import { decide, decisionOn, rejectionOf } from './stage.ts'
import type { Rejection, Save, SaveEvent, SaveSteps, Stage, WrittenItem } from './stage.ts'
import type { Scope } from '../scope.ts'
import { MissingReference, writeFaults, writtenKeyFaults } from './write-faults.ts'

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

/** Rejects an item that refers to missing items, unless storage enforces the reference. */
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
    save.scope.unit.isWaitingForWrite()
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

/** Returns the outcome of a save that has passed every stage. */
function succeed(save: Save): ItemOutcome {
  const { event, written, information: validations, failure } = save
  callWhenCommitted(save)
  const { collection, view } = event
  const select = view.readable.allNames
  return failure === undefined
    ? { type: 'item', collection, select, item: written, validations }
    : { type: 'item', collection, select, item: written, validations, failure }
}
