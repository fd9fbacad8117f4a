import { continues } from '../../errors.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { StorageError } from '../../storage/adapter.ts'
import type {
  StorageAdapter,
  StorageTransaction,
  TransactionOptions,
} from '../../storage/adapter.ts'

const counting: unique symbol = Symbol.for('rowgate.storageCalls')

/** The member of a context by which {@link asStorageCall} finds the calls of its event. */
export interface Counting {
  readonly [counting]: StorageCalls['during']
}

/** Returns the member that makes the context of a serving function usable for {@link asStorageCall}. */
export function countingOf({ during }: StorageCalls): Counting {
  return { [counting]: during }
}

/**
 * Runs work of a serving function of this library, which waits for nothing but storage. If it exceeds the time limit,
 * the cause is slow storage, not application code.
 */
export function asStorageCall<Result>(
  context: object,
  work: () => MaybePromise<Result>,
): MaybePromise<Result> {
  const during = (context as Partial<Counting>)[counting]
  return during === undefined ? work() : during(work)
}

/**
 * Creates the error of application code that waited for storage during its whole time limit, in milliseconds. It goes on
 * after the response, and so may have its effect.
 */
export function storageIsLate(name: string, milliseconds: number): StorageError {
  const cause = new Error(`${name} waited for storage when its ${milliseconds} milliseconds ended`)
  return Object.assign(new StorageError('unavailable', { cause }), { [continues]: true })
}

/** The calls of storage that the application code of one event has made, also through other events. */
export class StorageCalls {
  #inProgress = 0

  /** Returns whether a call of storage is in progress. */
  areInProgress(): boolean {
    return this.#inProgress > 0
  }

  /** Counts work as a call of storage. A function of the object itself, so that it can be passed on. */
  readonly during = async <Result>(work: () => MaybePromise<Result>): Promise<Result> => {
    this.#inProgress++
    try {
      return await work()
    } finally {
      this.#inProgress--
    }
  }

  /** Returns a transaction whose calls are counted. */
  transaction(on: StorageTransaction): StorageTransaction {
    const { during } = this
    return {
      filter: (...given) => during(() => on.filter(...given)),
      insert: (...given) => during(() => on.insert(...given)),
      update: (...given) => during(() => on.update(...given)),
      ...(on.updateText !== undefined && {
        updateText: (...given) => during(() => on.updateText?.(...given)),
      }),
      delete: (...given) => during(() => on.delete(...given)),
    }
  }

  /** Returns an adapter whose calls are counted while they are in progress. */
  adapter(adapter: StorageAdapter): StorageAdapter {
    const { during } = this
    return {
      ...adapter,
      filter: (...given) => during(() => adapter.filter(...given)),
      ...(adapter.filterText !== undefined && {
        filterText: (...given) => during(() => adapter.filterText?.(...given)),
      }),
      ...(adapter.filterTexts !== undefined && {
        filterTexts: (...given) => during(() => adapter.filterTexts?.(...given)),
      }),
      ...(adapter.filterRelated !== undefined && {
        filterRelated: (...given) => during(() => adapter.filterRelated?.(...given)),
      }),
      ...(adapter.estimateCount !== undefined && {
        estimateCount: (...given) => during(() => adapter.estimateCount?.(...given)),
      }),
      transaction: (options, work) => this.#inTransaction(adapter, options, work),
    }
  }

  // The work of a transaction is code that calls storage, so only its begin and its end are calls themselves.
  async #inTransaction<Result>(
    adapter: StorageAdapter,
    options: TransactionOptions,
    work: (on: StorageTransaction) => MaybePromise<Result>,
  ): Promise<Result> {
    const attempts = { areRunning: false }
    this.#inProgress++
    try {
      return await adapter.transaction(options, async (on) => {
        attempts.areRunning = true
        this.#inProgress--
        try {
          return await work(this.transaction(on))
        } finally {
          attempts.areRunning = false
          this.#inProgress++
        }
      })
    } finally {
      if (!attempts.areRunning) this.#inProgress--
    }
  }
}
