import type { BuildNews } from './build-log.ts'
import type { QueueWorker } from './queue.ts'
import type { Release } from './release.ts'
import { startWorker, type WorkerParts } from './worker.ts'

/** What the workers of this process work with. */
export type CrewParts = Omit<WorkerParts, 'build'> & {
  readonly build: (claimed: Release, closing: AbortSignal) => Promise<unknown>
  readonly tell: (news: BuildNews) => void
}

/** All workers of this process. */
export interface Crew {
  /** Starts another one. */
  work(concurrency: number): QueueWorker
  stop(): Promise<void>
}

/** Gathers the workers of this process, so that closing can stop them all. */
export function openCrew({ build, ...parts }: CrewParts): Crew {
  const workers = new Set<QueueWorker>()
  const attempt: WorkerParts['build'] = async (claimed, closing) => {
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
