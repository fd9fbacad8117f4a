import type { BuildQueue, BuildTicket } from './queue.ts'
import type { ReleaseStore } from './release-store.ts'

/** How a storage queue looks for work. */
export interface StorageQueueParts {
  readonly store: Pick<ReleaseStore, 'inState'>
  /** Milliseconds between two looks. What is announced in this process is seen at once. */
  readonly pollInterval: number
  /** Told when storage could not be asked; it is asked again. */
  readonly report: (failure: { readonly error: unknown }) => void
}

const mostLooked = 100

/** The queue that needs nothing but storage: workers look for releases that are queued, the oldest first. */
export function storageQueue({ store, pollInterval, report }: StorageQueueParts): BuildQueue {
  const workers = new Set<(ticket: BuildTicket) => void>()
  return {
    name: 'storage',
    announce: (ticket) => {
      for (const tell of workers) tell(ticket)
    },
    process: (work, { concurrency }) => {
      const running = new Map<string, Promise<void>>()
      // What was tried and still waits can't be claimed now: it is tried again when there is a reason.
      const tried = new Set<string>()
      const state: { again: boolean; stopped: boolean } = { again: false, stopped: false }
      let looking: Promise<void> | undefined
      const hasRoom = (): boolean => !state.stopped && running.size < concurrency

      const start = ({ releaseId }: BuildTicket): void => {
        tried.add(releaseId)
        const done = work({ releaseId }).finally(() => {
          running.delete(releaseId)
          look()
        })
        running.set(releaseId, done)
      }
      const search = async (): Promise<void> => {
        while (state.again && hasRoom()) {
          state.again = false
          for (const waiting of await store.inState('queued', mostLooked)) {
            const { releaseId } = waiting
            if (hasRoom() && !running.has(releaseId) && !tried.has(releaseId)) start(waiting)
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
        tried.delete(releaseId)
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
