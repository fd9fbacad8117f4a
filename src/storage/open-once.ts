import type { MaybePromise } from './adapter.ts'

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
