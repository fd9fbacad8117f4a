import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  principal,
  text,
} from '../../src/entries/index.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { StorageError, type StorageAdapter } from '../../src/entries/storage.ts'
import { serverStorages } from '../kit/database-servers.ts'
import { missingServer, testSchema } from '../kit/postgres.ts'
import { openStorage, storages } from '../kit/storages.ts'

const counts = defineCollection({ key: 'name', fields: { name: text(), value: integer() } })
const everywhere = [...new Set([...storages, ...serverStorages])]

function open(storage: StorageAdapter) {
  const service = createService({
    applications: { app: { collections: { counts } } },
    storage,
    security: openAccess(),
  })
  onTestFinished(() => service.close())
  return service.as(principal('maria'))
}

/** Returns a storage whose first insert rejects with an error, and the numbers of its transactions. */
function failing(error: StorageError) {
  const memory = memoryStorage()
  const state = { begun: 0 }
  const storage: StorageAdapter = {
    ...memory,
    transaction: (options, work) =>
      memory.transaction(options, (on) => {
        state.begun += 1
        const isFirst = state.begun === 1
        return work({
          ...on,
          insert: (...given) => (isFirst ? Promise.reject(error) : on.insert(...given)),
        })
      }),
  }
  return { state, storage }
}

describe.each(everywhere)('on $name', (on) => {
  test('a transaction with repeatable loses no write to others that read the same item', async () => {
    const user = open(openStorage(on))
    const add = () =>
      user.transaction(
        async ({ collection }) => {
          const found = await collection(counts).get('calls')
          if (found === undefined) await collection(counts).insert({ name: 'calls', value: 1 })
          else await collection(counts).update('calls', { value: (found.value ?? 0) + 1 })
        },
        { repeatable: true },
      )
    await Promise.all(Array.from({ length: 6 }, add))
    expect(await user.collection('app', 'counts').get('calls')).toMatchObject({ value: 6 })
  })
})

const conflict = () => new StorageError('unavailable', { isConflict: true })

test('a transaction is repeated even if its code throws another error for the conflict', async () => {
  const { state, storage } = failing(conflict())
  const work = async (access: ReturnType<typeof open>, repeatable: boolean) =>
    access.transaction(
      async ({ collection }) => {
        try {
          return await collection(counts).insert({ name: 'a' })
        } catch {
          throw new RangeError('not stored')
        }
      },
      { repeatable },
    )
  const user = open(storage)
  expect(await work(user, true)).toMatchObject({ rejected: false })
  expect(state.begun).toBe(2)
  state.begun = 0
  await expect(work(user, false)).rejects.toThrow('not stored')
  expect(state.begun).toBe(1)
})

test('a transaction that has exceeded its timeout after a conflict does not run twice at a time', async () => {
  const { state, storage } = failing(conflict())
  let runs = 0
  const work = open(storage).transaction(
    async ({ collection }) => {
      runs += 1
      await collection(counts)
        .insert({ name: 'a' })
        .catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, 300))
    },
    { repeatable: true, timeout: 50 },
  )
  await expect(work).rejects.toThrow('did not end within its timeout of 50 ms')
  expect([runs, state.begun]).toEqual([1, 1])
})

test('a transaction is not repeated for an error that is not a conflict', async () => {
  const { state, storage } = failing(new StorageError('unavailable'))
  const work = open(storage).transaction(
    ({ collection }) => collection(counts).insert({ name: 'a' }),
    { repeatable: true },
  )
  await expect(work).rejects.toThrow('unavailable')
  expect(state.begun).toBe(1)
})

test('a conflict that does not end is an error after 12 repetitions', async () => {
  const memory = memoryStorage()
  let begun = 0
  const storage: StorageAdapter = {
    ...memory,
    transaction: (options, work) =>
      memory.transaction(options, async (on) => {
        begun += 1
        await work(on)
        throw conflict()
      }),
  }
  const work = open(storage).transaction(
    ({ collection }) => collection(counts).insert({ name: 'a' }),
    { repeatable: true },
  )
  await expect(work).rejects.toMatchObject({ kind: 'unavailable', isConflict: true })
  expect(begun).toBeGreaterThan(5)
  expect(begun).toBeLessThanOrEqual(13)
})

test('repeatable must be a boolean', async () => {
  const user = open(memoryStorage())
  await expect(
    user.transaction(async () => undefined, { repeatable: 'yes' as never }),
  ).rejects.toThrow('transaction: repeatable must be a boolean')
})

test.skipIf((await missingServer()) !== undefined)(
  'a key that only the database takes for a used one is rejected after one repetition',
  async () => {
    const schema = await testSchema()
    onTestFinished(() => schema.drop())
    const user = open(postgresStorage(schema.pool, { ensureSchema: true }))
    await user.collection('app', 'counts').insert({ name: 'a' })
    await schema.run('create unique index on counts (lower(name))')
    let runs = 0
    const saved = await user.transaction(
      ({ collection }) => {
        runs += 1
        return collection(counts).insert({ name: 'A' })
      },
      { repeatable: true },
    )
    expect(saved).toMatchObject({ rejected: true })
    expect(runs).toBe(2)
  },
)
