import type { BuildQueue, BuildTicket } from './queue.ts'
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

const pageSize = 100

/** Creates the build queue in storage: workers poll for queued releases, oldest first. */
export function storageQueue({
  store,
  serial,
  pollInterval,
  report,
}: StorageQueueDependencies): BuildQueue {
  const workers = new Set<(ticket: BuildTicket) => void>()
  return {
    name: 'storage',
    announce: (ticket) => {
      for (const notify of workers) notify(ticket)
    },
    process: (work, { concurrency }) => {
      const running = new Map<string, Promise<void>>()
      // Releases that could not be claimed are skipped until the next poll or announcement. With `serial`,
      // only the oldest release of each solution is tried, and its solution is skipped.
      const tried = new Set<string>()
      const keyOf = ({ releaseId, solutionId }: QueuedRelease): string =>
        serial ? solutionId : releaseId
      const state: { again: boolean; stopped: boolean } = { again: false, stopped: false }
      let polling: Promise<void> | undefined
      const hasRoom = (): boolean => !state.stopped && running.size < concurrency

      const start = (release: QueuedRelease): void => {
        const { releaseId } = release
        tried.add(keyOf(release))
        const done = work({ releaseId }).finally(() => {
          running.delete(releaseId)
          poll()
        })
        running.set(releaseId, done)
      }
      const startQueued = async (): Promise<void> => {
        while (state.again && hasRoom()) {
          state.again = false
          for (let offset = 0; hasRoom(); offset += pageSize) {
            const page = await store.queued({ limit: pageSize, offset })
            for (const release of page) {
              if (hasRoom() && !running.has(release.releaseId) && !tried.has(keyOf(release)))
                start(release)
            }
            if (page.length < pageSize) break
          }
        }
      }
      const poll = (): void => {
        state.again = true
        if (!hasRoom()) return
        polling ??= startQueued()
          .catch((error: unknown) => {
            report({ error })
          })
          .finally(() => {
            polling = undefined
            if (state.again && hasRoom()) poll()
          })
      }
      const notify = ({ releaseId }: BuildTicket): void => {
        // A ticket does not name its solution.
        if (serial) tried.clear()
        else tried.delete(releaseId)
        poll()
      }
      const timer = setInterval(() => {
        tried.clear()
        poll()
      }, pollInterval)
      timer.unref()
      workers.add(notify)
      poll()
      return {
        stop: async () => {
          state.stopped = true
          clearInterval(timer)
          workers.delete(notify)
          await polling
          await Promise.all(running.values())
        },
      }
    },
  }
}
