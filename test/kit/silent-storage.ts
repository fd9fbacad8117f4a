import { onTestFinished } from 'vitest'
import type { StorageAdapter, StorageTransaction } from '../../src/entries/storage.ts'

/** A storage whose calls wait from the time at which a test makes it silent. */
export interface SilentStorage {
  readonly storage: StorageAdapter
  /** Lets all later calls wait, or commits alone. */
  silence(what?: 'calls' | 'commits'): void
  /** How many calls or commits wait. */
  held(): number
  /** Ends the silence: the calls that wait go on. */
  resume(): void
}

/** Wraps a storage so that a test can make it silent. It answers again after the test. */
export function silentStorage(inner: StorageAdapter): SilentStorage {
  const held: (() => void)[] = []
  let silent: 'nothing' | 'calls' | 'commits' = 'nothing'
  const answered = async (isCommit = false): Promise<void> => {
    if (silent === 'calls' || (isCommit && silent === 'commits'))
      await new Promise<void>((resolve) => held.push(resolve))
  }
  const within = (on: StorageTransaction): StorageTransaction => ({
    filter: async (...given) => {
      await answered()
      return on.filter(...given)
    },
    insert: async (...given) => {
      await answered()
      return on.insert(...given)
    },
    update: async (...given) => {
      await answered()
      return on.update(...given)
    },
    delete: async (...given) => {
      await answered()
      return on.delete(...given)
    },
  })
  const { filterText: _text, filterTexts: _texts, ...rest } = inner
  const storage: StorageAdapter = {
    ...rest,
    supports: { ...inner.supports, textPages: false },
    filter: async (...given) => {
      await answered()
      return inner.filter(...given)
    },
    transaction: async (options, work) => {
      await answered()
      const result = await inner.transaction(options, (on) => work(within(on)))
      await answered(true)
      return result
    },
  }
  const resume = (): void => {
    silent = 'nothing'
    for (const resolve of held.splice(0)) resolve()
  }
  onTestFinished(resume)
  return {
    storage,
    silence: (what = 'calls') => {
      silent = what
    },
    held: () => held.length,
    resume,
  }
}
