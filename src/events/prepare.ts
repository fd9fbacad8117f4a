import type { MaybePromise } from '../maybe-promise.ts'
import type { DataEvent, InsertEvent, UpdateEvent } from '../request/event.ts'
import { frozenItem } from '../request/item-values.ts'
import type { RejectedOutcome } from '../request/outcome.ts'
import { keyValue } from '../request/serialize.ts'
import { decisionOn, rejection, type SaveEvent } from './saves/stage.ts'
import type { Prepared, Scope } from './scope.ts'

/**
 * Calls `prepare` of an event, if it has one, and then `next` with the result. If `prepare` rejects the event,
 * returns that outcome. `prepare` must be called before the transaction of the event opens, because it may wait
 * for other services. `open` opens the scope of its code.
 */
export function whenPrepared<Result>(
  event: DataEvent,
  open: () => Scope,
  next: (prepared?: Prepared) => MaybePromise<Result>,
): MaybePromise<Result | RejectedOutcome> {
  if (event.type === 'Filter') return next()
  const preparation = event.collection.events[event.type]?.prepare
  // Application code never receives a value of a wrong type.
  const isFaulty = event.type !== 'Delete' && event.submitted.faults.length > 0
  if (preparation === undefined || isFaulty) return next()
  const run = (context: object): unknown =>
    typeof preparation === 'function'
      ? preparation(context as never)
      : preparation.run(context as never)
  return callPrepare(event, open(), run, next)
}

async function callPrepare<Result>(
  event: SaveEvent,
  scope: Scope,
  run: (context: object) => unknown,
  next: (prepared: Prepared) => MaybePromise<Result>,
): Promise<Result | RejectedOutcome> {
  const context = contextOf(event, scope)
  let result: unknown
  const isCompleted = await scope.untilRejected(async () => {
    result = await scope.call('prepare', () => run(context))
  })
  if (isCompleted) return next({ result, findings: scope.findings })
  const { blocking, information } = await decisionOn(event, scope)
  return rejection(event, [...blocking, ...information])
}

function contextOf(event: SaveEvent, scope: Scope): object {
  const { event: name, principal, signal, now, find, system, ...others } = scope.context()
  const { error, warning, information, reject: rejectEvent } = others
  const { collection, type } = event
  const place = { application: collection.application, collection: collection.name, event: type }
  return {
    event: name,
    principal,
    signal,
    now,
    find,
    system: { find: system.find },
    error,
    warning,
    information,
    reject: rejectEvent,
    report: (failure: unknown) => {
      scope.unit.runtime.report({ type: 'prepare-failed', place, error: failure })
    },
    key: type === 'Insert' ? null : keyValue(collection, event.key),
    ...(type !== 'Delete' && { values: submittedItem(event) }),
  }
}

/** Returns the submitted values, which application code can't change. */
function submittedItem({ collection, submitted: { values } }: InsertEvent | UpdateEvent): object {
  return frozenItem(collection, values, Object.keys(values))
}
