import type { Principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { whenSettled, type MaybePromise } from '../maybe-promise.ts'
import { stages, type Traces } from '../observation/channels.ts'
import { Rollback } from './guard.ts'

/** An event as its trace describes it. */
export interface TracedEvent {
  readonly collection: PublishedCollection
  /** Its name; for a user-defined event, the name in the definition. */
  readonly event: string
  readonly principal: Principal
  /** Whether a handler invoked it. */
  readonly nested: boolean
  /** Whether its outcome comes from the response cache. Default false. */
  readonly cached?: boolean
}

/** Runs an event as a trace of `rowgate:event` while the channel has subscribers. */
export function traced<Result>(
  { collection, event, principal, nested, cached = false }: TracedEvent,
  run: () => MaybePromise<Result>,
  outcomeOf: (result: Result) => Traces['rowgate:event']['outcome'],
): MaybePromise<Result> {
  if (!stages.event.isWatched) return run()
  const trace: Traces['rowgate:event'] = {
    application: collection.application,
    collection: collection.name,
    event,
    user: principal.user,
    nested,
    cached,
    outcome: null,
  }
  const work = (): MaybePromise<Result> =>
    whenSettled(
      run,
      (result) => {
        trace.outcome = outcomeOf(result)
        return result
      },
      (error) => {
        // It was rejected after something had been written, so the transaction is rolled back.
        if (error instanceof Rollback) trace.outcome = 'rejected'
        throw error
      },
    )
  return stages.event.run(trace, work, () => trace.outcome === 'rejected')
}
