import { requirePlainObject } from '../checks/plain-object.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { plainConditions } from '../request/query.ts'
import type { StorageAdapter } from '../storage/adapter.ts'
import type { ConformanceCase, Subject } from './case.ts'
import { everyCollection, numberedCollections } from './collections.ts'
import { concurrencyCases } from './concurrency.ts'
import { conditionCases } from './conditions.ts'
import { deleteCases } from './delete.ts'
import { furtherConditionCases } from './further-conditions.ts'
import { insertCases } from './insert.ts'
import { keyCases } from './keys.ts'
import { lifecycleCases } from './lifecycle.ts'
import { lockCases } from './locks.ts'
import { nameCases } from './names.ts'
import { pageCases } from './page.ts'
import { relatedPageCases } from './related-pages.ts'
import { searchCases } from './search.ts'
import { sequenceCases } from './sequences.ts'
import { sortCases } from './sort.ts'
import { textPageCases } from './text-pages.ts'
import { throughCases } from './through.ts'
import { isolationCases, transactionEndCases } from './transaction.ts'
import { updateCases } from './update.ts'
import { uniqueCases } from './unique.ts'
import { changedValueCases, valueCases } from './values.ts'

/** Options of {@link testStorageAdapter}. */
export interface ConformanceOptions {
  /** The function of the test runner that registers a test: `test` of vitest, node:test, mocha and most others. */
  readonly test: (name: string, run: (...context: unknown[]) => Promise<void>) => unknown
  /**
   * Creates an adapter for one case: empty, and not yet opened. The argument is the list of collections
   * that the kit opens, for an adapter that does not create its tables itself.
   */
  readonly create: (collections: readonly PublishedCollection[]) => MaybePromise<StorageAdapter>
  /** Cleans up after a case. The adapter is closed by then. */
  readonly destroy?: (adapter: StorageAdapter) => MaybePromise<void>
  /**
   * Creates another adapter, not yet opened, over the data of a closed one. Required for an adapter that
   * declares `durable`.
   */
  readonly reopen?: (closed: StorageAdapter) => MaybePromise<StorageAdapter>
  /**
   * Creates a second adapter, not yet opened, over the store of the first one, which stays open. With this
   * option the kit also tests concurrent updates of two processes.
   */
  readonly another?: (opened: StorageAdapter) => MaybePromise<StorageAdapter>
}

// A fault may fail many cases. The first of them must name it, so a case comes after those it builds on.
const cases: readonly ConformanceCase[] = [
  ...valueCases,
  ...transactionEndCases,
  ...insertCases,
  ...conditionCases,
  ...sortCases,
  ...pageCases,
  ...searchCases,
  ...updateCases,
  ...deleteCases,
  ...uniqueCases,
  ...furtherConditionCases,
  ...throughCases,
  ...changedValueCases,
  ...keyCases,
  ...nameCases,
  ...isolationCases,
  ...concurrencyCases,
  ...lockCases,
  ...sequenceCases,
  ...textPageCases,
  ...relatedPageCases,
  ...lifecycleCases,
]

/**
 * Registers the cases of the storage contract with a test runner. A service can use an adapter that
 * passes all of them. A case is skipped only if the adapter declares that it lacks the ability.
 *
 * ```ts
 * import { test } from 'vitest'
 * import { testStorageAdapter } from 'rowgate/conformance'
 *
 * testStorageAdapter({ test, create: () => memoryStorage() })
 * ```
 */
export function testStorageAdapter(options: ConformanceOptions): void {
  requirePlainObject('The options', options, 'testStorageAdapter')
  for (const one of cases) {
    const { name, needs } = one
    // A rest parameter: mocha treats a function with a named parameter as a test with a callback.
    options.test(needs === undefined ? name : `${name} (${needs})`, async (...context) => {
      const adapter = await options.create([...everyCollection, ...numberedCollections])
      const lacking = lackOf(one, adapter, options)
      if (lacking !== undefined) {
        await adapter.close()
        await options.destroy?.(adapter)
        skip(context[0], `lacks ${lacking}`)
        return
      }
      await runCase(one, adapter, options)
    })
  }
}

/** Returns what a case requires and the adapter lacks. */
function lackOf(
  { needs, conditions = [] }: ConformanceCase,
  { supports, increments }: StorageAdapter,
  { another }: ConformanceOptions,
): string | undefined {
  if (needs === 'another') return another === undefined ? needs : undefined
  if (needs === 'increments') {
    if (increments === undefined) return needs
  } else if (needs !== undefined && supports[needs] !== true) return needs
  const { conditions: supported = plainConditions } = supports
  const kind = conditions.find((one) => !supported.includes(one))
  return kind === undefined ? undefined : `the condition ${kind}`
}

async function runCase(
  one: ConformanceCase,
  created: StorageAdapter,
  options: ConformanceOptions,
): Promise<void> {
  let adapter = created
  const collections = created.supports.generatedNumbers
    ? [...everyCollection, ...numberedCollections]
    : everyCollection
  const others: StorageAdapter[] = []
  const subject: Subject = {
    adapter: created,
    reopen: async () => {
      if (options.reopen === undefined) {
        throw new Error('An adapter that declares `durable` requires the option `reopen`.')
      }
      await adapter.close()
      adapter = await options.reopen(adapter)
      await adapter.open(collections)
      return adapter
    },
    another: async () => {
      if (options.another === undefined) throw new Error('The option `another` is missing.')
      const other = await options.another(adapter)
      others.push(other)
      await other.open(collections)
      return other
    },
  }
  await adapter.open(collections)
  try {
    await one.run(subject)
  } finally {
    for (const other of others) await other.close()
    await adapter.close()
    await options.destroy?.(adapter)
  }
}

// The context of a test runner is an object or, in vitest, a function with members.
function skip(context: unknown, reason: string): void {
  const able = context as { readonly skip?: unknown } | null | undefined
  if (typeof able?.skip === 'function') (able as { skip(why: string): void }).skip(reason)
}
