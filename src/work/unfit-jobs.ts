import type { Row, StorageAdapter } from '../storage/adapter.ts'
import type { UnfitRow } from '../storage/fitting-rows.ts'
import type { JobTable } from './jobs.ts'
import { keepLatest } from '../keep-latest.ts'

/** Ends jobs of a state whose stored values do not fit their fields, so that workers do not try them again. */
export type EndUnfit<State> = (state: State, found: readonly UnfitRow[]) => Promise<void>

/** How jobs are ended whose stored values do not fit their fields. */
export interface UnfitJobsOptions<Job, Key extends keyof Job, State extends string> {
  readonly storage: Pick<StorageAdapter, 'transaction'>
  readonly jobs: JobTable<Job, Key, State>
  readonly now: () => Date
  /** Returns the changes that end a job at a time, with valid counts, so that the row can be read again. */
  readonly changes: (now: string) => Row
  /** Called after the commit. */
  readonly onEnd: (end: UnfitEnd<Job>) => void | Promise<void>
  /** Receives, once, what can't be changed. */
  readonly report: (error: Error) => void
  /** The end of the message of a job that can't be changed. */
  readonly cannot: string
}

/** A job that was ended because its stored values do not fit their fields. */
export interface UnfitEnd<Job> {
  readonly job: Job
  readonly key: Row
  readonly error: Error
  /** The time of the end, as an instant. */
  readonly now: string
}

const writing = { mode: 'write', brief: true } as const

/** Creates the function that ends them. It never rejects: what it can't change, it reports once. */
export function endUnfitJobs<Job, Key extends keyof Job, State extends string>(
  options: UnfitJobsOptions<Job, Key, State>,
): EndUnfit<State> {
  const { storage, jobs, changes, onEnd, cannot } = options
  const report = reportOnce(options.report)

  async function end(state: State, { key, error }: UnfitRow): Promise<void> {
    if (key === undefined) {
      report(error)
      return
    }
    const now = options.now().toISOString()
    try {
      const job = await storage.transaction(writing, (on) =>
        jobs.endUnfit(on, state, key, changes(now)),
      )
      if (job !== undefined) await onEnd({ job, key, error, now })
    } catch (cause) {
      report(new Error(`${error.message} ${cannot}`, { cause }))
    }
  }

  return async (state, found) => {
    for (const each of found) await end(state, each)
  }
}

const maxKnown = 100

/**
 * Returns a function that passes on errors, but not one whose message was passed on before: for faults of stored
 * rows, which each poll finds again. It remembers 100 messages.
 */
function reportOnce(report: (error: Error) => void): (error: Error) => void {
  const known = new Map<string, true>()
  return (error) => {
    const isKnown = known.has(error.message)
    keepLatest(known, error.message, true, maxKnown)
    if (!isKnown) report(error)
  }
}
