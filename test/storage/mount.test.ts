import { describe, expect, test } from 'vitest'
import { testStorageAdapter } from '../../src/entries/conformance.ts'
import { defineCollection } from '../../src/definition/collection.ts'
import { integer, text } from '../../src/definition/field.ts'
import { publishCollection } from '../../src/definition/published.ts'
import type { PublishedCollection } from '../../src/definition/published.ts'
import type { StorageAdapter } from '../../src/storage/adapter.ts'
import { StorageError } from '../../src/storage/adapter.ts'
import { memoryStorage } from '../../src/storage/memory/memory.ts'
import { mount } from '../../src/storage/mount/mount.ts'

describe('over several adapters', () => {
  const create = (): StorageAdapter =>
    mount({ '*': memoryStorage(), odd: memoryStorage(), 'app/orderLines': memoryStorage() })
  testStorageAdapter({ test, create })
})

describe('over one adapter under several names', () => {
  const create = (): StorageAdapter => {
    const only = memoryStorage()
    return mount({ app: only, '*': only })
  }
  testStorageAdapter({ test, create })
})

const definition = defineCollection({ key: 'id', fields: { id: integer(), label: text() } })
const orders = publishCollection('sales', 'orders', definition)
const lines = publishCollection('sales', 'lines', definition)
const people = publishCollection('staff', 'people', definition)
const all = [orders, lines, people]
const writing = { mode: 'write', brief: false } as const
const everything = {
  conditions: [],
  search: null,
  sort: [{ field: 'id', descending: false }],
  limit: 100,
  offset: 0,
  select: ['id', 'label'],
  count: false,
}

async function idsOf(storage: StorageAdapter, collection: PublishedCollection): Promise<unknown> {
  return (await storage.filter(collection, everything)).rows.map(({ id }) => id)
}

function spied(): StorageAdapter & { readonly kept: string[] } {
  const kept: string[] = []
  const memory = memoryStorage()
  return {
    ...memory,
    kept,
    open: (collections) => {
      kept.push(...collections.map(({ name }) => name))
      return memory.open(collections)
    },
  }
}

/** An adapter whose transactions fail when they begin or when they commit. */
function failing(when: 'begin' | 'commit', isConflict = false): StorageAdapter {
  const memory = memoryStorage()
  return {
    ...memory,
    transaction: async (options, work) => {
      if (when === 'begin') throw new StorageError('unavailable')
      return memory.transaction(options, async (on) => {
        await work(on)
        throw new StorageError('unavailable', { isConflict })
      })
    },
  }
}

describe('open', () => {
  test('gives each adapter its collections by the most specific name', async () => {
    const [one, two, three] = [spied(), spied(), spied()]
    await mount({ '*': one, sales: two, 'sales/lines': three }).open(all)
    expect([one.kept, two.kept, three.kept]).toEqual([['people'], ['orders'], ['lines']])
  })

  test('opens an adapter with two names once', async () => {
    const [one, two] = [spied(), spied()]
    await mount({ 'sales/lines': one, staff: one, sales: two }).open(all)
    expect([one.kept, two.kept]).toEqual([['lines', 'people'], ['orders']])
  })

  test('throws for a collection without storage', async () => {
    const storage = mount({ sales: memoryStorage() })
    const attempt = async (): Promise<void> => storage.open(all)
    await expect(attempt()).rejects.toThrow(TypeError)
    await expect(attempt()).rejects.toThrow('staff/people')
  })

  test.each(['sale', 'sales/line', 'staff/orders', '', 'sales/'])(
    'rejects the mount %j, which names nothing',
    async (name) => {
      const storage = mount({ '*': memoryStorage(), [name]: memoryStorage() })
      const attempt = async (): Promise<void> => storage.open(all)
      await expect(attempt()).rejects.toThrow(TypeError)
      await expect(attempt()).rejects.toThrow(`'${name}'`)
    },
  )

  test('accepts a mount for all others that has no collections', async () => {
    const rest = spied()
    await mount({ '*': rest, sales: memoryStorage(), staff: memoryStorage() }).open(all)
    expect(rest.kept).toEqual([])
  })
})

describe('abilities', () => {
  const able = { textPages: true, durable: true, generatedNumbers: true }

  test('are those that all adapters have, except text pages, which one adapter is enough for', async () => {
    const filterText = () => ({ items: [], count: null })
    const writer: StorageAdapter = { ...memoryStorage(), supports: able, filterText }
    const storage = mount({ sales: writer, '*': memoryStorage() })
    await storage.open(all)
    expect(storage.supports).toMatchObject({
      textPages: true,
      durable: false,
      generatedNumbers: true,
    })
    expect(storage.supports.conditions).toContain('or')
    expect(storage.supports.conditions).not.toContain('through')
    expect(await storage.filterText?.(orders, everything)).toEqual(filterText())
    expect(await storage.filterText?.(people, everything)).toBeUndefined()
  })

  test('exclude text pages if no adapter has them', () => {
    const storage = mount({ '*': memoryStorage() })
    expect(storage.supports.textPages).toBe(false)
    expect(storage.filterText).toBeUndefined()
  })
})

