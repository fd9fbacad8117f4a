import { setMaxListeners } from 'node:events'
import type { Worker } from '../work/worker-pool.ts'
import type { BuildSlots } from './build-slots.ts'
import { monitorBuilds, type BuildMonitorDependencies } from './lost-builds.ts'
import type { Release } from './release.ts'

/** What the workers of this process use. */
export interface BuildWorkerDependencies extends BuildMonitorDependencies {
  /** Builds a claimed release. Rejects if storage is unreachable. */
  readonly build: (claimed: Release, closing: AbortSignal) => Promise<unknown>
  readonly slots: BuildSlots
}

/** Starts to take builds from the queue and to monitor the heartbeats of other workers. */
export function startBuildWorker(
  dependencies: BuildWorkerDependencies,
  concurrency: number,
): Worker {
  const { store, queue, build, serial, slots, emit } = dependencies
  const closing = new AbortController()
  // Each build in progress adds a listener.
  setMaxListeners(0, closing.signal)
  const removeSlots = slots.add(concurrency)

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
  const monitor = monitorBuilds(dependencies)
  return {
    stop: async () => {
      closing.abort()
      await Promise.all([monitor.stop(), worker.stop()])
      removeSlots()
    },
  }
}
