import type { StorageAdapter, StorageTransaction, TransactionOptions } from './adapter.ts'

/** A transaction that stays open until `commit` or `undo` is called. */
export interface HeldTransaction {
  /** Rejects if the transaction can't begin. */
  readonly begun: Promise<StorageTransaction>
  /** Commits. Rejects if the transaction fails. */
  commit(): Promise<void>
  /** Undoes the changes unless they are committed. Never rejects. */
  undo(reason: unknown): Promise<void>
}

/** Begins a transaction of a storage, and keeps it open. */
export function holdTransaction(
  storage: Pick<StorageAdapter, 'transaction'>,
  options: TransactionOptions,
): HeldTransaction {
  let open = (): void => undefined
  let abandon: (reason: unknown) => void = () => undefined
  const gate = new Promise<void>((resolve, reject) => {
    open = resolve
    abandon = reject
  })
  let finished = Promise.resolve()
  const begun = new Promise<StorageTransaction>((begin, fail) => {
    finished = storage.transaction(options, (inner) => {
      begin(inner)
      return gate
    })
    finished.catch(fail)
  })
  // The promises are awaited later. Until then a rejection must not end the process.
  for (const promise of [gate, begun]) promise.catch(() => undefined)
  return {
    begun,
    commit: () => {
      open()
      return finished
    },
    undo: (reason) => {
      abandon(reason)
      return finished.catch(() => undefined)
    },
  }
}
