import { setMaxListeners } from 'node:events'
import type { BuildEvent } from './build-event.ts'
import type { BuildSlots } from './build-slots.ts'
import { startHeartbeatMonitor } from './heartbeat-monitor.ts'
import type { BuildQueue, QueueWorker } from './queue.ts'
import type { Release } from './release.ts'
import type { ReleaseStore } from './release-store.ts'

/** What the workers of this process work with. */
export type WorkerPoolDependencies = Omit<WorkerDependencies, 'build'> & {
  readonly build: (claimed: Release, closing: AbortSignal) => Promise<unknown>
  readonly tell: (news: BuildEvent) => void
}

/** All workers of this process. */
export interface WorkerPool {
  /** Starts another one. */
  work(concurrency: number): QueueWorker
  stop(): Promise<void>
}

/** Gathers the workers of this process, so that closing can stop them all. */
export function openWorkerPool({ build, ...parts }: WorkerPoolDependencies): WorkerPool {
  const workers = new Set<QueueWorker>()
  const attempt: WorkerDependencies['build'] = async (claimed, closing) => {
    try {
      await build(claimed, closing)
    } catch (error) {
      parts.tell({ type: 'unreachable', error })
    }
  }
  return {
    work: (concurrency) => {
      const remove = parts.slots.add(concurrency)
      const worker = startWorker({ ...parts, build: attempt }, concurrency)
      workers.add(worker)
      return {
        stop: async () => {
          await worker.stop()
          if (workers.delete(worker)) remove()
        },
      }
    },
    stop: async () => {
      await Promise.all([...workers].map((worker) => worker.stop()))
    },
  }
}

/** What a worker works with. */
interface WorkerDependencies {
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
  readonly tell: (news: BuildEvent) => void
}

/** Takes builds from the queue, and watches over those of others. */
function startWorker(parts: WorkerDependencies, concurrency: number): QueueWorker {
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
  const monitor = startHeartbeatMonitor(parts)
  return {
    stop: async () => {
      monitor.stop()
      closing.abort()
      await worker.stop()
    },
  }
}
