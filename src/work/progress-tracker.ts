import { runtime } from '../runtime.ts'

/** How far a job in progress is. It changes with every heartbeat of its worker. */
export interface Progress {
  readonly id: string
  /** The number of claims. */
  readonly attempt: number
  /** The number of heartbeats of the attempt. Default 0. */
  readonly heartbeat?: number
}

/** Finds jobs whose progress does not change. */
export interface ProgressTracker<Job> {
  /** Returns the jobs that have not changed while this process watched for a whole lease. */
  stalled(jobs: readonly Job[]): readonly Job[]
}

interface Observed extends Required<Progress> {
  readonly since: number
  readonly checks: number
}

// A suspended process does not watch, although its clock advances. After it resumes, other workers get
// time for a heartbeat.
const minChecks = 3

/**
 * Creates a tracker. Its `stalled` must be called more than once per lease, which is in milliseconds.
 * Clocks of different processes are never compared: only changes that this process reads count.
 */
export function progressTracker<Job>(
  lease: number,
  progressOf: (job: Job) => Progress,
): ProgressTracker<Job> {
  let observed: ReadonlyMap<string, Observed> = new Map()
  return {
    stalled: (jobs) => {
      const now = runtime.performanceNow()
      const next = new Map<string, Observed>()
      const stalled = jobs.filter((job) => {
        const { id, attempt, heartbeat = 0 } = progressOf(job)
        const last = observed.get(id)
        const isSame = last?.attempt === attempt && last.heartbeat === heartbeat
        const current = isSame
          ? { ...last, checks: last.checks + 1 }
          : { id, attempt, heartbeat, since: now, checks: 1 }
        next.set(id, current)
        return current.checks >= minChecks && now - current.since > lease
      })
      observed = next
      return stalled
    },
  }
}
