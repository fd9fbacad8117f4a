import { describe, expect, test } from 'vitest'
import {
  defineCollection,
  error,
  integer,
  principal,
  system,
  text,
  warning,
  type CollectionBehaviour,
  type Handlers,
} from '../../src/entries/index.ts'
import { joinTransaction } from '../../src/events/units/join-transaction.ts'
import { openStage } from '../kit/stage.ts'

const fields = { id: integer(), title: text() } as const
const data = { key: 'id', fields } as const

interface Shape {
  readonly fields: typeof fields
  readonly key: 'id'
}

type Things = CollectionBehaviour<Shape>

const notes = defineCollection(data)

/** Items that are kept in a map, which stands for another system. */
function kept(behaviour: Things = {}) {
  const rows = new Map<number, { readonly id: number; readonly title: string | null }>()
  const things = defineCollection(data, {
    ...behaviour,
    serve: {
      filter: () => [...rows.values()],
      insert: ({ item }) => {
        rows.set(item.id, item)
        return item
      },
      update: ({ item }) => {
        rows.set(item.id, item)
        return item
      },
      delete: ({ key }) => rows.delete(key),
      ...behaviour.serve,
    },
  })
  return { rows, things }
}

describe('an event of a served collection', () => {
  test('opens no transaction, and storage does not know its collection', async () => {
    const { things } = kept({ validations: [error('none', { check: () => undefined })] })
    const { client, storageCalls, opened, service } = openStage({ things, notes })
    await client.post('/app/things', { id: 1 })
    await client.post('/app/things/1', { title: 'a' })
    await client.get('/app/things')
    await client.get('/app/things/1')
    await client.delete('/app/things/1')
    await service.as(system).collection('app', 'things').new()
    expect(storageCalls).toEqual([])
    expect(opened.map(({ name }) => name)).not.toContain('things')
    expect(opened.map(({ name }) => name)).toContain('notes')
  })

  test('runs handlers, defaults, validations and warnings as stored collections do', async () => {
    const committed: unknown[] = []
    const { things, rows } = kept({
      validations: [
        error('long', { field: 'title', check: ({ title }) => (title === 'xx' ? 'No.' : null) }),
        warning('empty', { field: 'title', check: ({ title }) => (title ? null : 'Empty.') }),
      ],
      events: {
        Save: {
          before: ({ item }) => {
            item.title = item.title?.trim() ?? null
          },
          after: ({ item, fail }) => {
            if (item.title === 'failed') fail('It has failed.')
          },
          committed: ({ item, stored }) => {
            committed.push([item.title, stored?.title ?? null])
          },
        },
        Delete: {
          before: ({ stored, reject }) => {
            if (stored.title === 'kept') reject('Keep it.')
          },
        },
        Filter: {
          before: ({ where }) => {
            where({ title: 'a' })
          },
          after: ({ items }) => {
            for (const item of items as { title?: string }[]) item.title = 'changed'
          },
        },
      },
    })
    const { client } = openStage({ things })
    expect((await client.post('/app/things', { id: 1, title: 'xx ' })).status).toBe(400)
    const warned = await client.post('/app/things', { id: 1 })
    const [{ validationId } = {}] = warned.body.validations
    expect(rows.size).toBe(0)
    const headers = { 'X-Svc-Ignore-Warnings': `"${validationId}"` }
    const confirmed = await client.post('/app/things', { id: 1 }, { headers })
    expect(confirmed.status).toBe(200)
    expect((await client.post('/app/things/1', { title: ' a ' })).body.item).toEqual({
      id: 1,
      title: 'a',
    })
    await client.post('/app/things', { id: 2, title: 'kept' })
    const failed = await client.post('/app/things', { id: 3, title: 'failed' })
    expect([failed.status, failed.body.message]).toEqual([400, 'It has failed.'])
    expect((await client.get('/app/things')).body.items).toEqual([{ id: 1, title: 'changed' }])
    expect((await client.delete('/app/things/2')).status).toBe(400)
    expect([...rows.keys()]).toEqual([1, 2, 3])
    expect(committed).toEqual([
      [null, null],
      ['a', null],
      ['kept', null],
      ['failed', null],
    ])
  })

  test('responds 500 if after rejects what is written, and reports why', async () => {
    const { things, rows } = kept({
      events: { Insert: { after: ({ reject }) => reject('Too late.') } },
    })
    const { client, reports } = openStage({ things })
    expect((await client.post('/app/things', { id: 1 })).status).toBe(500)
    expect(rows.size).toBe(1)
    expect(reports).toMatchObject([{ type: 'handler-failed', name: 'after' }])
    expect(String((reports[0] as { error: unknown }).error)).toContain("can't be rolled back")
  })
})

