import type { MaybePromise } from '../maybe-promise.ts'
import type { StorageAdapter } from './adapter.ts'

/**
 * Opens storage at once, so that a synchronous adapter fails at start, and waits for an asynchronous
 * one. An attempt that failed later is repeated on the next call: databases come back.
 */
export function openOnce(open: () => MaybePromise<void>): () => MaybePromise<void> {
  let state: 'closed' | 'open' | Promise<void> = 'closed'
  const attempt = () => {
    const opened = open()
    if (opened === undefined) {
      state = 'open'
      return
    }
    const settled = opened.then(
      () => {
        state = 'open'
      },
      (error: unknown) => {
        state = 'closed'
        throw error
      },
    )
    settled.catch(() => undefined)
    state = settled
  }
  attempt()
  return () => {
    if (state === 'closed') attempt()
    return state instanceof Promise ? state : undefined
  }
}

/** Reads and transactions that wait until storage is open; until then its version is unknown. */
export function whenOpen(
  storage: StorageAdapter,
  open: () => MaybePromise<void>,
): Pick<StorageAdapter, 'filter' | 'transaction' | 'version'> {
  const opened = <Result>(work: () => MaybePromise<Result>): MaybePromise<Result> => {
    const opening = open()
    return opening === undefined ? work() : opening.then(work)
  }
  return {
    filter: (collection, query) => opened(() => storage.filter(collection, query)),
    version: () => (open() === undefined ? storage.version?.() : undefined),
    transaction: async (options, work) => opened(() => storage.transaction(options, work)),
  }
}
