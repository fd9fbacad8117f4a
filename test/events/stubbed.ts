import { runEvent } from '../../src/events/run.ts'
import { RowQueue } from '../../src/events/units/row-queue.ts'
import type { Caller, Runtime } from '../../src/events/runtime.ts'
import { Unit } from '../../src/events/units/unit.ts'
import {
  memoryStorage,
  principal,
  type Observation,
  type Principal,
} from '../../src/entries/index.ts'
import type { DataEvent } from '../../src/request/event.ts'
import type { Outcome } from '../../src/request/outcome.ts'
import type {
  PublishedCollection,
  StorageTransaction,
  TransactionOptions,
} from '../../src/entries/storage.ts'

/** A storage whose operations are those of a test, and what events did with it. */
export interface StubbedStorage {
  readonly runtime: Runtime
  /** The names and arguments of the calls of its operations, without the collection. */
  readonly calls: readonly (readonly unknown[])[]
  /** The options of its transactions, without the end of their requests. */
  readonly transactions: readonly TransactionOptions[]
  readonly reports: readonly Observation[]
  /** Runs an event, as a caller without roles unless one is given. */
  run(event: DataEvent, as?: Principal): Promise<Outcome>
}

/** Returns a caller who has confirmed no warning. */
export function callerOf(given: Principal = principal('maria')): Caller {
  return { principal: given, confirmed: new Set(), signal: () => undefined }
}

/** Creates a storage from operations. Those that are missing find and change nothing. */
export function stubbedStorage(
  collection: PublishedCollection,
  operations: Partial<StorageTransaction> = {},
): StubbedStorage {
  const calls: (readonly unknown[])[] = []
  const transactions: TransactionOptions[] = []
  const reports: Observation[] = []
  const all: StorageTransaction = {
    filter: () => ({ rows: [], count: null }),
    insert: (_, row) => row,
    update: () => undefined,
    delete: () => undefined,
    ...operations,
  }
  const transaction: StorageTransaction = {
    filter: (reached, query) => {
      calls.push(['filter', query.conditions, query.select])
      return all.filter(reached, query)
    },
    insert: (reached, row) => {
      calls.push(['insert', row])
      return all.insert(reached, row)
    },
    update: (reached, conditions, changes) => {
      calls.push(['update', conditions, changes])
      return all.update(reached, conditions, changes)
    },
    delete: (reached, conditions) => {
      calls.push(['delete', conditions])
      return all.delete(reached, conditions)
    },
  }
  const runtime: Runtime = {
    adapter: {
      ...memoryStorage(),
      filter: transaction.filter,
      transaction: async (options, work) => {
        const { deadline: _, ...own } = options
        transactions.push(own)
        return work(transaction)
      },
    },
    collectionOf: () => collection,
    report: (one) => reports.push(one),
    handlerTimeout: 60_000,
    requestTimeout: 60_000,
    now: () => new Date(0),
    waiting: new WeakMap(),
    rows: new RowQueue(),
    enter: (begin) => begin(),
    track: () => undefined,
  }
  return {
    runtime,
    calls,
    transactions,
    reports,
    run: async (event, as) => runEvent(Unit.outside(runtime), event, callerOf(as), 'rows'),
  }
}
