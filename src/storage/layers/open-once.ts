import type { MaybePromise } from '../../maybe-promise.ts'
import type { StorageAdapter } from '../adapter.ts'

/**
 * Calls `open` immediately, so that a synchronous adapter fails at start, or with `atStart` false when the returned
 * function is called first. That function resolves once storage is open. If an asynchronous attempt has failed, the
 * next call tries again.
 */
export function openOnce(
  open: () => MaybePromise<void>,
  { atStart }: { readonly atStart: boolean } = { atStart: true },
): () => MaybePromise<void> {
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
  if (atStart) attempt()
  return () => {
    if (state === 'closed') attempt()
    return state instanceof Promise ? state : undefined
  }
}

/** Returns reads and transactions that wait until storage is open. Until then its version is undefined. */
export function whenOpen(
  storage: StorageAdapter,
  open: () => MaybePromise<void>,
): Pick<StorageAdapter, 'filter' | 'transaction' | 'version'> {
  const opened = <Result>(work: () => MaybePromise<Result>): MaybePromise<Result> => {
    const opening = open()
    return opening === undefined ? work() : opening.then(work)
  }
  return {
    filter: (collection, query, context) =>
      opened(() => storage.filter(collection, query, context)),
    version: (collections) => (open() === undefined ? storage.version?.(collections) : undefined),
    transaction: async (options, work) => opened(() => storage.transaction(options, work)),
  }
}