describe('the functions', () => {
  test('write stored collections in a transaction for each call', async () => {
    const { things } = kept({
      serve: {
        insert: async ({ item, collection }) => {
          await collection(notes).insert({ id: item.id, title: 'audited' })
          const second = await collection(notes).insert({ id: item.id, title: 'again' })
          if (second.rejected) throw new Error('the second insert was rejected')
          return item
        },
      },
    })
    const { client, service, storageCalls } = openStage({ things, notes })
    expect((await client.post('/app/things', { id: 1 })).status).toBe(500)
    expect(storageCalls).toEqual(['transaction write', 'transaction write'])
    const { items } = await service.as(system).collection('app', 'notes').filter()
    expect(items).toEqual([{ id: 1, title: 'audited' }])
  })

  test('call other served collections, whose rights apply', async () => {
    const inner = kept()
    const outer = kept({
      serve: {
        insert: async ({ item, collection }) => {
          const saved = await collection(inner.things).insert(item)
          if (saved.rejected) throw new Error('rejected')
          return saved.item
        },
      },
    })
    const { client } = openStage({ inner: inner.things, outer: outer.things })
    expect((await client.post('/app/outer', { id: 1 })).status).toBe(200)
    expect([...inner.rows.keys()]).toEqual([1])
  })

  test('that call each other without end fail', async () => {
    const things = defineCollection(data, {
      serve: {
        filter: async ({ collection }) => (await collection('things').filter()).items as never,
      },
    })
    const { client, reports } = openStage({ things })
    expect((await client.get('/app/things')).status).toBe(500)
    expect(String((reports[0] as { error: unknown }).error)).toContain('without end')
  })

  test('must await their calls', async () => {
    const things = defineCollection(data, {
      serve: {
        filter: ({ collection }) => {
          void collection(notes).insert({ id: 1 })
          return []
        },
      },
    })
    const { client, reports } = openStage({ things, notes })
    expect((await client.get('/app/things')).status).toBe(500)
    expect(String((reports[0] as { error: unknown }).error)).toContain('not awaited')
  })
})

describe('the transaction of another event', () => {
  const nested = (events: (things: typeof notes) => Handlers<Shape>) => {
    const { things, rows } = kept()
    const stored = defineCollection(data, { events: events(things) })
    return { ...openStage({ things, stored, notes }), rows }
  }

  test('can read a served collection, which sees what the transaction has written', async () => {
    const counts = defineCollection(data, {
      serve: {
        filter: async ({ find }) => [{ id: (await find('stored')).length, title: null }],
      },
    })
    const seen: unknown[] = []
    const stored = defineCollection(data, {
      events: {
        Insert: {
          after: async ({ find }) => {
            seen.push(await find(counts))
          },
        },
      },
    })
    const { client, storageCalls } = openStage({ counts, stored })
    expect((await client.post('/app/stored', { id: 7 })).status).toBe(200)
    expect(seen).toEqual([[{ id: 1, title: null }]])
    expect(storageCalls).toEqual(['transaction write'])
  })

  test.each(['insert', 'update', 'delete'] as const)('rejects its %s', async (method) => {
    const { client, service, reports, rows } = nested((things) => ({
      Insert: {
        before: async ({ collection }) => {
          const access = collection(things)
          if (method === 'insert') await access.insert({ id: 1 })
          else if (method === 'update') await access.update(1, { title: 'b' })
          else await access.delete(1)
        },
      },
    }))
    expect((await client.post('/app/stored', { id: 7 })).status).toBe(500)
    expect(reports).toMatchObject([{ type: 'handler-failed', name: 'before' }])
    const problem = String((reports[0] as { error: unknown }).error)
    expect(problem).toContain(`of app/things cannot take part in a transaction`)
    expect(problem).toContain('service.as(...)')
    expect(rows.size).toBe(0)
    const { items } = await service.as(system).collection('app', 'stored').filter()
    expect(items).toEqual([])
  })

  test('of application code rejects its writes, and allows its reads', async () => {
    const { service, rows } = nested(() => ({}))
    rows.set(1, { id: 1, title: 'a' })
    const own = service.as(principal('ann'))
    await own.transaction(async ({ collection }) => {
      expect((await collection('app', 'things').filter()).items).toHaveLength(1)
      await expect(collection('app', 'things').insert({ id: 2 })).rejects.toThrow(
        'cannot take part in a transaction',
      )
      await collection('app', 'notes').insert({ id: 1 })
    })
    expect((await own.collection('app', 'notes').filter()).items).toHaveLength(1)
  })

  test('is not opened by a user-defined event of a served collection, which can write it', async () => {
    const { rows, things: base } = kept()
    const things = defineCollection(data, {
      serve: base.serve ?? {},
      userDefinedEvents: {
        fill: async ({ own }, count: number) => {
          for (let id = 0; id < count; id += 1) await own.insert({ id })
          return count
        },
      },
    })
    const { service, storageCalls } = openStage({ things })
    const access = service.as(system).collection('app', 'things')
    expect(await access.invoke('fill', 2)).toMatchObject({ rejected: false, result: 2 })
    expect(rows.size).toBe(2)
    expect(storageCalls).toEqual([])
  })
})

test('a handler of a served collection has no transaction to join', async () => {
  const { things } = kept({
    events: {
      Insert: {
        before: (event) => joinTransaction(event, 'enqueue', () => Promise.resolve()),
      },
    },
  })
  const { client, reports } = openStage({ things })
  expect((await client.post('/app/things', { id: 1 })).status).toBe(500)
  expect(String((reports[0] as { error: unknown }).error)).toContain(
    'enqueue: the event has no transaction, because functions serve its collection',
  )
})

test('Change previews an update of a served item without a write', async () => {
  const { things, rows } = kept({
    validations: [
      error('no', { field: 'title', check: ({ title }) => (title === 'x' ? 'No.' : null) }),
    ],
  })
  rows.set(1, { id: 1, title: 'a' })
  const { service } = openStage({ things })
  const access = service.as(system).collection('app', 'things')
  expect(await access.change({ title: 'b' }, 1)).toMatchObject({ rejected: false })
  expect(await access.change({ title: 'x' }, 1)).toMatchObject({ rejected: true })
  expect(await access.change({ title: 'x' }, 2)).toBeUndefined()
  expect(rows.get(1)).toEqual({ id: 1, title: 'a' })
})
