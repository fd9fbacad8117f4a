import { setMaxListeners } from 'node:events'
import type { BuildNews } from './build-log.ts'
import type { BuildQueue, QueueWorker } from './queue.ts'
import type { Release } from './release.ts'
import type { ReleaseStore } from './release-store.ts'
import { openSightings } from './sightings.ts'

/** What a worker works with. */
export interface WorkerParts {
  readonly store: ReleaseStore
  readonly queue: BuildQueue
  /** Builds a release that was claimed. Never rejects. */
  readonly build: (claimed: Release, closing: AbortSignal) => Promise<void>
  /** Whether a solution builds one release at a time. */
  readonly serial: boolean
  readonly lease: number
  /** How many workers may die over a release before it has failed. */
  readonly mostLost: number
  readonly now: () => Date
  readonly tell: (news: BuildNews) => void
}

/** Takes builds from the queue, and watches over those of others. */
export function startWorker(parts: WorkerParts, concurrency: number): QueueWorker {
  const { store, queue, build, serial } = parts
  const closing = new AbortController()
  // Each build in progress listens.
  setMaxListeners(0, closing.signal)

  const work = async (releaseId: string): Promise<void> => {
    const waiting = await store.find(releaseId)
    if (waiting?.status !== 'queued') return
    const claimed = await store.claim(waiting, serial)
    if (claimed === undefined) return
    await build(claimed, closing.signal)
    if (!serial) return
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
  const { store, queue, lease } = parts
  const building = openSightings(lease)
  const waiting = openSightings(lease)
  const look = async (): Promise<void> => {
    for (const release of building.unmoved(await store.inState('building', mostWatched))) {
      await takeBack(parts, release)
    }
    for (const { releaseId } of waiting.unmoved(await store.inState('queued', mostReminded))) {
      await queue.announce({ releaseId })
    }
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
