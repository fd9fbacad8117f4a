import { describe, expect, test } from 'vitest'
import { defineCollection, integer, principal, text, type Serve } from '../../src/entries/index.ts'
import { visitor } from '../kit/visitors.ts'
import { openStage } from '../kit/stage.ts'

const data = {
  key: 'id',
  fields: {
    id: integer(),
    owner: text(),
    title: text(),
    salary: integer({ readableBy: ['Boss'], writableBy: ['Boss'] }),
  },
} as const

interface Shape {
  readonly fields: (typeof data)['fields']
  readonly key: 'id'
}

const items = [
  { id: 1, owner: 'ann', title: 'a', salary: 10 },
  { id: 2, owner: 'bob', title: 'b', salary: 20 },
  { id: 3, owner: 'ann', title: 'c', salary: 30 },
]
const ann = { headers: visitor('ann') }

/** A collection whose callers see their own items, served by these functions. */
function owned(serve: Serve<Shape>) {
  return openStage({
    things: defineCollection(data, { rows: ({ user }) => ({ owner: user }), serve }),
  })
}

const find = ({ key }: { readonly key: number }) => items.find(({ id }) => id === key)

describe('the row rule', () => {
  test('limits a list that a function returns, whatever is requested', async () => {
    const calls: unknown[] = []
    const { client } = owned({
      filter: ({ conditions }) => {
        calls.push(conditions)
        return items
      },
    })
    const page = await client.get('/app/things?$count=true', ann)
    expect(page.body.items?.map(({ id }) => id)).toEqual([1, 3])
    expect(page.body.count).toBe(2)
    expect(calls).toEqual([{ owner: 'ann' }])
    expect((await client.get('/app/things/1', ann)).status).toBe(200)
    expect((await client.get('/app/things/2', ann)).status).toBe(404)
  })

  test('is not met by a request for the rows of others, for which no function is called', async () => {
    const { client, reports } = owned({
      filter: () => {
        throw new Error('called')
      },
    })
    const { body } = await client.get('/app/things?owner=bob&$count=true', ann)
    expect([body.items, body.count]).toEqual([[], 0])
    expect(reports).toEqual([])
  })

  test('makes a page with the item of another caller a failure', async () => {
    const { client, reports } = owned({ filter: () => ({ page: items, count: 3 }) })
    expect((await client.get('/app/things', ann)).status).toBe(500)
    expect(reports).toMatchObject([{ type: 'handler-failed', name: 'serve.filter' }])
  })

  test('hides an item that get returns', async () => {
    const { client, reports } = owned({ get: find })
    expect((await client.get('/app/things/1', ann)).body.item).toMatchObject({ id: 1 })
    expect((await client.get('/app/things/2', ann)).status).toBe(404)
    expect((await client.get('/app/things/9', ann)).status).toBe(404)
    expect((await client.get('/app/things/1?title=b', ann)).status).toBe(404)
    expect(reports).toEqual([])
  })

  test('rejects writes of other items before a function that writes is called', async () => {
    const calls: string[] = []
    const write = (name: string) => () => {
      calls.push(name)
      throw new Error(name)
    }
    const { client } = owned({
      get: find,
      insert: write('insert'),
      update: write('update'),
      delete: write('delete'),
    })
    expect((await client.post('/app/things/2', { title: 'x' }, ann)).status).toBe(404)
    expect((await client.delete('/app/things/2', ann)).status).toBe(404)
    expect((await client.post('/app/things', { id: 4, owner: 'bob' }, ann)).status).toBe(403)
    expect((await client.post('/app/things/1', { owner: 'bob' }, ann)).status).toBe(403)
    expect(calls).toEqual([])
  })

  test('supplies the values of an insert, and is checked in what the functions return', async () => {
    const stolen = { id: 1, owner: 'bob', title: 'x', salary: 99 }
    const inserted: unknown[] = []
    const { client, reports } = owned({
      get: find,
      insert: ({ item }) => {
        inserted.push(item)
        return item.title === 'x' ? { ...item, owner: 'bob' } : item
      },
      update: () => stolen,
    })
    const reply = await client.post('/app/things', { id: 4, title: 'd' }, ann)
    expect(reply.status).toBe(200)
    expect(inserted).toEqual([{ id: 4, owner: 'ann', title: 'd', salary: null }])
    for (const [path, body] of [
      ['/app/things', { id: 5, title: 'x' }],
      ['/app/things/1', { title: 'x' }],
    ] as const) {
      const stolenReply = await client.post(path, body, ann)
      expect(stolenReply.status).toBe(500)
      expect(JSON.stringify(stolenReply.body)).not.toContain('bob')
    }
    expect(reports).toMatchObject([
      { type: 'handler-failed', name: 'serve.insert' },
      { type: 'handler-failed', name: 'serve.update' },
    ])
  })

  test('that returns false responds 403', async () => {
    const things = defineCollection(data, { rows: () => false, serve: { filter: () => items } })
    const { client } = openStage({ things })
    expect((await client.get('/app/things', ann)).status).toBe(403)
  })
})

