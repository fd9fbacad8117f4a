import type { PublishedCollection } from '../definition/published.ts'
import { isServiceError } from '../errors.ts'
import { inSequence, whenDone, whenFailed, type MaybePromise } from '../maybe-promise.ts'
import type { FilterEvent } from '../request/event.ts'
import { reject, type ItemOutcome, type Outcome, type RejectedOutcome } from '../request/outcome.ts'
import type { Row } from '../request/query.ts'
import { Rollback } from './guard.ts'
import type { Terms } from './runtime.ts'
import type { SaveEvent } from './save.ts'
import type { Prepared } from './scope.ts'
import { rejectionFor } from './unit.ts'

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

/** The outcome of {@link ManySaves}: that of each save, or if one was rejected, of the rejected ones. */
export interface ManyOutcome {
  readonly rejected: boolean
  readonly saves: readonly OneOfMany[]
}

/** One of several saves after `prepare` of its event. */
export interface PreparedSave extends Pick<OneOfMany, 'index' | 'event'> {
  readonly prepared: Prepared | undefined
}

/** Several saves after `prepare` of their events, and those that it has rejected. */
export interface PreparedMany {
  readonly ready: readonly PreparedSave[]
  readonly rejected: readonly OneOfMany[]
}

/** How the parts of several saves run. */
export interface ManySteps {
  filter(event: FilterEvent): MaybePromise<Outcome>
  /** Calls `prepare` of the event, and then `next` with its result unless it rejects the event. */
  prepare<Result>(
    event: SaveEvent,
    next: (prepared?: Prepared) => Result,
  ): MaybePromise<Result | RejectedOutcome>
  save(one: PreparedSave): MaybePromise<Outcome>
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
export function prepareMany(
  { filter, plan }: ManySaves,
  steps: ManySteps,
): MaybePromise<PreparedMany> {
  return whenDone(filter === undefined ? [] : whenDone(steps.filter(filter), rowsOf), (rows) => {
    const ready: PreparedSave[] = []
    const rejected: OneOfMany[] = []
    const events = plan(rows).map((event, index) => ({ event, index }))
    const prepareOne = ({ event, index }: (typeof events)[number]): MaybePromise<void> => {
      const one = steps.prepare(event, (prepared) => ({ index, event, prepared }))
      return whenDone(one, (result) => {
        if ('index' in result) ready.push(result)
        else rejected.push({ index, event, outcome: result })
      })
    }
    return whenDone(inSequence(events, prepareOne), () => ({ ready, rejected }))
  })
}

function rowsOf(outcome: Outcome): readonly Row[] {
  if (outcome.type === 'page' && 'rows' in outcome.page) return outcome.page.rows
  throw new Error(outcome.type === 'rejected' ? outcome.message : 'The items were not read.')
}

/**
 * Runs several saves within a unit of work, one after the other. A rejected save that has written nothing
 * does not end them, so that the rejections of all items are known. If there is one, and anything was
 * written, the unit is rolled back.
 */
export function saveMany(
  { collection, type }: ManySaves,
  { ready, rejected }: PreparedMany,
  { caller, running: { log } }: Terms,
  save: ManySteps['save'],
): MaybePromise<ManyOutcome> {
  if (rejected.length > 0) return { rejected: true, saves: rejected }
  const { writes } = log
  const kept: OneOfMany[] = []
  const rejections: OneOfMany[] = []
  const saveOne = (one: PreparedSave): MaybePromise<void> => {
    const { index, event } = one
    return whenFailed<void>(
      () =>
        whenDone(save(one), (outcome) => {
          if (outcome.type === 'item') kept.push({ index, event, outcome })
          if (outcome.type === 'rejected') rejections.push({ index, event, outcome })
        }),
      (error) => {
        // A handler of an earlier save may have deleted the item.
        if (type !== 'Insert' && isServiceError(error) && error.code === 'NOT_FOUND') return
        if (!(error instanceof Rollback)) throw error
        // It was rejected after it had written, so the next saves would not see the rows as they are stored.
        rejections.push({ index, event, outcome: rejectionFor(caller, error) })
        throw new ManyRollback(error.rejected, error.collection, rejections)
      },
    )
  }
  const ended = (): ManyOutcome => {
    if (rejections.length === 0) return { rejected: false, saves: kept }
    if (log.writes === writes) return { rejected: true, saves: rejections }
    const entries = rejections.flatMap(({ outcome }) => outcome.validations)
    throw new ManyRollback(reject(type, undefined, entries), collection, rejections)
  }
  return whenFailed(
    () => whenDone(inSequence(ready, saveOne), ended),
    (error) => {
      // Application code may catch the error, but the saves before it must not be kept.
      if (log.writes !== writes) log.failure ??= { error }
      throw error
    },
  )
}
