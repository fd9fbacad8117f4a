import { PollingWorker } from '../work/polling-worker.ts'
import type { BuildQueue } from './queue.ts'
import type { QueuedRelease, ReleaseStore } from './release-store.ts'

/** What the queue in storage uses. */
export interface StorageQueueDependencies {
  readonly store: Pick<ReleaseStore, 'queued'>
  /** Whether a solution builds one release at a time. */
  readonly serial: boolean
  /** Milliseconds between two polls. Releases announced in this process are taken at once. */
  readonly pollInterval: number
  /** Called when a poll fails. The next poll retries. */
  readonly report: (failure: { readonly error: unknown }) => void
}

/** Creates the build queue in storage: workers poll for queued releases, oldest first. */
export function storageQueue({
  store,
  serial,
  pollInterval,
  report,
}: StorageQueueDependencies): BuildQueue {
  const workers = new Set<PollingWorker<QueuedRelease>>()
  return {
    name: 'storage',
    announce: ({ releaseId }) => {
      // A ticket does not name its solution, whose other releases may have been tried.
      for (const worker of workers) worker.wake(serial ? undefined : releaseId)
    },
    process: (work, { concurrency }) => {
      const worker = new PollingWorker<QueuedRelease>({
        find: (page) => store.queued(page),
        idOf: ({ releaseId }) => releaseId,
        ...(serial && { groupOf: ({ solutionId }) => solutionId }),
        work: ({ releaseId }) => work({ releaseId }),
        concurrency,
        pollInterval,
        report: (error) => {
          report({ error })
        },
      })
      workers.add(worker)
      return {
        stop: () => {
          workers.delete(worker)
          return worker.stop()
        },
      }
    },
  }
}
