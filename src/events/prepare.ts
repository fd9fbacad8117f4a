import { whenDone, type MaybePromise } from '../maybe-promise.ts'
import type { DataEvent, InsertEvent, UpdateEvent } from '../request/event.ts'
import { frozenItem } from '../request/item-values.ts'
import type { RejectedOutcome } from '../request/outcome.ts'
import { keyValue } from '../request/serialize.ts'
import type { NestedAccess, Terms } from './runtime.ts'
import { decisionOn, rejection, type SaveEvent } from './save.ts'
import { openScope, type CodeScope, type Prepared } from './scope.ts'

/**
 * Calls `prepare` of an event, if it has one, and then `next` with the result. If `prepare` rejects the event,
 * returns that outcome. `prepare` must be called before the transaction of the event opens, because it may wait
 * for other services.
 */
export function whenPrepared<Result>(
  event: DataEvent,
  terms: Terms,
  access: NestedAccess,
  next: (prepared?: Prepared) => MaybePromise<Result>,
): MaybePromise<Result | RejectedOutcome> {
  if (event.type === 'Filter') return next()
  const { collection, type } = event
  const preparation = collection.events[type]?.prepare
  // Application code never receives a value of a wrong type.
  const isFaulty = type !== 'Delete' && event.submitted.faults.length > 0
  if (preparation === undefined || isFaulty) return next()
  const { running } = terms
  const inner = { ...terms, running: { ...running, depth: running.depth + 1 } }
  const scope: CodeScope = openScope(inner, { collection, event: type }, access)
  const context = contextOf(event, scope)
  let result: unknown
  const completed = scope.untilRejected(() => {
    const called = scope.call('prepare', () =>
      typeof preparation === 'function'
        ? preparation(context as never)
        : preparation.run(context as never),
    )
    return whenDone(called, (returned) => {
      result = returned
    })
  })
  return whenDone<boolean, Result | RejectedOutcome>(completed, (isCompleted) =>
    isCompleted ? next({ result, findings: scope.findings }) : rejected(event, scope),
  )
}

function contextOf(event: SaveEvent, scope: CodeScope): object {
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
      scope.terms.runtime.report({ type: 'prepare-failed', place, error: failure })
    },
    key: type === 'Insert' ? null : keyValue(collection, event.key),
    ...(type !== 'Delete' && { values: submittedItem(event) }),
  }
}

/** Returns the submitted values, which application code can't change. */
function submittedItem({ collection, submitted: { values } }: InsertEvent | UpdateEvent): object {
  return frozenItem(collection, values, Object.keys(values))
}

function rejected(event: SaveEvent, scope: CodeScope): MaybePromise<RejectedOutcome> {
  return whenDone(decisionOn({ event, scope }), ({ blocking, information }) =>
    rejection(event, [...blocking, ...information]),
  )
}
