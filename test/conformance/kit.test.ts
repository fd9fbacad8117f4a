import { describe, expect, test } from 'vitest'
import { testStorageAdapter } from '../../src/entries/conformance.ts'
import type { ConformanceOptions } from '../../src/entries/conformance.ts'
import type { StorageAdapter } from '../../src/storage/adapter.ts'
import { memoryStorage } from '../../src/storage/memory/memory.ts'
import { brokenConditions } from './broken-conditions.ts'
import { withText } from './broken-memory.ts'
import { brokenReads } from './broken-reads.ts'
import { brokenWrites } from './broken-writes.ts'

type Run = (...context: unknown[]) => Promise<void>

/** Runs the cases one after the other. Returns the names of those that fail: all, or the first ones. */
async function failures(
  options: Omit<ConformanceOptions, 'test'>,
  limit = Infinity,
): Promise<readonly string[]> {
  const cases: (readonly [string, Run])[] = []
  testStorageAdapter({ ...options, test: (name, run) => cases.push([name, run]) })
  const failed: string[] = []
  for (const [name, run] of cases) {
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error('too late')), 3000).unref()
    })
    await Promise.race([run(), late]).catch(() => failed.push(name))
    if (failed.length >= limit) break
  }
  return failed
}

test('a correct adapter passes, also with a test runner that passes no context', async () => {
  expect(await failures({ create: () => memoryStorage() })).toEqual([])
  expect(await failures({ create: () => withText((json) => json) })).toEqual([])
})

describe('the first case that fails names the defect of an adapter that', () => {
  test.each([...brokenReads, ...brokenConditions, ...brokenWrites])(
    '$defect',
    async ({ create, root }) => {
      const [first = 'no case failed'] = await failures({ create }, 1)
      expect(first).toMatch(root)
    },
  )
})

test('an adapter that loses updates between two processes fails', async () => {
  const shared = new Map<string, StorageAdapter>()
  const create = (): StorageAdapter => {
    const adapter = memoryStorage()
    shared.set('store', adapter)
    return adapter
  }
  // Two adapters over one store that ignore each other's transactions.
  const another = (): StorageAdapter => {
    const store = shared.get('store') as StorageAdapter
    const transaction: StorageAdapter['transaction'] = async (options, work) =>
      work({
        filter: store.filter,
        insert: (collection, row) =>
          store.transaction(options, async (on) => on.insert(collection, row)),
        update: (collection, conditions, changes) =>
          store.transaction(options, async (on) => on.update(collection, conditions, changes)),
        delete: (collection, conditions) =>
          store.transaction(options, async (on) => on.delete(collection, conditions)),
      })
    return { ...store, open: () => undefined, close: () => undefined, transaction }
  }
  expect(await failures({ create, another })).toEqual([
    '40 concurrent increments through two adapters over one store lose no update (another)',
  ])
})

test('a durable adapter without `reopen` fails', async () => {
  const create = (): StorageAdapter => {
    const memory = memoryStorage()
    return { ...memory, supports: { ...memory.supports, durable: true } }
  }
  expect(await failures({ create })).toEqual([
    'rows outlive the adapter (durable)',
    'generated numbers continue after a restart (durable)',
  ])
  expect(await failures({ create, reopen: () => memoryStorage() })).toHaveLength(2)
})

test('a case that requires an ability is skipped if the adapter lacks it', async () => {
  const reasons: unknown[] = []
  const runs: Run[] = []
  const context = { skip: (reason: string) => reasons.push(reason) }
  testStorageAdapter({
    test: (name, run) => name.endsWith('(textPages)') && runs.push(run),
    create: () => memoryStorage(),
  })
  for (const run of runs) await run(context)
  expect(runs.length).toBeGreaterThan(3)
  expect(reasons).toEqual(runs.map(() => 'lacks textPages'))
})

test('the cases of further conditions are skipped if the adapter does not declare them', async () => {
  const reasons = new Set<unknown>()
  const context = { skip: (reason: unknown) => reasons.add(reason) }
  const runs: Run[] = []
  testStorageAdapter({
    test: (_name, run) => runs.push(run),
    create: () => {
      const memory = memoryStorage()
      const { conditions: _, ...supports } = memory.supports
      const filter: StorageAdapter['filter'] = (collection, query) => {
        expect(query.conditions.map(({ is }) => is)).not.toContainEqual(
          expect.not.stringMatching(/^(equal|empty)$/),
        )
        return memory.filter(collection, query)
      }
      return { ...memory, supports, filter }
    },
  })
  for (const run of runs) await run(context)
  expect(reasons).toContain('lacks the condition lt')
  expect(reasons).toContain('lacks the condition through')
})

test('the names of the cases are unique, and no case has a named parameter', () => {
  const names: string[] = []
  const lengths = new Set<number>()
  const register = (name: string, run: Run): void => {
    names.push(name)
    lengths.add(run.length)
  }
  testStorageAdapter({ test: register, create: () => memoryStorage() })
  expect(new Set(names).size).toBe(names.length)
  expect([...lengths]).toEqual([0])
})

test('every case gets its own adapter, which is closed and then destroyed', async () => {
  const events: string[] = []
  const runs: Run[] = []
  testStorageAdapter({
    test: (_name, run) => runs.push(run),
    create: (collections) => {
      events.push(`create ${collections.length > 0}`)
      return { ...memoryStorage(), close: () => void events.push('close') }
    },
    destroy: () => void events.push('destroy'),
  })
  await runs[0]?.()
  expect(events).toEqual(['create true', 'close', 'destroy'])
})
