import { StorageError, type StorageAdapter } from '../../src/entries/storage.ts'

type Wrapped = { readonly wrap: (storage: StorageAdapter) => StorageAdapter }

/** Does something before each read and transaction of a storage. */
export function before(does: () => void | Promise<void>): Wrapped['wrap'] {
  return (storage) => {
    const { filterText, ...rest } = storage
    return {
      ...rest,
      ...(filterText !== undefined && { filterText: filterText.bind(storage) }),
      ...(storage.version !== undefined && {
        version: (collections) => storage.version?.(collections),
      }),
      open: (collections) => storage.open(collections),
      close: () => storage.close(),
      filter: async (collection, query) => {
        await does()
        return storage.filter(collection, query)
      },
      transaction: async (options, work) => {
        await does()
        return storage.transaction(options, work)
      },
    }
  }
}

/** Counts the reads and transactions of a storage. */
export function counted(): Wrapped & { readonly calls: () => number } {
  let count = 0
  const wrap = before(() => void (count += 1))
  return { wrap, calls: () => count }
}

/** A storage that can't be reached while the test says so. */
export function interruptible(): Wrapped & {
  readonly interrupt: () => void
  readonly resume: () => void
  readonly rejected: () => number
} {
  let isDown = false
  let rejected = 0
  const wrap = before(() => {
    if (!isDown) return
    rejected += 1
    throw new StorageError('unavailable')
  })
  return {
    wrap,
    interrupt: () => (isDown = true),
    resume: () => (isDown = false),
    rejected: () => rejected,
  }
}
