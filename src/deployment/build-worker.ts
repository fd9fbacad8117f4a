import { setMaxListeners } from 'node:events'
import { isUuid } from '../definition/field-type.ts'
import { isStorageError } from '../storage/adapter.ts'
import { countOf } from '../work/attempts.ts'
import type { Worker } from '../work/worker-pool.ts'
import type { BuildSlots } from './build-slots.ts'
import type { Release } from './release.ts'
import { progressTracker, type Progress } from '../work/progress-tracker.ts'
import { repeat, type Repetition } from '../work/repeat.ts'
import type { BuildEvent } from './build-event.ts'
import { ticketOf, type BuildQueue } from './queue.ts'
import type { FailUnfit } from './unfit-releases.ts'
import type { BuildingRelease, QueuedRelease, ReleaseStore } from './release-store.ts'

/** What the workers of this process use. */
export interface BuildWorkerDependencies {
  readonly store: ReleaseStore
  readonly queue: BuildQueue
  /** Builds a claimed release. Rejects if storage is unreachable. */
  readonly build: (claimed: Release, closing: AbortSignal) => Promise<unknown>
  readonly slots: BuildSlots
  /** Whether a solution builds one release at a time. */
  readonly serial: boolean
  /** Milliseconds without a heartbeat after which a build is lost. */
  readonly lease: number
  /** How many workers may die during the build of a release before it fails. */
  readonly maxLost: number
  readonly now: () => Date
  readonly emit: (event: BuildEvent) => void
  readonly failUnfit: FailUnfit
}

/** Starts to take builds from the queue and to monitor the heartbeats of other workers. */
export function startBuildWorker(
  dependencies: BuildWorkerDependencies,
  concurrency: number,
): Worker {
  const { store, queue, build, serial, slots, emit, failUnfit } = dependencies
  const closing = new AbortController()
  // Each build in progress adds a listener.
  setMaxListeners(0, closing.signal)
  const removeSlots = slots.add(concurrency)

  const claimAndBuild = async (releaseId: string): Promise<Release | undefined> => {
    const free = await slots.take(closing.signal)
    if (free === undefined) return undefined
    try {
      const queued = await store.find(releaseId)
      if (queued === undefined) {
        const error = new Error(
          `The build queue has a job of the release ${releaseId}, which does not exist.`,
        )
        emit({ type: 'discarded', releaseId, error })
      }
      if (queued?.status !== 'queued') return undefined
      const claimed = await store.claim(queued, serial)
      if (claimed !== undefined) {
        await build(claimed, closing.signal).catch((error: unknown) => {
          emit({ type: 'unreachable', error })
        })
      }
      return claimed
    } finally {
      free()
    }
  }
  const workOn = async (releaseId: string): Promise<void> => {
    const claimed = await claimAndBuild(releaseId)
    // Another process may build it at once.
    if (closing.signal.aborted) return queue.announce({ releaseId })
    if (claimed === undefined || !serial) return
    const next = await store.nextQueued(claimed.solutionId)
    if (next !== undefined) await queue.announce(next)
  }
  // Whatever the queue passes, and whatever fails: a rejection could end the process.
  const work = async (job: unknown): Promise<void> => {
    const ticket = ticketOf(job)
    if (ticket === undefined || !isUuid(ticket.releaseId)) {
      const error = new Error('The build queue has a job without the id of a release.')
      emit({ type: 'discarded', releaseId: null, error })
      return
    }
    const releaseId = ticket.releaseId.toLowerCase()
    try {
      await workOn(releaseId)
    } catch (error) {
      if (isStorageError(error) && error.kind === 'unfit')
        await failUnfit('queued', [{ key: { releaseId }, error }])
      // The release stays queued and is retried at the next poll.
      else emit({ type: 'unreachable', error })
    }
  }
  const worker = queue.process(work, { concurrency })
  const monitor = monitorBuilds(dependencies)
  return {
    stop: async () => {
      closing.abort()
      await Promise.all([monitor.stop(), worker.stop()])
      removeSlots()
    },
  }
}

const maxMonitored = 1_000
const maxAnnounced = 10

/**
 * Queues builds again whose worker has sent no heartbeat for a whole lease. Announces releases that have
 * been queued for a whole lease again, since the queue may have lost them.
 */
function monitorBuilds(dependencies: BuildWorkerDependencies): Repetition {
  const { store, queue, lease, serial } = dependencies
  const building = progressTracker<BuildingRelease>(lease, progressOf)
  const queued = progressTracker<QueuedRelease>(lease, progressOf)
  return repeat(lease / 2, async () => {
    for (const release of building.stalled(await store.building(maxMonitored))) {
      await requeue(dependencies, release)
    }
    const stalled = queued.stalled(await store.queued({ limit: maxMonitored, offset: 0 }))
    // Releases that wait for another build of their solution must not delay those of other solutions.
    const first = serial ? firstOfEach(stalled) : stalled.slice(0, maxAnnounced)
    for (const { releaseId } of first) await queue.announce({ releaseId })
  })
}

function progressOf({ releaseId, attempt, heartbeat }: QueuedRelease): Progress {
  return { id: releaseId, attempt, heartbeat }
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
  { store, queue, maxLost, now, emit }: BuildWorkerDependencies,
  release: BuildingRelease,
): Promise<void> {
  const { releaseId, attempt, lost } = release
  if (countOf(lost) + 1 >= maxLost) {
    const failed = await store.fail(
      release,
      `${maxLost} workers stopped responding during this build.`,
      { built: now().toISOString() },
    )
    if (failed !== undefined) emit({ type: 'lost', releaseId, attempt })
    return
  }
  if ((await store.requeue(release)) === undefined) return
  emit({ type: 'lost', releaseId, attempt })
  await queue.announce({ releaseId })
}
