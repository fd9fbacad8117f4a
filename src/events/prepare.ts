import type { PublishedCollection } from '../definition/published.ts'
import type { StoredValue } from '../definition/field-type.ts'
import { whenDone, type MaybePromise } from '../maybe-promise.ts'
import type { DataEvent } from '../request/event.ts'
import { reject, type Outcome, type RejectedOutcome } from '../request/outcome.ts'
import type { NestedAccess, Terms } from './runtime.ts'
import { decisionOn, type SaveEvent } from './save.ts'
import { openScope, type CodeScope, type Prepared } from './scope.ts'

/**
 * Calls `prepare` of an event, if it has one, and then `next` with the result. If `prepare` rejects the event,
 * returns that outcome. `prepare` must be called before the transaction of the event opens, because it may wait
 * for other services.
 */
export function whenPrepared(
  event: DataEvent,
  terms: Terms,
  access: NestedAccess,
  next: (prepared?: Prepared) => MaybePromise<Outcome>,
): MaybePromise<Outcome> {
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
  return whenDone<boolean, Outcome>(completed, (isCompleted) =>
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
    key: type === 'Insert' ? null : keyOf(collection, event.key),
    ...(type !== 'Delete' && { values: Object.freeze({ ...event.submitted.values }) }),
  }
}

function keyOf({ key }: PublishedCollection, stored: readonly StoredValue[]): unknown {
  const parts = key.map((part, index) => part.show(stored[index] ?? null))
  return parts.length === 1 ? parts[0] : parts
}

function rejected(event: SaveEvent, scope: CodeScope): MaybePromise<RejectedOutcome> {
  const echo = event.type === 'Delete' ? undefined : event.submitted.echo
  return whenDone(decisionOn({ event, scope }), ({ blocking, information }) =>
    reject(event.type, echo, [...blocking, ...information]),
  )
}
