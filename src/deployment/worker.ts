import type { BuildNews } from './build-log.ts'
import type { BuildQueue, QueueWorker } from './queue.ts'
import type { Release } from './release.ts'
import type { ReleaseStore } from './release-store.ts'

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

  const work = async (releaseId: string): Promise<void> => {
    const waiting = await store.find(releaseId)
    if (waiting?.status !== 'queued') return
    const claimed = await store.claim(waiting, serial)
    if (claimed !== undefined) await build(claimed, closing.signal)
    if (serial) await queue.announce({ releaseId })
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

/** How a build in progress was last seen, and when by the clock of this process. */
interface Sighting {
  readonly attempt: number
  readonly beat: number
  readonly at: number
}

const mostWatched = 1_000

/**
 * Queues builds again whose worker gives no sign of life for a whole lease. No clock is compared with
 * another: what counts is that the beat has not moved while this process watched.
 */
function watchOthers(parts: WorkerParts): { stop(): void } {
  const { store, lease } = parts
  let seen = new Map<string, Sighting>()
  const look = async (): Promise<void> => {
    const at = performance.now()
    const next = new Map<string, Sighting>()
    for (const release of await store.inState('building', mostWatched)) {
      const { releaseId, attempt, beat } = release
      const last = seen.get(releaseId)
      const isSame = last?.attempt === attempt && last.beat === beat
      if (isSame && at - last.at > lease) await takeBack(parts, release)
      else next.set(releaseId, isSame ? last : { attempt, beat, at })
    }
    seen = next
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
