import { countOf } from './attempts.ts'
import { progressTracker, type Progress } from './progress-tracker.ts'
import { repeat, type Repetition } from './repeat.ts'

/** What is done with the jobs of workers that stopped responding. */
export interface LostJobsOptions<Job> {
  /** Milliseconds without progress after which a job is lost. */
  readonly lease: number
  /** How many workers may be lost during a job before it fails. */
  readonly maxLost: number
  /** Ends the round in progress. */
  readonly closing: AbortSignal
  /** Returns the jobs that workers have claimed. */
  readonly claimed: () => Promise<readonly Job[]>
  readonly progressOf: (job: Job) => Progress
  /** Gives a job to the other workers. `lost` is the number of its lost workers, with this one. */
  readonly giveBack: (job: Job, lost: number) => Promise<void>
  /** Ends a job that too many workers were lost with. */
  readonly fail: (job: Job, lost: number) => Promise<void>
  /** Called if a job can't be given back. The next round retries. */
  readonly report: (error: unknown) => void
  /** Called at the end of each round. */
  readonly afterwards: () => Promise<void>
}

/**
 * Takes jobs from workers that have made no progress for a whole lease, in two rounds per lease. One job that fails does
 * not keep the others from it.
 */
export function watchLostJobs<Job extends { readonly lost: number }>(
  options: LostJobsOptions<Job>,
): Repetition {
  const { lease, maxLost, closing, claimed, giveBack, fail, report, afterwards } = options
  const tracker = progressTracker<Job>(lease, options.progressOf)
  return repeat(lease / 2, async () => {
    for (const job of tracker.stalled(await claimed())) {
      if (closing.aborted) return
      const lost = countOf(job.lost) + 1
      await (lost >= maxLost ? fail(job, lost) : giveBack(job, lost)).catch(report)
    }
    await afterwards()
  })
}
