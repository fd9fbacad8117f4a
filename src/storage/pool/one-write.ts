import type { MaybePromise } from '../../maybe-promise.ts'
import type { Row, StorageAdapter, StorageTransaction, TransactionOptions } from '../adapter.ts'
import { holdTransaction, type HeldTransaction } from '../held-transaction.ts'
import type { JoinedWrites } from './joined-writes.ts'

type RunTransaction = StorageAdapter['transaction']

/** Returns transactions of which those that begin with their only write, an insert or update, join it with others. */
export function joiningWrites(transaction: RunTransaction, writes: JoinedWrites): RunTransaction {
  return (options, work) =>
    options.oneWrite === true
      ? runOneWrite({
          begin: () => holdTransaction({ transaction }, options),
          writes,
          work,
          deadline: options.deadline,
        })
      : transaction(options, work)
}

/** What {@link runOneWrite} runs. */
interface OneWriteRun<Result> extends Pick<TransactionOptions, 'deadline'> {
  readonly begin: () => HeldTransaction
  readonly writes: JoinedWrites
  readonly work: (transaction: StorageTransaction) => MaybePromise<Result>
}

async function runOneWrite<Result>({
  begin,
  writes,
  work,
  deadline,
}: OneWriteRun<Result>): Promise<Result> {
  let joined: Promise<unknown> | undefined
  let hasEnded = false as boolean
  let held: HeldTransaction | undefined

  /** Returns the transaction in which everything runs but a first write. */
  async function on(): Promise<StorageTransaction> {
    await joined?.catch(() => undefined)
    if (hasEnded) throw new Error('The transaction has ended.')
    held ??= begin()
    return held.begun
  }

  function isFirst(): boolean {
    return joined === undefined && held === undefined
  }

  /** Waits for a first write. If it has written a row, the transaction has ended. */
  function join<Written extends Row | undefined>(write: Promise<Written>): Promise<Written> {
    const written = write.then((row) => {
      hasEnded = row !== undefined
      return row
    })
    joined = written
    return written
  }

  try {
    const result = await work({
      filter: async (collection, query) => (await on()).filter(collection, query),
      async insert(collection, row) {
        const inserted = isFirst() ? writes.insert(collection, row) : undefined
        return inserted === undefined
          ? (await on()).insert(collection, row)
          : join(inserted(deadline))
      },
      async update(...given) {
        const updated = isFirst() ? writes.update(...given) : undefined
        if (updated === undefined) return (await on()).update(...given)
        return join(updated(deadline))
      },
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
