import type { CollectionAccess } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { inTime } from '../maybe-promise.ts'
import type { Outcome } from '../request/outcome.ts'
import { collectionAccess } from './access.ts'
import { Rollback } from './guard.ts'
import { Budget } from './units/budget.ts'
import { joinable, type Joinable } from './units/join-transaction.ts'
import { nestedCalls } from './nested-calls.ts'
import { rejectedMany, runEvent, saveTogether, unstored } from './run.ts'
import type { Caller, Runtime } from './runtime.ts'
import { storageIsLate } from './units/storage-calls.ts'
import { Unit } from './units/unit.ts'

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
  readonly repeatable?: boolean
}

/**
 * Runs application code whose events share one transaction. It is committed if the code resolves, and
 * rolled back if the code rejects, exceeds its time limit, or does not await one of its calls. The limit holds for
 * each repetition.
 */
export function runTransaction<Result>(
  runtime: Runtime,
  caller: Caller,
  { run, timeout, repeatable = false }: TransactionWork<Result>,
  budget = new Budget(runtime.requestTimeout),
): Promise<Result> {
  const work = async (unit: Unit): Promise<Result> => {
    const calls = nestedCalls()
    const counted = unit.countedBy(calls.storage)
    unit.callsCode()
    const untilCallsEnd = async (): Promise<Result> => {
      try {
        return await run({
          access: (collection) => calls.watchAccess(accessWithin(counted, caller, collection)),
          joinable: joinable(unit, calls),
        })
      } finally {
        await calls.ended()
      }
    }
    const milliseconds = Math.min(timeout, Math.ceil(budget.left()))
    const result = await inTime(untilCallsEnd(), milliseconds, (reject) => {
      unit.timedOut()
      const error = calls.storage.areInProgress()
        ? storageIsLate('The transaction', milliseconds)
        : new Error(`The transaction did not end within its timeout of ${milliseconds} ms.`)
      budget.codeIsLate(error)
      reject(error)
    })
    const error = calls.unawaited()
    if (error !== undefined) throw error
    return result
  }
  const undone = ({ rejected, collection }: Rollback): never => {
    const name = `${collection.application}/${collection.name}`
    throw new Error(
      `The transaction was rolled back, because an event of ${name} was rejected after it had written: ${rejected.message}`,
    )
  }
  const options = { mode: 'write', brief: false, repeatsCode: repeatable, undone } as const
  return Unit.outside(runtime, undefined, budget).run<Result>(options, work)
}

/**
 * Returns a collection within a transaction. A rejected event is a result, as outside of a transaction. If
 * it had written already, the transaction can no longer be committed.
 */
function accessWithin(
  unit: Unit,
  caller: Caller,
  collection: PublishedCollection,
): CollectionAccess<CollectionShape> {
  return collectionAccess(caller, collection, {
    isShared: true,
    event: async (event, own, whileWriting): Promise<Outcome> => {
      try {
        return await runEvent(unit.untilWriting(whileWriting), event, own, 'rows')
      } catch (error) {
        if (error instanceof Rollback) return error.outcomeFor(own.principal)
        throw error
      }
    },
    many: async (saves, own) => {
      try {
        return await saveTogether(unit, saves, own)
      } catch (error) {
        return rejectedMany(error)
      }
    },
    unstored: (event, work) => unstored(unit, caller, { collection, event }, work),
  })
}
