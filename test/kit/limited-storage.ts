import { memoryStorage } from '../../src/entries/index.ts'
import type { Condition, StorageAdapter } from '../../src/storage/adapter.ts'

type Kinds = readonly Condition['is'][]

/** Memory that rejects all kinds of conditions but some, by default but those that every adapter has. */
export function limited(conditions?: Kinds): StorageAdapter {
  const memory = memoryStorage()
  const { textPages, durable, generatedNumbers } = memory.supports
  const kinds: Kinds = conditions ?? ['equal', 'empty']
  const requireKinds = (all: readonly Condition[]): void => {
    for (const one of all) {
      if (!kinds.includes(one.is)) throw new Error(`unsupported: ${one.is}`)
      if ('conditions' in one) requireKinds(one.conditions)
      if (one.is === 'not') requireKinds([one.condition])
    }
  }
  return {
    ...memory,
    supports: { textPages, durable, generatedNumbers, ...(conditions && { conditions }) },
    filter: (collection, query) => {
      requireKinds(query.conditions)
      return memory.filter(collection, query)
    },
    transaction: (options, work) =>
      memory.transaction(options, (on) =>
        work({
          insert: (collection, row) => on.insert(collection, row),
          filter: (collection, query) => {
            requireKinds(query.conditions)
            return on.filter(collection, query)
          },
          update: (collection, given, changes) => {
            requireKinds(given)
            return on.update(collection, given, changes)
          },
          delete: (collection, given) => {
            requireKinds(given)
            return on.delete(collection, given)
          },
        }),
      ),
  }
}
