import type { MaybePromise } from '../../maybe-promise.ts'
import type { StorageAdapter, StorageTransaction, TransactionOptions } from '../adapter.ts'
import type { JoinedInserts } from './joined-inserts.ts'

type RunTransaction = StorageAdapter['transaction']

/** Returns transactions of which those that begin with their only write, an insert, join it with others. */
export function joiningInserts(
  transaction: RunTransaction,
  inserts: JoinedInserts,
): RunTransaction {
  return (options, work) =>
    options.oneWrite === true
      ? runOneWrite(() => begin(transaction, options), inserts, work)
      : transaction(options, work)
}

async function runOneWrite<Result>(
  begin: () => Begun,
  inserts: JoinedInserts,
  work: (transaction: StorageTransaction) => MaybePromise<Result>,
): Promise<Result> {
  let joined: Promise<unknown> | undefined
  let hasEnded = false as boolean
  let begun: Begun | undefined

  /** Returns the transaction in which everything runs but a first insert. */
  async function on(): Promise<StorageTransaction> {
    await joined?.catch(() => undefined)
    if (hasEnded) throw new Error('The transaction has ended.')
    begun ??= begin()
    return begun.on
  }

  try {
    const result = await work({
      filter: async (collection, query) => (await on()).filter(collection, query),
      async insert(collection, row) {
        const isFirst = joined === undefined && begun === undefined
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
    await begun?.commit()
    return result
  } catch (error) {
    await begun?.undo(error)
    throw error
  }
}

/** A transaction that ends when its caller says so. */
interface Begun {
  readonly on: Promise<StorageTransaction>
  commit(): Promise<void>
  /** Undoes it because of an error. */
  undo(error: unknown): Promise<void>
}

function begin(transaction: RunTransaction, options: TransactionOptions): Begun {
  let succeed: () => void
  let fail: (error: unknown) => void
  const work = new Promise<void>((resolve, reject) => {
    succeed = resolve
    fail = reject
  })
  // It is not awaited if there is no connection.
  work.catch(() => undefined)
  let ended: Promise<void>
  const on = new Promise<StorageTransaction>((resolve, reject) => {
    ended = transaction(options, (real) => {
      resolve(real)
      return work
    })
    // Without a connection, the work never begins.
    ended.catch(reject)
  })
  return {
    on,
    commit() {
      succeed()
      return ended
    },
    undo(error) {
      fail(error)
      return ended.catch(() => undefined)
    },
  }
}
