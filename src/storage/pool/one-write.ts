import type { MaybePromise } from '../../maybe-promise.ts'
import type { StorageAdapter, StorageTransaction } from '../adapter.ts'
import { holdTransaction, type HeldTransaction } from '../held-transaction.ts'
import type { JoinedInserts } from './joined-inserts.ts'

type RunTransaction = StorageAdapter['transaction']

/** Returns transactions of which those that begin with their only write, an insert, join it with others. */
export function joiningInserts(
  transaction: RunTransaction,
  inserts: JoinedInserts,
): RunTransaction {
  return (options, work) =>
    options.oneWrite === true
      ? runOneWrite(() => holdTransaction({ transaction }, options), inserts, work)
      : transaction(options, work)
}

async function runOneWrite<Result>(
  begin: () => HeldTransaction,
  inserts: JoinedInserts,
  work: (transaction: StorageTransaction) => MaybePromise<Result>,
): Promise<Result> {
  let joined: Promise<unknown> | undefined
  let hasEnded = false as boolean
  let held: HeldTransaction | undefined

  /** Returns the transaction in which everything runs but a first insert. */
  async function on(): Promise<StorageTransaction> {
    await joined?.catch(() => undefined)
    if (hasEnded) throw new Error('The transaction has ended.')
    held ??= begin()
    return held.begun
  }

  try {
    const result = await work({
      filter: async (collection, query) => (await on()).filter(collection, query),
      async insert(collection, row) {
        const isFirst = joined === undefined && held === undefined
        if (!isFirst || !inserts.canJoin(collection, row))
          return (await on()).insert(collection, row)
        const inserted = inserts.insert(collection, row).then((stored) => {
          hasEnded = true
          return stored
        })
        joined = inserted
        return inserted
      },
      update: async (collection, conditions, changes) =>
        (await on()).update(collection, conditions, changes),
      delete: async (collection, conditions) => (await on()).delete(collection, conditions),
    })
    await joined?.catch(() => undefined)
    await held?.commit()
    return result
  } catch (error) {
    await held?.undo(error)
    throw error
  }
}
