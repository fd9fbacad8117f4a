import { expect, test } from 'vitest'
import {
  StorageError,
  type StorageAdapter,
  type StorageTransaction,
} from '../../src/entries/storage.ts'
import { memoryStorage } from '../../src/entries/index.ts'
import { openStorage } from '../kit/storages.ts'
import { visitor } from '../kit/visitors.ts'
import { boss, openShop } from './shop.ts'

test.each([
  ['an empty one', ''],
  ['a repeated one', 'a, a'],
  ['one with a space', 'a b'],
  ['one with a control character', 'a\u0007'],
  ['one with other letters', 'schlüssel'],
  ['one that is too long', 'x'.repeat(256)],
])('a key that is malformed responds 400: %s', async (_, key) => {
  const shop = openShop(openStorage())
  const reply = await shop.send({ key })
  expect(reply.status).toBe(400)
  expect(JSON.parse(reply.body)).toEqual({
    message:
      'The header Idempotency-Key is malformed: it must be one key of 1 to 255 visible ASCII characters.',
    validations: [],
    status: 400,
  })
  expect(await shop.rows('notes')).toEqual([])
  expect(await shop.rows()).toEqual([])
})

test.each(['x'.repeat(255), '"quoted"', 'a,b', '!', '{"a":1}'])(
  'a key of visible characters is accepted: %s',
  async (key) => {
    const shop = openShop(openStorage())
    const { body } = await shop.send({ key })
    expect(await shop.send({ key })).toMatchObject({ status: 200, body })
    expect(await shop.rows('notes')).toHaveLength(1)
  },
)

test('a request that is rejected before its event is not kept', async () => {
  const shop = openShop(openStorage())
  const key = 'k'
  expect((await shop.send({ key, body: '{' })).status).toBe(400)
  expect((await shop.send({ key, path: '?nope=1' })).status).toBe(400)
  expect((await shop.send({ key, path: '/x' })).status).toBe(404)
  expect((await shop.send({ key, headers: {} })).status).toBe(401)
  expect(await shop.rows()).toEqual([])
  expect((await shop.send({ key })).status).toBe(200)
})

test('the header is ignored by reads, and without the option', async () => {
  const shop = openShop(openStorage())
  for (const key of ['', 'a b', 'k']) {
    expect((await shop.send({ method: 'GET', key })).status).toBe(200)
    expect((await shop.send({ key, application: 'plain' })).status).toBe(200)
  }
  expect(await shop.rows('plain_notes')).toHaveLength(3)
  expect(await shop.rows()).toEqual([])
})

test('a service without the option has no table of keys', async () => {
  const shop = openShop(openStorage(), { idempotencyKeys: false })
  await shop.send({ key: 'k' })
  await shop.send({ key: 'k' })
  expect(await shop.rows('notes')).toHaveLength(2)
  await expect(shop.rows()).rejects.toThrow()
})

test('a caller with too many keys receives 429, and others do not', async () => {
  const shop = openShop(openStorage(), { idempotencyKeys: { maxKeys: 3 } })
  const statuses: number[] = []
  for (let index = 0; index < 5; index++)
    statuses.push((await shop.send({ key: `k${index}` })).status)
  expect(statuses).toEqual([200, 200, 200, 429, 429])
  expect(await shop.send({ key: 'k9' })).toMatchObject({ headers: { 'Retry-After': '60' } })
  // Repetitions and requests without a key need no room.
  expect((await shop.send({ key: 'k0' })).status).toBe(200)
  expect((await shop.send()).status).toBe(200)
  const other = visitor('maria', { region: 'north' })
  expect((await shop.send({ key: 'k4', headers: other })).status).toBe(200)
  expect(await shop.rows()).toHaveLength(4)
})

/** Returns a storage whose transactions fail when they write keys. */
function failing(storage: StorageAdapter, when: 'insert' | 'update', error: Error): StorageAdapter {
  return {
    ...storage,
    transaction: (options, work) =>
      storage.transaction(options, (on) => {
        const own: StorageTransaction = {
          ...on,
          [when]: (...given: Parameters<StorageTransaction['update']>) => {
            if (given[0].table === 'rowgate_idempotency_keys') throw error
            return (on[when] as StorageTransaction['update'])(...given)
          },
        }
        return work(own)
      }),
  }
}

test.each(['insert', 'update'] as const)(
  'if storage fails at the %s of a key, the response is 503 and nothing is stored',
  async (when) => {
    let isFailing = true
    const storage = memoryStorage()
    const broken = failing(storage, when, new StorageError('unavailable'))
    const shop = openShop(storage, {
      wrap: (inspected) => ({
        ...inspected,
        transaction: (options, work) => (isFailing ? broken : inspected).transaction(options, work),
      }),
    })
    expect((await shop.send({ key: 'k' })).status).toBe(503)
    expect(shop.reports.splice(0)).toMatchObject([{ type: 'storage-unavailable' }])
    expect(await shop.rows('notes')).toEqual([])
    expect(await shop.rows()).toEqual([])
    isFailing = false
    expect((await shop.send({ key: 'k' })).status).toBe(200)
  },
)

test('if another transaction holds a key for too long, the response is 409', async () => {
  const storage = memoryStorage()
  const locked = new StorageError('unavailable', { isLocked: true })
  const shop = openShop(storage, { wrap: (one) => failing(one, 'insert', locked) })
  expect(await shop.send({ key: 'k' })).toMatchObject({
    status: 409,
    headers: { 'Retry-After': '1' },
  })
  expect(shop.reports).toEqual([])
})

test('responses of failures are not kept', async () => {
  let failure: Error | undefined = new StorageError('unavailable')
  const shop = openShop(openStorage(), {
    before: () => {
      if (failure !== undefined) throw failure
    },
  })
  expect((await shop.send({ key: 'k' })).status).toBe(503)
  failure = new Error('fault')
  expect((await shop.send({ key: 'k' })).status).toBe(500)
  expect(shop.reports.splice(0)).toHaveLength(2)
  failure = undefined
  expect((await shop.send({ key: 'k' })).status).toBe(200)
  expect(await shop.rows()).toHaveLength(1)
})

test.each([
  ['body', '{"item":{}}'],
  ['status', 201],
  ['headers', '{"Set-Cookie":"a=b"}'],
  ['view', 'x'],
  ['seal', null],
])('a stored response whose %s was changed is not sent', async (field, value) => {
  const storage = memoryStorage()
  let tamper = false
  const shop = openShop(storage, {
    wrap: (one) => ({
      ...one,
      filter: async (collection, query) => {
        const page = await one.filter(collection, query)
        const isOwn = tamper && collection.table === 'rowgate_idempotency_keys'
        return isOwn
          ? { ...page, rows: page.rows.map((row) => ({ ...row, [field]: value })) }
          : page
      },
    }),
  })
  await shop.send({ key: 'k' })
  tamper = true
  const reply = await shop.send({ key: 'k', headers: boss })
  expect(reply.status).toBe(500)
  expect(shop.reports.splice(0)).toMatchObject([{ type: 'stored-value-unfit' }])
  tamper = false
  expect((await shop.send({ key: 'k' })).status).toBe(200)
  expect(await shop.rows('notes')).toHaveLength(1)
})
