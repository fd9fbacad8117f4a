import { memoryStorage } from '../../src/entries/index.ts'
import { StorageError, type StorageAdapter } from '../../src/entries/storage.ts'

/** A storage that can be down. */
export function breakable(): {
  readonly storage: StorageAdapter
  readonly state: { isDown: boolean }
} {
  const state = { isDown: false }
  const adapter = memoryStorage()
  const requireUp = (): void => {
    if (state.isDown) throw new StorageError('unavailable', { message: 'down', retryAfter: 3 })
  }
  const storage: StorageAdapter = {
    ...adapter,
    filter: (...given) => {
      requireUp()
      return adapter.filter(...given)
    },
    version: (of) => (state.isDown ? undefined : adapter.version?.(of)),
    transaction: async (options, work) => {
      requireUp()
      return adapter.transaction(options, work)
    },
  }
  return { storage, state }
}
