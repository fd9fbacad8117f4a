import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  mount,
  openAccess,
  ServiceError,
  text,
  type Observation,
} from '../../src/entries/index.ts'
import { StorageError } from '../../src/entries/storage.ts'
import { send } from '../kit/service.ts'

const fields = { id: integer(), title: text() } as const
const headers = { 'idempotency-key': 'k' }
const post = { method: 'POST', path: '/notes', headers, body: { id: 1, title: 'a' } }

/** A collection whose function fails with an error, as long as there is one. */
function open() {
  const state: { failure?: Error; inserts: number } = { inserts: 0 }
  const reports: Observation[] = []
  const service = createService({
    applications: {
      app: {
        idempotencyKeys: true,
        collections: {
          notes: defineCollection(
            { key: 'id', fields },
            {
              serve: {
                filter: () => [],
                insert: async ({ item }) => {
                  state.inserts++
                  if (state.failure !== undefined) throw state.failure
                  return item
                },
              },
            },
          ),
        },
      },
    },
    storage: memoryStorage(),
    security: openAccess(),
    report: (one) => reports.push(one),
  })
  onTestFinished(() => service.close())
  return { service, state, reports }
}

describe('a request of a served collection with a key', () => {
  test('calls its function once', async () => {
    const { service, state } = open()
    const first = await send(service, post)
    expect(first.status).toBe(200)
    const second = await send(service, post)
    expect(second).toMatchObject({ status: 200, text: first.text })
    expect(second.headers).toMatchObject({ 'Idempotent-Replayed': 'true' })
    expect(state.inserts).toBe(1)
  })

  test.each([
    ['503', new StorageError('unavailable'), 503],
    ['429', new ServiceError('TOO_MANY_REQUESTS', 'Later.'), 429],
  ])('calls it again if it has failed with %s', async (_, failure, status) => {
    const { service, state } = open()
    state.failure = failure
    expect((await send(service, post)).status).toBe(status)
    delete state.failure
    expect((await send(service, post)).status).toBe(200)
    expect(state.inserts).toBe(2)
  })

  test('does not call it again if its effect is unknown', async () => {
    const { service, state } = open()
    state.failure = new Error('lost')
    expect((await send(service, post)).status).toBe(500)
    delete state.failure
    const second = await send(service, post)
    expect(second.status).toBe(409)
    expect(second.headers).not.toHaveProperty('Retry-After')
    expect(state.inserts).toBe(1)
  })

  test('keeps another error', async () => {
    const { service, state } = open()
    state.failure = new ServiceError('FORBIDDEN', 'Not you.')
    const first = await send(service, post)
    expect(first.status).toBe(403)
    delete state.failure
    expect(await send(service, post)).toMatchObject({ status: 403, text: first.text })
    expect(state.inserts).toBe(1)
  })
})

test('with several storages, each keeps the keys of its collections', async () => {
  const collections = {
    notes: defineCollection({ key: 'id', fields }),
    others: defineCollection({ key: 'id', fields, table: 'more' }),
  }
  const [first, second] = [memoryStorage(), memoryStorage()]
  const opened: string[][] = []
  const watched = (storage: typeof first): typeof first => ({
    ...storage,
    open: (all) => {
      opened.push(all.map(({ table }) => table))
      return storage.open(all)
    },
  })
  const service = createService({
    applications: { app: { collections, idempotencyKeys: true } },
    storage: mount({ 'app/notes': watched(first), '*': watched(second) }),
    security: openAccess(),
  })
  onTestFinished(() => service.close())
  for (const path of ['/notes', '/others']) {
    const reply = await send(service, { ...post, path, headers: { 'idempotency-key': path } })
    const again = await send(service, { ...post, path, headers: { 'idempotency-key': path } })
    expect(again).toMatchObject({ status: 200, text: reply.text })
    expect(again.headers).toMatchObject({ 'Idempotent-Replayed': 'true' })
  }
  expect(opened).toEqual([
    ['notes', 'rowgate_idempotency_keys'],
    ['more', 'rowgate_idempotency_keys'],
  ])
})
