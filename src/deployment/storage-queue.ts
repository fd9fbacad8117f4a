import type { BuildQueue, BuildTicket } from './queue.ts'
import type { QueuedRelease, ReleaseStore } from './release-store.ts'

/** How a storage queue looks for work. */
export interface StorageQueueParts {
  readonly store: Pick<ReleaseStore, 'queued'>
  /** Whether a solution builds one release at a time. */
  readonly serial: boolean
  /** Milliseconds between two looks. What is announced in this process is seen at once. */
  readonly pollInterval: number
  /** Told when storage could not be asked; it is asked again. */
  readonly report: (failure: { readonly error: unknown }) => void
}

const pageSize = 100

/** The queue that needs nothing but storage: workers look for releases that are queued, the oldest first. */
export function storageQueue({
  store,
  serial,
  pollInterval,
  report,
}: StorageQueueParts): BuildQueue {
  const workers = new Set<(ticket: BuildTicket) => void>()
  return {
    name: 'storage',
    announce: (ticket) => {
      for (const tell of workers) tell(ticket)
    },
    process: (work, { concurrency }) => {
      const running = new Map<string, Promise<void>>()
      // What was tried and still waits can't be claimed now: it is tried again when there is a reason.
      // Of a solution that builds one release at a time only the oldest one is tried.
      const tried = new Set<string>()
      const keyOf = ({ releaseId, solutionId }: QueuedRelease): string =>
        serial ? solutionId : releaseId
      const state: { again: boolean; stopped: boolean } = { again: false, stopped: false }
      let looking: Promise<void> | undefined
      const hasRoom = (): boolean => !state.stopped && running.size < concurrency

      const start = (release: QueuedRelease): void => {
        const { releaseId } = release
        tried.add(keyOf(release))
        const done = work({ releaseId }).finally(() => {
          running.delete(releaseId)
          look()
        })
        running.set(releaseId, done)
      }
      const search = async (): Promise<void> => {
        while (state.again && hasRoom()) {
          state.again = false
          for (let offset = 0; hasRoom(); offset += pageSize) {
            const page = await store.queued({ limit: pageSize, offset })
            for (const waiting of page) {
              if (hasRoom() && !running.has(waiting.releaseId) && !tried.has(keyOf(waiting)))
                start(waiting)
            }
            if (page.length < pageSize) break
          }
        }
      }
      const look = (): void => {
        state.again = true
        if (!hasRoom()) return
        looking ??= search()
          .catch((error: unknown) => {
            report({ error })
          })
          .finally(() => {
            looking = undefined
            if (state.again && hasRoom()) look()
          })
      }
      const tell = ({ releaseId }: BuildTicket): void => {
        // The ticket does not say which solution it is of.
        if (serial) tried.clear()
        else tried.delete(releaseId)
        look()
      }
      const timer = setInterval(() => {
        tried.clear()
        look()
      }, pollInterval)
      timer.unref()
      workers.add(tell)
      look()
      return {
        stop: async () => {
          state.stopped = true
          clearInterval(timer)
          workers.delete(tell)
          await looking
          await Promise.all(running.values())
        },
      }
    },
  }
}