describe('transactions', () => {
  test('commit on all adapters, or on none', async () => {
    const storage = mount({ sales: memoryStorage(), staff: memoryStorage() })
    await storage.open(all)
    const attempt = (fails: boolean): Promise<void> =>
      storage.transaction(writing, async (on) => {
        await on.insert(orders, { id: Number(fails) })
        await on.insert(people, { id: Number(fails) })
        if (fails) throw new Error('undone')
      })
    await attempt(false)
    await expect(attempt(true)).rejects.toThrow('undone')
    expect([await idsOf(storage, orders), await idsOf(storage, people)]).toEqual([[0], [0]])
  })

  test('begin on an adapter with the first call for it', async () => {
    const storage = mount({ sales: memoryStorage(), staff: failing('begin') })
    await storage.open(all)
    await storage.transaction(writing, async (on) => on.insert(orders, { id: 1 }))
    expect(await idsOf(storage, orders)).toEqual([1])
  })

  test('fail completely if one adapter cannot begin, even if the work catches the error', async () => {
    const storage = mount({ sales: memoryStorage(), staff: failing('begin') })
    await storage.open(all)
    const work = storage.transaction(writing, async (on) => {
      await on.insert(orders, { id: 1 })
      await expect(on.insert(people, { id: 1 })).rejects.toMatchObject({ kind: 'unavailable' })
    })
    await expect(work).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await idsOf(storage, orders)).toEqual([])
  })

  test('pass on a conflict of the first commit', async () => {
    const storage = mount({ sales: failing('commit', true), staff: memoryStorage() })
    await storage.open(all)
    const work = storage.transaction(writing, async (on) => {
      for (const collection of all) await on.insert(collection, { id: 1 })
    })
    await expect(work).rejects.toMatchObject({ kind: 'unavailable', isConflict: true })
    expect(await idsOf(storage, people)).toEqual([])
  })

  test('reject if the second commit fails, even by a conflict, and keep the first commit', async () => {
    const storage = mount({
      'sales/orders': memoryStorage(),
      'sales/lines': failing('commit', true),
      staff: memoryStorage(),
    })
    await storage.open(all)
    const work = storage.transaction(writing, async (on) => {
      for (const collection of all) await on.insert(collection, { id: 1 })
    })
    // Repeated, it would be written to the first one twice.
    await expect(work).rejects.toMatchObject({ kind: 'unavailable', isConflict: false })
    const kept = await Promise.all(all.map((collection) => idsOf(storage, collection)))
    expect(kept).toEqual([[1], [], []])
  })

  test('are undone if another adapter fails to commit, also those that end with their first write', async () => {
    const given: unknown[] = []
    const memory = memoryStorage()
    const noting: StorageAdapter = {
      ...memory,
      transaction: async (options, work) => {
        given.push(options)
        return memory.transaction(options, work)
      },
    }
    const oneWrite = { mode: 'write', brief: true, oneWrite: true } as const
    const single = mount({ '*': noting })
    const several = mount({ staff: failing('commit'), '*': noting })
    for (const storage of [single, several]) await storage.open(all)
    await single.transaction(oneWrite, (on) => on.insert(orders, { id: 1 }))
    const work = several.transaction(oneWrite, async (on) => {
      await on.filter(people, everything)
      return on.insert(orders, { id: 2 })
    })
    await expect(work).rejects.toMatchObject({ kind: 'unavailable' })
    // The adapter that commits with its write would keep it.
    expect(given).toEqual([oneWrite, writing])
    expect(await idsOf(several, orders)).toEqual([1])
  })

  test('that use two adapters in opposite order do not deadlock', async () => {
    const storage = mount({ sales: memoryStorage(), staff: memoryStorage() })
    await storage.open(all)
    const run = (first: PublishedCollection, second: PublishedCollection): Promise<unknown> =>
      storage.transaction(writing, async (on) => {
        await on.insert(first, { id: 1 })
        await new Promise((resolve) => setTimeout(resolve, 5))
        return on.insert(second, { id: 1 })
      })
    const results = await Promise.allSettled([run(orders, people), run(people, orders)])
    const rejected = results.filter(({ status }) => status === 'rejected')
    expect(rejected).toMatchObject([{ reason: { kind: 'unavailable' } }])
    expect([await idsOf(storage, orders), await idsOf(storage, people)]).toEqual([[1], [1]])
  })

  test('that use two adapters in the same order run one after the other', async () => {
    const storage = mount({ sales: memoryStorage(), staff: memoryStorage() })
    await storage.open(all)
    const run = (id: number): Promise<unknown> =>
      storage.transaction({ mode: 'write', brief: true }, async (on) => {
        await on.insert(orders, { id })
        return on.insert(people, { id })
      })
    await Promise.all([1, 2, 3, 4].map(run))
    expect(await idsOf(storage, people)).toEqual([1, 2, 3, 4])
  })
})

test('close closes every adapter, and rejects with the error of one of them', async () => {
  const closed: string[] = []
  const closing = (name: string, fails: boolean): StorageAdapter => ({
    ...memoryStorage(),
    close: () => {
      closed.push(name)
      if (fails) throw new Error(`${name} failed`)
    },
  })
  const storage = mount({ sales: closing('one', true), '*': closing('two', false) })
  await expect((async () => storage.close())()).rejects.toThrow('one failed')
  expect(closed).toEqual(['one', 'two'])
})

test('a call for a collection that was not opened throws a TypeError with its name', async () => {
  const storage = mount({ '*': memoryStorage() })
  await storage.open([orders])
  await expect(idsOf(storage, people)).rejects.toThrow('staff/people')
})
