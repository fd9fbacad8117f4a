import { describe, expect, test } from 'vitest'
import { serverStorages } from '../kit/database-servers.ts'
import { openStorage, storages } from '../kit/storages.ts'
import { visitor } from '../kit/visitors.ts'
import { boss, openShop, type ShopOptions } from './shop.ts'

const all = [...new Map([...storages, ...serverStorages].map((one) => [one.name, one])).values()]
const replayed = { 'Idempotent-Replayed': 'true' }

describe.each(all)('on $name, a request with a key', (on) => {
  const open = (options?: ShopOptions) => openShop(openStorage(on), options)

  test('is executed once, and its repetition has the same status, headers and body', async () => {
    const shop = open()
    const first = await shop.send({ key: 'k' })
    expect(first.status).toBe(200)
    expect(first.headers).not.toHaveProperty('Idempotent-Replayed')
    const second = await shop.send({ key: 'k' })
    expect(second.status).toBe(200)
    expect(second.headers).toEqual({ ...first.headers, ...replayed })
    expect(second.body).toBe(first.body)
    expect(await shop.send({ key: 'other' })).not.toMatchObject({ body: first.body })
    expect(shop.calls).toEqual(['insert a', 'insert a'])
    expect(await shop.rows('notes')).toHaveLength(2)
    expect(shop.reports).toEqual([])
  })

  test('can be an Update or a Delete, which is repeated although the item is missing', async () => {
    const shop = open()
    await shop.send({ body: { id: 7, title: 'x', region: 'north' } })
    const update = { path: '/7', body: { title: 'y' }, key: 'update' }
    const changed = await shop.send(update)
    expect(changed.body).toContain('"title":"y"')
    await shop.send({ path: '/7', body: { title: 'z' } })
    expect(await shop.send(update)).toMatchObject({ body: changed.body, headers: replayed })
    expect(await shop.rows('notes')).toMatchObject([{ title: 'z' }])
    const removal = { method: 'DELETE', path: '/7', key: 'delete' }
    const removed = await shop.send(removal)
    expect(removed.status).toBe(200)
    expect(await shop.send(removal)).toMatchObject({ status: 200, body: removed.body })
    expect((await shop.send({ ...removal, key: 'again' })).status).toBe(404)
    expect((await shop.send({ ...removal, key: 'again' })).headers).toMatchObject(replayed)
  })

  test.each([
    ['a rejected save', { title: '' }, 400],
    ['a save that waits for confirmation', { title: 'rude' }, 400],
    ['a save that is rejected after its write', { title: 'late' }, 400],
    ['a save with a wrong value', { title: 5 }, 400],
  ])('keeps the response of %s', async (_, values, status) => {
    const shop = open()
    const request = { key: 'k', body: { ...values, region: 'north' } }
    const first = await shop.send(request)
    expect(first.status).toBe(status)
    const calls = [...shop.calls]
    const second = await shop.send(request)
    expect(second).toMatchObject({ status, body: first.body, headers: replayed })
    expect(shop.calls).toEqual(calls)
    expect(await shop.rows('notes')).toEqual([])
    expect(await shop.rows()).toHaveLength(1)
  })

  test('responds 422 if the key belongs to another request', async () => {
    const shop = open()
    await shop.send({ key: 'k' })
    for (const request of [
      { body: { title: 'b', region: 'north' } },
      { path: '/1' },
      { method: 'DELETE', path: '/1' },
      { headers: { ...boss, 'x-svc-ignore-warnings': '"a"' } },
      { headers: { ...boss, 'if-match': '"a"' } },
    ]) {
      const reply = await shop.send({ key: 'k', ...request })
      expect(reply.status).toBe(422)
      expect(JSON.parse(reply.body)).toEqual({
        message: 'Another request had this Idempotency-Key.',
        validations: [],
        status: 422,
      })
    }
    expect(await shop.rows('notes')).toHaveLength(1)
  })

  test('responds 409 while the first one is running', async () => {
    let proceed = (): void => undefined
    const gate = new Promise<void>((resolve) => (proceed = resolve))
    const shop = open({ before: () => gate })
    const first = shop.send({ key: 'k' })
    await expect.poll(() => shop.calls).toHaveLength(1)
    const second = await shop.send({ key: 'k' })
    expect(second).toMatchObject({ status: 409, headers: { 'Retry-After': '1' } })
    expect((await shop.send({ key: 'k', body: { title: 'b' } })).status).toBe(422)
    proceed()
    expect(await shop.send({ key: 'k' })).toMatchObject({ status: 409 })
    const { body } = await first
    expect(await shop.send({ key: 'k' })).toMatchObject({ status: 200, body, headers: replayed })
    expect(await shop.rows('notes')).toHaveLength(1)
  })

  test('belongs to its caller, whatever its brand prefix', async () => {
    const adapter = openStorage(on)
    const shop = openShop(adapter)
    await shop.send({ key: 'k' })
    const other = visitor('maria', { region: 'north' })
    expect((await shop.send({ key: 'k', headers: other })).headers).not.toMatchObject(replayed)
    expect((await shop.send({ key: 'k', headers: other })).headers).toMatchObject(replayed)
    await shop.send({ key: 'k', application: 'plain' })
    await shop.send({ key: 'k', application: 'plain' })
    expect(await shop.rows('plain_notes')).toHaveLength(2)
    expect(await shop.rows()).toHaveLength(2)
  })

  test('is forgotten after its time, and removed', async () => {
    const shop = open({ idempotencyKeys: { keepFor: 10 } })
    await shop.send({ key: 'k' })
    shop.pass(9)
    expect((await shop.send({ key: 'k' })).headers).toMatchObject(replayed)
    // A clock that goes back changes nothing.
    shop.pass(-60)
    expect((await shop.send({ key: 'k' })).headers).toMatchObject(replayed)
    shop.pass(61)
    expect((await shop.send({ key: 'k' })).headers).not.toMatchObject(replayed)
    expect((await shop.send({ key: 'k' })).headers).toMatchObject(replayed)
    expect(await shop.rows()).toHaveLength(1)
    expect(await shop.rows('notes')).toHaveLength(2)
  })

  test('has no stored response of fields that are hidden by now', async () => {
    const shop = open()
    const values = { title: 'a', region: 'north', secret: 's' }
    const first = await shop.send({ key: 'k', body: values })
    expect(first.body).toContain('"secret":"s"')
    for (const headers of [
      visitor('boss', { region: 'north' }),
      visitor('boss', { region: 'south' }),
    ]) {
      const reply = await shop.send({ key: 'k', body: values, headers })
      expect(reply.status).toBe(409)
      expect(reply.headers).not.toHaveProperty('Retry-After')
      expect(reply.body).not.toContain('"s"')
    }
    expect((await shop.send({ key: 'k', body: values })).body).toBe(first.body)
  })

  test('has no stored response for a caller who lost the right', async () => {
    const shop = open()
    await shop.send({ body: { id: 7, title: 'x', region: 'north' } })
    const removal = { method: 'DELETE', path: '/7', key: 'k' }
    const remover = visitor('rita', { roles: 'Remover', region: 'north' })
    expect((await shop.send({ ...removal, headers: remover })).status).toBe(200)
    const reply = await shop.send({ ...removal, headers: visitor('rita', { region: 'north' }) })
    expect(reply.status).toBe(403)
  })

  test('whose response is too large is executed once', async () => {
    const shop = open({ idempotencyKeys: { maxBytes: 1000 } })
    const body = { title: 'x'.repeat(1000), region: 'north' }
    expect((await shop.send({ key: 'k', body })).status).toBe(200)
    const second = await shop.send({ key: 'k', body })
    expect(second.status).toBe(409)
    expect(second.body).toContain('its response is not available')
    expect(await shop.rows('notes')).toHaveLength(1)
    expect(await shop.rows()).toMatchObject([{ body: null, state: 'done' }])
  })

  test('is executed once if many arrive at the same time in two services', async () => {
    const adapter = openStorage(on)
    const shop = openShop(adapter)
    const replies = await Promise.all(Array.from({ length: 10 }, () => shop.send({ key: 'k' })))
    const executed = replies.filter(({ status }) => status === 200)
    expect(executed).toHaveLength(1)
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(9)
    expect(await shop.rows('notes')).toHaveLength(1)
  })
})
