import { setMaxListeners } from 'node:events'
import type { BuildSlots } from './build-slots.ts'
import { startHeartbeatMonitor, type HeartbeatMonitorDependencies } from './heartbeat-monitor.ts'
import type { QueueWorker } from './queue.ts'
import type { Release } from './release.ts'

/** What the workers of this process use. */
export interface WorkerPoolDependencies extends HeartbeatMonitorDependencies {
  /** Builds a claimed release. Rejects if storage is unreachable. */
  readonly build: (claimed: Release, closing: AbortSignal) => Promise<unknown>
  readonly slots: BuildSlots
}

/** All workers of this process. */
export interface WorkerPool {
  /** Starts a worker that runs up to `concurrency` builds at a time. */
  work(concurrency: number): QueueWorker
  /** Stops all workers. */
  stop(): Promise<void>
}

/** Creates the pool of workers of this process. */
export function openWorkerPool(dependencies: WorkerPoolDependencies): WorkerPool {
  const workers = new Set<QueueWorker>()
  return {
    work: (concurrency) => {
      const remove = dependencies.slots.add(concurrency)
      const worker = startWorker(dependencies, concurrency)
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

/** Starts to take builds from the queue and to monitor the heartbeats of other workers. */
function startWorker(dependencies: WorkerPoolDependencies, concurrency: number): QueueWorker {
  const { store, queue, build, serial, slots, emit } = dependencies
  const closing = new AbortController()
  // Each build in progress adds a listener.
  setMaxListeners(0, closing.signal)

  const claimAndBuild = async (releaseId: string): Promise<Release | undefined> => {
    const free = await slots.take(closing.signal)
    if (free === undefined) return undefined
    try {
      const queued = await store.find(releaseId)
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
  const work = async (releaseId: string): Promise<void> => {
    const claimed = await claimAndBuild(releaseId)
    if (claimed === undefined || !serial) return
    const next = await store.nextQueued(claimed.solutionId)
    if (next !== undefined) await queue.announce(next)
  }
  const worker = queue.process(
    // If storage fails here, the release stays queued and is retried at the next poll.
    ({ releaseId }) => work(releaseId).catch(() => undefined),
    { concurrency },
  )
  const monitor = startHeartbeatMonitor(dependencies)
  return {
    stop: async () => {
      monitor.stop()
      closing.abort()
      await worker.stop()
    },
  }
}
