import { setMaxListeners } from 'node:events'
import { isUuid } from '../definition/field-type.ts'
import { isStorageError } from '../storage/adapter.ts'
import { watchLostJobs } from '../work/lost-jobs.ts'
import { progressTracker, type Progress } from '../work/progress-tracker.ts'
import type { Repetition } from '../work/repeat.ts'
import type { EndUnfit } from '../work/unfit-jobs.ts'
import type { Worker } from '../work/worker-pool.ts'
import type { BuildEvent } from './build-event.ts'
import type { BuildSlots } from './build-slots.ts'
import { ticketOf, type BuildQueue, type QueueWorker } from './queue.ts'
import type { Release, ReleaseStatus } from './release.ts'
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
  readonly endUnfit: EndUnfit<ReleaseStatus>
}

/** A worker that takes builds from the queue and monitors the heartbeats of other workers. */
export class BuildWorker implements Worker {
  readonly #dependencies: BuildWorkerDependencies
  readonly #closing = new AbortController()
  readonly #removeSlots: () => void
  readonly #taking: QueueWorker
  readonly #monitor: Repetition

  /** Starts the worker. */
  constructor(dependencies: BuildWorkerDependencies, concurrency: number) {
    this.#dependencies = dependencies
    // Each build in progress adds a listener.
    setMaxListeners(0, this.#closing.signal)
    this.#removeSlots = dependencies.slots.add(concurrency)
    this.#taking = dependencies.queue.process((job) => this.#work(job), { concurrency })
    this.#monitor = monitorBuilds(dependencies, this.#closing.signal)
  }

  /** Takes no more builds, and resolves when those in progress are queued again. */
  async stop(): Promise<void> {
    this.#closing.abort()
    await Promise.all([this.#monitor.stop(), this.#taking.stop()])
    this.#removeSlots()
  }

  // Whatever the queue passes, and whatever fails: a rejection could end the process.
  async #work(job: unknown): Promise<void> {
    const { emit, endUnfit } = this.#dependencies
    const ticket = ticketOf(job)
    if (ticket === undefined || !isUuid(ticket.releaseId)) {
      const error = new Error('The build queue has a job without the id of a release.')
      emit({ type: 'discarded', releaseId: null, error })
      return
    }
    const releaseId = ticket.releaseId.toLowerCase()
    try {
      await this.#workOn(releaseId)
    } catch (error) {
      if (isStorageError(error) && error.kind === 'unfit')
        await endUnfit('queued', [{ key: { releaseId }, error }])
      // The release stays queued and is retried at the next poll.
      else emit({ type: 'unreachable', error })
    }
  }

  async #workOn(releaseId: string): Promise<void> {
    const { store, queue, serial } = this.#dependencies
    const claimed = await this.#claimAndBuild(releaseId)
    // Another process may build it at once.
    if (this.#closing.signal.aborted) return queue.announce({ releaseId })
    if (claimed === undefined || !serial) return
    const next = await store.nextQueued(claimed.solutionId)
    if (next !== undefined) await queue.announce(next)
  }

  async #claimAndBuild(releaseId: string): Promise<Release | undefined> {
    const { store, slots, serial, build, emit } = this.#dependencies
    const { signal } = this.#closing
    const free = await slots.take(signal)
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
        await build(claimed, signal).catch((error: unknown) => {
          emit({ type: 'unreachable', error })
        })
      }
      return claimed
    } finally {
      free()
    }
  }
}

const maxMonitored = 1_000
const maxAnnounced = 10

/**
 * Queues builds again whose worker has sent no heartbeat for a whole lease. Announces releases that have
 * been queued for a whole lease again, since the queue may have lost them.
 */
function monitorBuilds(
  { store, queue, lease, maxLost, serial, now, emit }: BuildWorkerDependencies,
  closing: AbortSignal,
): Repetition {
  const waiting = progressTracker<QueuedRelease>(lease, progressOf)
  return watchLostJobs<BuildingRelease>({
    ...{ lease, maxLost, closing, progressOf },
    claimed: () => store.building(maxMonitored),
    giveBack: async (release, lost) => {
      const { releaseId, attempt } = release
      if ((await store.requeue(release, lost)) === undefined) return
      emit({ type: 'lost', releaseId, attempt })
      await queue.announce({ releaseId })
    },
    fail: async (release) => {
      const { releaseId, attempt } = release
      const error = `${maxLost} workers stopped responding during this build.`
      const failed = await store.fail(release, error, { built: now().toISOString() })
      if (failed !== undefined) emit({ type: 'lost', releaseId, attempt })
    },
    // The next round makes up for it.
    report: () => undefined,
    afterwards: async () => {
      const stalled = waiting.stalled(await store.queued({ limit: maxMonitored, offset: 0 }))
      // Releases that wait for another build of their solution must not delay the releases of other solutions.
      const first = serial ? firstOfEach(stalled) : stalled.slice(0, maxAnnounced)
      for (const { releaseId } of first) await queue.announce({ releaseId })
    },
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
