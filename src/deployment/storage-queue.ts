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
  const looks = new Set<() => void>()
  return {
    name: 'storage',
    announce: () => {
      for (const look of looks) look()
    },
    process: (work, { concurrency }) => {
      const running = new Map<string, Promise<void>>()
      const state: { again: boolean; stopped: boolean } = { again: false, stopped: false }
      let looking: Promise<void> | undefined
      const hasRoom = (): boolean => !state.stopped && running.size < concurrency

      const start = ({ releaseId }: BuildTicket): void => {
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
            if (hasRoom() && !running.has(waiting.releaseId)) start(waiting)
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
          })
      }
      const timer = setInterval(look, pollInterval)
      timer.unref()
      looks.add(look)
      look()
      return {
        stop: async () => {
          state.stopped = true
          clearInterval(timer)
          looks.delete(look)
          await looking
          await Promise.all(running.values())
        },
      }
    },
  }
}
