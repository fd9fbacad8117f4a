import type { CollectionAccess } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { inTime, type MaybePromise } from '../maybe-promise.ts'
import type { Outcome } from '../request/outcome.ts'
import { collectionAccess } from './access.ts'
import { Rollback } from './guard.ts'
import { joinable, type Joinable } from './join-transaction.ts'
import { nestedCalls } from './nested-calls.ts'
import { nestedAccess, rejectedMany, runManyNested, runNested } from './run.ts'
import type { Caller, Runtime, Terms } from './runtime.ts'
import { openScope } from './scope.ts'
import { storageIsLate } from './storage-calls.ts'
import { rejectionFor, runUnit } from './unit.ts'

/** What the code of a transaction receives. */
export interface TransactionAccess {
  /** Returns a collection whose events take part in the transaction. */
  readonly access: (collection: PublishedCollection) => CollectionAccess<CollectionShape>
  /** Members of the code's context. */
  readonly joinable: Joinable
}

/** What {@link runTransaction} runs. */
export interface TransactionWork<Result> {
  readonly run: (access: TransactionAccess) => Promise<Result>
  /** How long it may take, in milliseconds. */
  readonly timeout: number
  /** Whether it is repeated after a conflict with another transaction. Default false. */
  readonly repeats?: boolean
}

/**
 * Runs application code whose events share one transaction. It is committed if the code resolves, and
 * rolled back if the code rejects, exceeds its time limit, or does not await one of its calls. The limit holds for
 * each repetition.
 */
export function runTransaction<Result>(
  runtime: Runtime,
  caller: Caller,
  { run, timeout, repeats = false }: TransactionWork<Result>,
): MaybePromise<Result> {
  return runUnit(
    runtime,
    { mode: 'write', brief: false, repeatsCode: repeats },
    async (running) => {
      const calls = nestedCalls()
      const watched = calls.storage.within({ runtime, caller, running })
      running.log.hasCalledCode = true
      const work = async (): Promise<Result> => {
        try {
          return await run({
            access: (collection) => calls.watchAccess(accessWithin(watched, collection)),
            joinable: joinable(running, calls),
          })
        } finally {
          await calls.ended()
        }
      }
      const result = await inTime(work(), timeout, (reject) => {
        running.log.hasTimedOut = true
        if (calls.storage.areInProgress()) reject(storageIsLate('The transaction', timeout))
        else reject(new Error(`The transaction did not end within its timeout of ${timeout} ms.`))
      })
      const error = calls.unawaited()
      if (error !== undefined) throw error
      return result
    },
    ({ rejected, collection }) => {
      const name = `${collection.application}/${collection.name}`
      throw new Error(
        `The transaction was rolled back, because an event of ${name} was rejected after it had written: ${rejected.message}`,
      )
    },
  )
}

/**
 * Returns a collection within a transaction. A rejected event is a result, as outside of a transaction. If
 * it had written already, the transaction can't be committed any more.
 */
function accessWithin(
  terms: Terms,
  collection: PublishedCollection,
): CollectionAccess<CollectionShape> {
  return collectionAccess(terms, collection, {
    event: async (event, caller): Promise<Outcome> => {
      try {
        return await runNested(event, { ...terms, caller })
      } catch (error) {
        if (error instanceof Rollback) return rejectionFor(caller, error)
        throw error
      }
    },
    many: async (saves, caller) => {
      try {
        return await runManyNested(saves, { ...terms, caller })
      } catch (error) {
        return rejectedMany(error)
      }
    },
    unstored: (event, work) => work(openScope(terms, { collection, event }, nestedAccess)),
  })
}
