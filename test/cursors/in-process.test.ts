import { expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  principal,
  system,
  text,
} from '../../src/entries/index.ts'
import { send, type Response } from '../kit/service.ts'
import { inspected, memory, openStorage } from '../kit/storages.ts'
import { header, itemsOf, readToEnd } from './reading.ts'

const fields = { id: integer(), title: text() }
const notes = defineCollection({ key: 'id', cursor: true, fields })
const plain = defineCollection({ key: 'id', fields })
const maria = principal('maria')

async function stage() {
  const service = createService({
    applications: { app: { collections: { notes, plain } } },
    storage: openStorage(memory),
    security: openAccess(),
  })
  onTestFinished(() => service.close())
  const rows = Array.from({ length: 7 }, (_, at) => ({ id: at + 1, title: `t${at % 2}` }))
  await service.as(system).collection('app', 'notes').insertMany(rows)
  await service.as(system).collection('app', 'plain').insertMany(rows)
  return service
}

test('a filter in process continues after a page', async () => {
  const own = (await stage()).as(maria).collection('app', 'notes')
  const options = { sort: ['-title'], limit: 2, count: true } as const
  const conditions = { id: { gt: 1 }, or: [{ title: 't0' }, { title: 't1' }] }
  const first = await own.filter(conditions, options)
  expect(first).toMatchObject({ items: [{ id: 2 }, { id: 4 }], count: 6 })
  const after = first.next as string
  const second = await own.filter(conditions, { ...options, after })
  expect(second).toMatchObject({ items: [{ id: 6 }, { id: 3 }], count: 6 })
  const rest = await own.filter(conditions, { sort: ['-title'], after })
  expect(rest).toEqual({
    items: [6, 3, 5, 7].map((id) => ({ id, title: `t${(id + 1) % 2}` })),
    count: null,
    validations: [],
  })
})

test('only pages with a next one have a cursor', async () => {
  const service = await stage()
  const own = service.as(maria).collection('app', 'notes')
  expect('next' in (await own.filter())).toBe(false)
  expect('next' in (await own.filter({}, { limit: 7 }))).toBe(false)
  expect('next' in (await own.filter({}, { limit: 0 }))).toBe(false)
  expect(
    'next' in (await service.as(maria).collection('app', 'plain').filter({}, { limit: 1 })),
  ).toBe(false)
  expect([await own.count(), await own.exists({ id: 8 })]).toEqual([7, false])
})

test('cursors of HTTP and in-process calls are the same', async () => {
  const service = await stage()
  const page = await send(service, { method: 'GET', path: '/notes?$limit=2&title=t0' })
  const { anonymous } = await import('../../src/definition/principal.ts')
  const own = service.as(anonymous).collection('app', 'notes')
  const { next } = await own.filter({ title: 't0' }, { limit: 2 })
  expect(next).toBe(page.headers[header])
})

test('wrong cursors and options throw a TypeError', async () => {
  const service = await stage()
  const own = service.as(maria).collection('app', 'notes')
  const { next: after = '' } = await own.filter({ title: 't0' }, { limit: 1 })
  const filter = (options: object, conditions = {}) => own.filter(conditions, options)
  await expect(filter({ after }, { title: 't1' })).rejects.toThrow(TypeError)
  await expect(filter({ after, sort: ['-id'] }, { title: 't0' })).rejects.toThrow(
    'The parameter after must be the cursor of a page with the same filters',
  )
  await expect(filter({ after: 'x' })).rejects.toThrow(TypeError)
  await expect(filter({ after: 1 })).rejects.toThrow('after must be the cursor of a page.')
  await expect(filter({ after, offset: 0 })).rejects.toThrow('after and offset exclude each other.')
  const other = service.as(principal('noah')).collection('app', 'notes')
  await expect(other.filter({ title: 't0' }, { after })).rejects.toThrow(TypeError)
  await expect(service.as(maria).collection('app', 'plain').filter({}, { after })).rejects.toThrow(
    'plain has no cursors: its definition needs cursor: true.',
  )
})

test('pages within a transaction see its changes', async () => {
  const service = await stage()
  await service.as(maria).transaction(async ({ collection }) => {
    const own = collection('app', 'notes')
    const { next: after = '' } = await own.filter({}, { limit: 5 })
    await own.insert({ id: 8, title: 'new' })
    await own.delete(6)
    const { items, next } = await own.filter({}, { limit: 5, after, count: true })
    expect([items.map(({ id }) => id), next]).toEqual([[7, 8], undefined])
  })
})

/** What a function that serves a collection was called with. */
interface Call {
  readonly where: unknown
  readonly limit: number | undefined
}

const values = [3, null, 1, 2, null, 5, 4].map((rank, at) => ({ id: at + 1, rank }))

test.each(['list', 'page'] as const)(
  'a collection that is served by a function that returns a %s has cursors',
  async (kind) => {
    const calls: Call[] = []
    const served = defineCollection(
      { key: 'id', cursor: true, fields: { id: integer(), rank: integer() } },
      {
        serve: {
          filter: ({ where, limit, sort, count }) => {
            calls.push({ where, limit })
            if (kind === 'list') return values
            expect([sort[0], count]).toEqual([{ field: 'id', descending: false }, false])
            const bound = (where as { id: { gt: number } } | undefined)?.id.gt ?? 0
            return { page: values.filter(({ id }) => id > bound).slice(0, limit) }
          },
        },
      },
    )
    const service = createService({
      applications: { app: { collections: { served } } },
      storage: openStorage(memory),
      security: openAccess(),
    })
    onTestFinished(() => service.close())
    const idsOf = (pages: readonly Response[]) => itemsOf(pages).map(({ id }) => id)
    expect(idsOf(await readToEnd(service, '/served?$limit=3'))).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(calls.map(({ limit }) => limit)).toEqual([4, 4, 4])
    expect(calls.map(({ where }) => where)).toEqual([
      undefined,
      { id: { gt: 3 } },
      { id: { gt: 6 } },
    ])
    if (kind === 'page') return
    calls.length = 0
    // The second page begins with a value and ends without one.
    expect(idsOf(await readToEnd(service, '/served?$sort=-rank&$limit=4'))).toEqual([
      6, 7, 1, 4, 3, 2, 5,
    ])
    expect(calls.length).toBe(2)
  },
)

test('only a page that reaches the items without value needs a transaction', async () => {
  const ranked = defineCollection({
    key: 'id',
    cursor: true,
    fields: { id: integer(), rank: integer() },
  })
  const inspection = inspected(openStorage(memory))
  const service = createService({
    applications: { app: { collections: { ranked } } },
    storage: inspection.storage,
    security: openAccess(),
    cache: false,
  })
  onTestFinished(() => service.close())
  await service.as(system).collection('app', 'ranked').insertMany(values)
  const [begun] = inspection.transactions()
  const counts: number[] = []
  // 6, 7 | 1, 4 | 3, 2 | 5: the third page begins with a value.
  await readToEnd(service, '/ranked?$sort=-rank&$limit=2', async () => {
    counts.push(inspection.transactions()[0] - begun)
    return Promise.resolve()
  })
  expect([...counts, inspection.transactions()[0] - begun]).toEqual([0, 0, 1, 1])
})
