import type { PublishedCollection } from '../../definition/published.ts'
import { isServiceError } from '../../errors.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import type { FilterEvent } from '../../request/event.ts'
import {
  reject,
  type ItemOutcome,
  type Outcome,
  type RejectedOutcome,
} from '../../request/outcome.ts'
import type { Row } from '../../request/query.ts'
import { Rollback } from '../guard.ts'
import { canOverlap, inSequence } from './in-sequence.ts'
import type { SaveEvent } from './stage.ts'
import type { Prepared, Scope } from '../scope.ts'

/** Several saves of one collection: all of them are kept, or none. */
export interface ManySaves {
  readonly collection: PublishedCollection
  readonly type: SaveEvent['type']
  /** Finds the items to update or delete; undefined for Inserts. */
  readonly filter: FilterEvent | undefined
  /** Returns the saves. `rows` are those that `filter` has found. */
  readonly plan: (rows: readonly Row[]) => readonly SaveEvent[]
}

/** One of several saves, and its outcome. */
export interface OneOfMany {
  /** Its position among the saves. */
  readonly index: number
  readonly event: SaveEvent
  readonly outcome: ItemOutcome | RejectedOutcome
}

/** The outcomes of {@link ManySaves}: of all saves, or only of the rejected saves if there are any. */
export interface ManyOutcome {
  readonly rejected: boolean
  readonly saves: readonly OneOfMany[]
}

/** One of several saves after `prepare` of its event. */
export interface PreparedSave extends Pick<OneOfMany, 'index' | 'event'> {
  readonly prepared: Prepared | undefined
}

/** Several saves after `prepare` of their events, and the saves that it has rejected. */
export interface PreparedMany {
  readonly ready: readonly PreparedSave[]
  readonly rejected: readonly OneOfMany[]
}

/** How the events of several saves are run in their unit of work. */
export interface ManySteps {
  filter(event: FilterEvent): MaybePromise<Outcome>
  /** Calls `prepare` of the event. Returns its result, or the outcome of an event that it rejects. */
  prepare(
    event: SaveEvent,
  ): MaybePromise<{ readonly prepared: Prepared | undefined } | RejectedOutcome>
  /** `whileWriting` is called while the save waits for its own write. */
  save(one: PreparedSave, whileWriting?: () => void): MaybePromise<Outcome>
}

/** Thrown to roll back several saves, because some of them were written and another one was rejected. */
export class ManyRollback extends Rollback {
  /** The rejected saves. */
  readonly saves: readonly OneOfMany[]

  constructor(
    rejected: RejectedOutcome,
    collection: PublishedCollection,
    saves: readonly OneOfMany[],
  ) {
    super(rejected, collection)
    this.saves = saves
  }
}

/** Finds the items of several saves, and calls `prepare` for each of them. */
export async function prepareMany(
  { filter, plan }: ManySaves,
  steps: ManySteps,
): Promise<PreparedMany> {
  const rows = filter === undefined ? [] : rowsOf(await steps.filter(filter))
  const ready: PreparedSave[] = []
  const rejected: OneOfMany[] = []
  for (const [index, event] of plan(rows).entries()) {
    const result = await steps.prepare(event)
    if ('type' in result) rejected.push({ index, event, outcome: result })
    else ready.push({ index, event, prepared: result.prepared })
  }
  return { ready, rejected }
}

function rowsOf(outcome: Outcome): readonly Row[] {
  if (outcome.type === 'page' && 'rows' in outcome.page) return outcome.page.rows
  throw new Error(outcome.type === 'rejected' ? outcome.message : 'The items were not read.')
}

/**
 * Runs several saves within a unit of work, one after the other, of which several may wait for their writes. A rejected save that has written nothing
 * does not end them, so that the rejections of all items are known. If there is one, and anything was
 * written, the unit is rolled back.
 */
export async function saveMany(
  { collection, type }: ManySaves,
  { ready, rejected }: PreparedMany,
  { unit, caller }: Pick<Scope, 'unit' | 'caller'>,
  save: ManySteps['save'],
): Promise<ManyOutcome> {
  if (rejected.length > 0) return { rejected: true, saves: rejected }
  const kept: OneOfMany[] = []
  const rejections: OneOfMany[] = []
  try {
    const overlaps = canOverlap(collection, type)
    const saves = ready.map(
      (one) => (whileWriting: () => void) =>
        saveOne(one, overlaps ? (given) => save(given, whileWriting) : save),
    )
    // After a rollback, the next saves would read rows that will be rolled back.
    const ended = await inSequence(saves, (outcome) => outcome instanceof Rollback)
    for (const [place, result] of ended.entries()) {
      const { index, event } = ready[place] as PreparedSave
      if (result.status === 'rejected') throw result.reason
      const outcome = result.value
      if (outcome instanceof Rollback) {
        rejections.push({ index, event, outcome: outcome.outcomeFor(caller.principal) })
        throw new ManyRollback(outcome.rejected, outcome.collection, rejections)
      }
      if (outcome?.type === 'item') kept.push({ index, event, outcome })
      if (outcome?.type === 'rejected') rejections.push({ index, event, outcome })
    }
    if (rejections.length === 0) return { rejected: false, saves: kept }
    if (unit.writes === 0) return { rejected: true, saves: rejections }
    const entries = rejections.flatMap(({ outcome }) => outcome.validations)
    throw new ManyRollback(reject(type, undefined, entries), collection, rejections)
  } catch (error) {
    // Application code may catch the error, but the saves before it must not be kept.
    if (unit.writes > 0) unit.fail(error)
    throw error
  }
}

/** Returns the outcome of a save, the rollback of one that had written, and undefined for an item that is missing. */
async function saveOne(
  one: PreparedSave,
  save: ManySteps['save'],
): Promise<Outcome | Rollback | undefined> {
  try {
    return await save(one)
  } catch (error) {
    if (error instanceof Rollback) return error
    // A handler of an earlier save may have deleted the item.
    if (one.event.type !== 'Insert' && isServiceError(error) && error.code === 'NOT_FOUND')
      return undefined
    throw error
  }
}