describe('rights on fields and events', () => {
  test('hide fields, and reject conditions, orders and values of them', async () => {
    const things = defineCollection(data, {
      serve: { filter: () => items, get: find, update: ({ item }) => item },
    })
    const { client } = openStage({ things })
    const boss = { headers: visitor('eve', { roles: 'Boss' }) }
    expect((await client.get('/app/things/1', boss)).body.item).toEqual(items[0])
    const hidden = { id: 1, owner: 'ann', title: 'a' }
    expect((await client.get('/app/things/1', ann)).body.item).toEqual(hidden)
    expect((await client.get('/app/things?$limit=1', ann)).body.items).toEqual([hidden])
    for (const query of ['salary=10', '$sort=salary', '$fields=salary']) {
      expect((await client.get(`/app/things?${query}`, ann)).status).toBe(400)
    }
    expect((await client.get('/app/things?$q=10', ann)).body.items).toEqual([])
    expect((await client.post('/app/things/1', { salary: 1 }, ann)).status).toBe(400)
    const raised = await client.post('/app/things/1', { salary: 11 }, boss)
    expect(raised.body.item).toEqual({ ...items[0], salary: 11 })
  })

  test('of roles respond 403 before a function is called', async () => {
    const things = defineCollection(
      { ...data, roles: ['Clerk'], eventRoles: { Delete: ['Boss'] } },
      {
        serve: {
          filter: () => items,
          delete: () => {
            throw new Error('called')
          },
        },
      },
    )
    const { client, service, reports } = openStage({ things })
    const clerk = { headers: visitor('cy', { roles: 'Clerk' }) }
    expect((await client.get('/app/things', ann)).status).toBe(403)
    expect((await client.get('/app/things', clerk)).status).toBe(200)
    expect((await client.delete('/app/things/1', clerk)).status).toBe(403)
    const access = service.as(principal('ann')).collection('app', 'things')
    await expect(access.filter()).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(reports.every(({ type }) => type === 'forbidden')).toBe(true)
  })

  test('are the rights of the caller for what a function reads', async () => {
    const secrets = defineCollection({ key: 'id', roles: ['Boss'], fields: { id: integer() } })
    const report = defineCollection(
      { key: 'id', fields: { id: integer(), all: integer() } },
      {
        serve: {
          filter: async ({ find: own, system }) => {
            const { length } = await system.find(secrets)
            return [
              { id: 1, all: length },
              ...(await own(secrets)).map(({ id }) => ({ id, all: 0 })),
            ]
          },
        },
      },
    )
    const { client } = openStage({ secrets, report })
    expect((await client.get('/app/report', ann)).status).toBe(403)
    const boss = { headers: visitor('eve', { roles: 'Boss' }) }
    expect((await client.get('/app/report', boss)).body.items).toEqual([{ id: 1, all: 0 }])
  })
})
