import { builtin } from '../builtin.ts'
import { whenEnded, type MaybePromise } from '../maybe-promise.ts'

/** A write transaction that code runs in. */
interface OpenTransaction {
  isOpen: boolean
}

/** A store of `node:async_hooks`, as far as it is used here. */
interface Store {
  getStore(): OpenTransaction | undefined
}

interface Channel {
  readonly hasSubscribers: boolean
  bindStore(store: Store): void
  runStores<Result>(message: OpenTransaction, work: () => Result): Result
}

// By its name, so that several copies of the package share it.
const channel = builtin<{ channel(name: string): Channel }>('diagnostics_channel').channel?.(
  'rowgate:write-transaction',
)

/** Returns the work of a write transaction so that {@link transactionDetector} detects it while it runs. */
export function asTransaction<Given, Result>(
  work: (given: Given) => MaybePromise<Result>,
): (given: Given) => MaybePromise<Result> {
  if (channel?.hasSubscribers !== true) return work
  return (given) => {
    const transaction = { isOpen: true }
    return whenEnded(
      () => channel.runStores(transaction, () => work(given)),
      () => {
        // Code that the work has started and not awaited may still run.
        transaction.isOpen = false
      },
    )
  }
}

/** Detects whether code runs in a write transaction. */
export interface TransactionDetector {
  /** Begins to follow transactions, which costs time in each of them. */
  start(): void
  /** Returns whether the calling code runs in a write transaction that began after `start`. */
  isInside(): boolean
}

/** Creates a detector. In runtimes without Node's modules it detects nothing. */
export function transactionDetector(): TransactionDetector {
  let store: Store | undefined
  return {
    start: () => {
      if (store !== undefined) return
      const { AsyncLocalStorage } = builtin<{ AsyncLocalStorage: new () => Store }>('async_hooks')
      if (AsyncLocalStorage === undefined) return
      store = new AsyncLocalStorage()
      channel?.bindStore(store)
    },
    isInside: () => store?.getStore()?.isOpen === true,
  }
}
