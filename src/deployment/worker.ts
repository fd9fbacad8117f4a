import { setMaxListeners } from 'node:events'
import type { BuildNews } from './build-log.ts'
import type { BuildSlots } from './build-slots.ts'
import type { BuildQueue, QueueWorker } from './queue.ts'
import type { Release } from './release.ts'
import type { QueuedRelease, ReleaseStore } from './release-store.ts'
import { openSightings } from './sightings.ts'

/** What a worker works with. */
export interface WorkerParts {
  readonly store: ReleaseStore
  readonly queue: BuildQueue
  /** Builds a release that was claimed. Never rejects. */
  readonly build: (claimed: Release, closing: AbortSignal) => Promise<void>
  /** Whether a solution builds one release at a time. */
  readonly serial: boolean
  readonly slots: BuildSlots
  readonly lease: number
  /** How many workers may die over a release before it has failed. */
  readonly mostLost: number
  readonly now: () => Date
  readonly tell: (news: BuildNews) => void
}

/** Takes builds from the queue, and watches over those of others. */
export function startWorker(parts: WorkerParts, concurrency: number): QueueWorker {
  const { store, queue, build, serial, slots } = parts
  const closing = new AbortController()
  // Each build in progress listens.
  setMaxListeners(0, closing.signal)

  const claimAndBuild = async (releaseId: string): Promise<Release | undefined> => {
    const free = await slots.take(closing.signal)
    if (free === undefined) return undefined
    try {
      const waiting = await store.find(releaseId)
      if (waiting?.status !== 'queued') return undefined
      const claimed = await store.claim(waiting, serial)
      if (claimed !== undefined) await build(claimed, closing.signal)
      return claimed
    } finally {
      free()
    }
  }
  const work = async (releaseId: string): Promise<void> => {
    const claimed = await claimAndBuild(releaseId)
    if (claimed === undefined || !serial) return
    const next = await store.nextQueued(claimed.solutionId)
    if (next !== undefined) await queue.announce(next)
  }
  const worker = queue.process(
    // Storage that fails here is asked again at the next look.
    ({ releaseId }) => work(releaseId).catch(() => undefined),
    { concurrency },
  )
  const watch = watchOthers(parts)
  return {
    stop: async () => {
      watch.stop()
      closing.abort()
      await worker.stop()
    },
  }
}

const mostWatched = 1_000
const mostReminded = 10

/**
 * Queues builds again whose worker gives no sign of life for a whole lease, and reminds the queue of those
 * that wait as long: it may have lost them. No clock is compared with another: what counts is what has
 * not moved while this process watched.
 */
function watchOthers(parts: WorkerParts): { stop(): void } {
  const { store, queue, lease, serial } = parts
  const building = openSightings<Release>(lease)
  const waiting = openSightings<QueuedRelease>(lease)
  const look = async (): Promise<void> => {
    for (const release of building.unmoved(await store.building(mostWatched))) {
      await takeBack(parts, release)
    }
    const unmoved = waiting.unmoved(await store.queued({ limit: mostWatched, offset: 0 }))
    // Those that wait for the turn of their solution must not keep others from being announced.
    const first = serial ? firstOfEach(unmoved) : unmoved.slice(0, mostReminded)
    for (const { releaseId } of first) await queue.announce({ releaseId })
  }
  let looking: Promise<void> | undefined
  const timer = setInterval(() => {
    looking ??= look()
      .catch(() => undefined)
      .finally(() => {
        looking = undefined
      })
  }, lease / 2)
  timer.unref()
  return {
    stop: () => {
      clearInterval(timer)
    },
  }
}

/** The oldest release of each solution. */
function firstOfEach(releases: readonly QueuedRelease[]): readonly QueuedRelease[] {
  const bySolution = new Map<string, QueuedRelease>()
  for (const release of releases) {
    if (!bySolution.has(release.solutionId)) bySolution.set(release.solutionId, release)
  }
  return [...bySolution.values()]
}

async function takeBack(parts: WorkerParts, release: Release): Promise<void> {
  const { store, queue, mostLost, now, tell } = parts
  const { releaseId, attempt, lost } = release
  if (lost + 1 >= mostLost) {
    const end = { built: now().toISOString(), log: release.log }
    const failed = await store.fail(release, `${mostLost} workers have died over it.`, end)
    if (failed !== undefined) tell({ type: 'lost', releaseId, attempt })
    return
  }
  if ((await store.requeue(release)) === undefined) return
  tell({ type: 'lost', releaseId, attempt })
  await queue.announce({ releaseId })
}
