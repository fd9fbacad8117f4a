import type { BuildEvent } from './build-event.ts'
import type { BuildQueue } from './queue.ts'
import type { Release } from './release.ts'
import type { QueuedRelease, ReleaseStore } from './release-store.ts'

/** What the heartbeat monitor uses. */
export interface HeartbeatMonitorDependencies {
  readonly store: ReleaseStore
  readonly queue: BuildQueue
  /** Whether a solution builds one release at a time. */
  readonly serial: boolean
  /** Milliseconds without a heartbeat after which a build is lost. */
  readonly lease: number
  /** How many workers may die during the build of a release before it fails. */
  readonly maxLost: number
  readonly now: () => Date
  readonly emit: (event: BuildEvent) => void
}

const maxMonitored = 1_000
const maxAnnounced = 10

/**
 * Queues builds again whose worker has sent no heartbeat for a whole lease. Announces releases that have
 * been queued for a whole lease again, since the queue may have lost them. Clocks of different processes
 * are never compared: a build is lost if its heartbeat has not changed while this process watched.
 */
export function startHeartbeatMonitor(dependencies: HeartbeatMonitorDependencies): {
  stop(): void
} {
  const { store, queue, lease, serial } = dependencies
  const building = progressTracker<Release>(lease)
  const queued = progressTracker<QueuedRelease>(lease)
  const check = async (): Promise<void> => {
    for (const release of building.stalled(await store.building(maxMonitored))) {
      await requeue(dependencies, release)
    }
    const stalled = queued.stalled(await store.queued({ limit: maxMonitored, offset: 0 }))
    // Releases that wait for another build of their solution must not delay those of other solutions.
    const first = serial ? firstOfEach(stalled) : stalled.slice(0, maxAnnounced)
    for (const { releaseId } of first) await queue.announce({ releaseId })
  }
  let checking: Promise<void> | undefined
  const timer = setInterval(() => {
    checking ??= check()
      .catch(() => undefined)
      .finally(() => {
        checking = undefined
      })
  }, lease / 2)
  timer.unref()
  return {
    stop: () => {
      clearInterval(timer)
    },
  }
}

/** Returns the oldest release of each solution. */
function firstOfEach(releases: readonly QueuedRelease[]): readonly QueuedRelease[] {
  const bySolution = new Map<string, QueuedRelease>()
  for (const release of releases) {
    if (!bySolution.has(release.solutionId)) bySolution.set(release.solutionId, release)
  }
  return [...bySolution.values()]
}

/** Queues a lost build again, or fails it after the last attempt. */
async function requeue(
  { store, queue, maxLost, now, emit }: HeartbeatMonitorDependencies,
  release: Release,
): Promise<void> {
  const { releaseId, attempt, lost } = release
  if (lost + 1 >= maxLost) {
    const end = { built: now().toISOString(), log: release.log }
    const failed = await store.fail(release, `${maxLost} workers have died over it.`, end)
    if (failed !== undefined) emit({ type: 'lost', releaseId, attempt })
    return
  }
  if ((await store.requeue(release)) === undefined) return
  emit({ type: 'lost', releaseId, attempt })
  await queue.announce({ releaseId })
}

/** Finds releases whose attempt and heartbeat do not change. */
export interface ProgressTracker<Tracked> {
  /** Returns those of the releases that have not changed while this process watched for a whole lease. */
  stalled(releases: readonly Tracked[]): readonly Tracked[]
}

interface Observed {
  readonly attempt: number
  readonly heartbeat: number
  readonly since: number
  readonly checks: number
}

// A suspended process does not watch, although its clock advances. After it resumes, other workers get
// time for a heartbeat.
const minChecks = 3

/** Creates a tracker. Its `stalled` must be called more than once per lease. */
export function progressTracker<
  Tracked extends Pick<Release, 'releaseId' | 'attempt' | 'heartbeat'>,
>(lease: number): ProgressTracker<Tracked> {
  let observed: ReadonlyMap<string, Observed> = new Map()
  return {
    stalled: (releases) => {
      const now = performance.now()
      const next = new Map<string, Observed>()
      const stalled = releases.filter(({ releaseId, attempt, heartbeat }) => {
        const last = observed.get(releaseId)
        const isSame = last?.attempt === attempt && last.heartbeat === heartbeat
        const current = isSame
          ? { ...last, checks: last.checks + 1 }
          : { attempt, heartbeat, since: now, checks: 1 }
        next.set(releaseId, current)
        return current.checks >= minChecks && now - current.since > lease
      })
      observed = next
      return stalled
    },
  }
}
