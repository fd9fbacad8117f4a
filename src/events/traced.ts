import type { Principal } from '../definition/principal.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { stages, type EventTrace } from '../tracing.ts'
import { Rollback } from './guard.ts'

/** An event as its trace describes it. */
export interface TracedEvent {
  readonly collection: PublishedCollection
  /** Its name, which for a user-defined one is the host's. */
  readonly event: string
  readonly principal: Principal
  /** Whether a handler invoked it. */
  readonly nested: boolean
}

/** Runs an event as a trace of `rowgate:event` while somebody listens. */
export function traced<Result>(
  { collection, event, principal, nested }: TracedEvent,
  run: () => Promise<Result>,
  outcomeOf: (result: Result) => EventTrace['outcome'],
): Promise<Result> {
  if (!stages.event.isWatched) return run()
  const trace: EventTrace = {
    application: collection.application,
    collection: collection.name,
    event,
    user: principal.user,
    nested,
    outcome: null,
  }
  const work = async (): Promise<Result> => {
    try {
      const result = await run()
      trace.outcome = outcomeOf(result)
      return result
    } catch (error) {
      // It was rejected after something had been written: the transaction around it is undone.
      if (error instanceof Rollback) trace.outcome = 'rejected'
      throw error
    }
  }
  return stages.event.run(trace, work, () => trace.outcome === 'rejected')
}
