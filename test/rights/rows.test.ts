import { expect } from 'vitest'
import { defineCollection, integer, text, warning } from '../../src/entries/index.ts'
import { describeForCallers } from '../kit/stage.ts'
import { bytesOf, expectForbidden, itemIn, valuesIn } from './responses.ts'
import { visitor, type Headers } from '../kit/visitors.ts'

const fields = {
  id: integer(),
  region: text(),
  title: text({ maxLength: 10, required: true }),
  size: integer(),
} as const
const ownRegion = { equal: { region: { attribute: 'region' } } } as const
const shops = defineCollection({ key: 'id', fields, rows: ownRegion })

const firstShops = [
  { id: 1, region: 'north', title: 'apple', size: 3 },
  { id: 2, region: 'south', title: 'apple', size: 9 },
  { id: 3, region: 'north', title: 'berry', size: 1 },
  { id: 4, region: null, title: 'north', size: 2 },
  { id: 5, region: 'south', title: 'cherry', size: null },
  { id: 6, region: 'north', title: 'date', size: null },
]

const nora = visitor('nora', { region: 'north' })
const sam = visitor('sam', { region: 'south' })

describeForCallers('rows that a caller may not see', (on) => {
  on('are missing from pages and counts, whatever the query', async (open) => {
    const stage = open({ collections: { shops } })
    await stage.plant('shops', firstShops)
    const pages: Readonly<Record<string, readonly number[]>> = {
      '': [1, 3, 6],
      '$q=apple': [1],
      '$q=cherry': [],
      '$q=south': [],
      '$q=north': [1, 3, 6],
      'title=apple': [1],
      'title=cherry': [],
      'id=2': [],
      'id=1': [1],
      'region=north': [1, 3, 6],
      'region=south': [],
      'region=': [],
      'size=': [6],
      'size=9': [],
      '$sort=-size': [1, 3, 6],
      '$sort=size': [6, 3, 1],
      '$sort=-title,region': [6, 3, 1],
    }
    for (const [query, ids] of Object.entries(pages)) {
      const answer = await stage.ask(nora, 'GET', `/shops?${query}&$count=true`)
      expect(valuesIn(answer), query).toEqual(ids)
      expect(answer.body.count, query).toBe(ids.length)
    }
    for (const [query, ids] of [
      ['$limit=1', [1]],
      ['$limit=1&$offset=1', [3]],
      ['$limit=2&$offset=2', [6]],
      ['$offset=3', []],
      ['$limit=0', []],
    ] as const) {
      const answer = await stage.ask(nora, 'GET', `/shops?${query}&$count=true`)
      expect(valuesIn(answer), query).toEqual(ids)
      expect(answer.body.count, query).toBe(3)
    }
    for (const query of ['$or=1', 'region=north&region=south', '$fields=*,region', 'region=%00']) {
      expect((await stage.ask(nora, 'GET', `/shops?${query}`)).status, query).toBe(400)
    }
    expect(valuesIn(await stage.ask(visitor('n', { region: 'NORTH' }), 'GET', '/shops'))).toEqual(
      [],
    )
    expect(valuesIn(await stage.ask(visitor('n', { region: '' }), 'GET', '/shops'))).toEqual([])
  })

  on('cannot be distinguished from rows that never existed', async (open) => {
    const stage = open({ collections: { shops } })
    await stage.plant('shops', firstShops)
    const requests = (id: number): readonly (readonly [string, string, unknown])[] => [
      ['GET', `/shops/${id}`, undefined],
      ['GET', `/shops/${id}?title=apple`, undefined],
      ['GET', `/shops/${id}?region=south`, undefined],
      ['GET', `/shops/${id}?nope=1`, undefined],
      ['POST', `/shops/${id}`, { size: 1 }],
      ['POST', `/shops/${id}`, {}],
      ['POST', `/shops/${id}`, { region: 'north' }],
      ['POST', `/shops/${id}`, { region: 'south' }],
      ['POST', `/shops/${id}`, { id, title: 'x'.repeat(11), nope: 1 }],
      ['POST', `/shops/${id}`, '{'],
      ['DELETE', `/shops/${id}`, undefined],
    ]
    const never = requests(99)
    for (const id of [2, 4, 5]) {
      for (const [index, [method, path, body]] of requests(id).entries()) {
        const [, path99 = '', body99] = never[index] ?? []
        const foreign = await stage.ask(nora, method, path, body)
        const unknown = await stage.ask(nora, method, path99, body99)
        expect(foreign.status, path).not.toBe(200)
        expect(bytesOf(foreign), `${method} ${path}`).toBe(bytesOf(unknown))
      }
    }
    expect((await stage.ask(nora, 'GET', '/shops/2')).text).toBe(
      '{"message":"Not found.","validations":[],"status":404}',
    )
    itemIn(await stage.ask(sam, 'GET', '/shops/2'))
  })

  on('no rule or handler of Update and Delete receives them', async (open) => {
    const heard: unknown[] = []
    const hears = ({ stored }: { readonly stored: { readonly id: number } }) => {
      heard.push(stored.id)
    }
    const watched = defineCollection(
      { key: 'id', fields, rows: ownRegion },
      {
        validations: [warning('big', { events: ['Delete'], check: ({ id }) => String(id) })],
        events: { Update: { before: hears }, Delete: { before: hears } },
      },
    )
    const stage = open({ collections: { watched } })
    await stage.plant('watched', firstShops)
    const ghost = bytesOf(await stage.ask(nora, 'DELETE', '/watched/99'))
    expect(bytesOf(await stage.ask(nora, 'DELETE', '/watched/2'))).toBe(ghost)
    expect(bytesOf(await stage.ask(nora, 'POST', '/watched/2', { size: 1 }))).toBe(ghost)
    expect(heard).toEqual([])
    const held = await stage.ask(nora, 'DELETE', '/watched/1')
    const id = held.body.validations[0]?.validationId ?? ''
    const sure = { ...nora, 'x-svc-ignore-warnings': `"${id}"` }
    expect(bytesOf(await stage.ask(sure, 'DELETE', '/watched/2'))).toBe(ghost)
    itemIn(await stage.ask(sure, 'DELETE', '/watched/1'))
    expect(heard).toEqual([1, 1])
  })

  on('are missing from a collection without key', async (open) => {
    const { id: _id, ...others } = fields
    const logs = defineCollection({ fields: others, rows: ownRegion })
    const stage = open({ collections: { logs } })
    await stage.plant(
      'logs',
      firstShops.map(({ id: _, ...item }) => item),
    )
    const page = await stage.ask(nora, 'GET', '/logs?$count=true')
    expect(valuesIn(page, 'title')).toEqual(['apple', 'berry', 'date'])
    expect(page.body.count).toBe(3)
    expect(valuesIn(await stage.ask(nora, 'GET', '/logs?region=south'), 'title')).toEqual([])
    expect(itemIn(await stage.ask(nora, 'POST', '/logs', { title: 'new' }))).toEqual({
      region: 'north',
      title: 'new',
      size: null,
    })
    expectForbidden(await stage.ask(nora, 'POST', '/logs', { title: 'new', region: 'south' }))
  })

  on('are missing if the rule is about a part of the key', async (open) => {
    const parts = { region: text(), number: integer(), title: text() } as const
    const lines = defineCollection({ key: ['region', 'number'], fields: parts, rows: ownRegion })
    const stage = open({ collections: { lines } })
    const items = ['north', 'south'].map((region) => ({ region, number: 1, title: region }))
    await stage.plant('lines', items)
    expect(valuesIn(await stage.ask(nora, 'GET', '/lines'), 'title')).toEqual(['north'])
    expect(valuesIn(await stage.ask(nora, 'GET', '/lines?region=south'), 'title')).toEqual([])
    itemIn(await stage.ask(nora, 'GET', '/lines/north,1'))
    for (const [method, body] of [
      ['GET', undefined],
      ['POST', { title: 'x' }],
      ['DELETE', undefined],
    ] as const) {
      const foreign = await stage.ask(nora, method, '/lines/south,1', body)
      const unknown = await stage.ask(nora, method, '/lines/west,1', body)
      expect(foreign.status).toBe(404)
      expect(bytesOf(foreign)).toBe(bytesOf(unknown))
      expect(bytesOf(await stage.ask(nora, method, '/lines/north,9', body))).toBe(bytesOf(unknown))
    }
    expect(itemIn(await stage.ask(nora, 'POST', '/lines', { number: 2 }))).toMatchObject({
      region: 'north',
    })
    expectForbidden(await stage.ask(nora, 'POST', '/lines', { number: 3, region: 'south' }))
    // The response does not reveal whether the key exists there.
    expectForbidden(await stage.ask(nora, 'POST', '/lines', { number: 1, region: 'south' }))
    itemIn(await stage.ask(nora, 'DELETE', '/lines/north,1'))
    expect((await stage.rows('lines')).map(({ title }) => title)).toEqual([null, 'south'])
  })
})

describeForCallers('rows that a caller may not write', (on) => {
  on('an insert without the field takes the value of the rule', async (open) => {
    const stage = open({ collections: { shops } })
    expect(itemIn(await stage.ask(nora, 'POST', '/shops', { id: 1, title: 'a' }))).toEqual({
      id: 1,
      region: 'north',
      title: 'a',
      size: null,
    })
    const named = { id: 2, title: 'b', region: 'north' }
    expect(itemIn(await stage.ask(nora, 'POST', '/shops', named))).toMatchObject(named)
    itemIn(await stage.ask(sam, 'POST', '/shops', { id: 3, title: 'c' }))
    expect((await stage.rows('shops')).map(({ region }) => region)).toEqual([
      'north',
      'north',
      'south',
    ])
  })

  on('an insert elsewhere is rejected, and nothing is written', async (open) => {
    const stage = open({ collections: { shops } })
    for (const region of ['south', null, '', 'North', 'north ']) {
      expectForbidden(await stage.ask(nora, 'POST', '/shops', { id: 1, title: 'a', region }))
    }
    const faulty = await stage.ask(nora, 'POST', '/shops', { id: 1, region: 'south' })
    expect(faulty.status).not.toBe(200)
  })

  on('an update that moves the row out is rejected, and nothing is written', async (open) => {
    const stage = open({ collections: { shops } })
    await stage.plant('shops', firstShops)
    for (const region of ['south', null, '', 'NORTH']) {
      expectForbidden(await stage.ask(nora, 'POST', '/shops/1', { region, size: 7 }))
    }
    const kept = await stage.ask(nora, 'POST', '/shops/1', { region: 'north', size: 7 })
    expect(itemIn(kept)).toMatchObject({ region: 'north', size: 7 })
  })

  on('a handler before the write cannot move it out either', async (open) => {
    const moved = defineCollection(
      { key: 'id', fields, rows: ownRegion },
      {
        events: {
          Insert: {
            before: ({ item }) => void (item.region = item.size === 1 ? 'south' : 'north'),
          },
          Update: { before: ({ item }) => void (item.region = item.size === 1 ? null : 'north') },
        },
      },
    )
    const stage = open({ collections: { moved } })
    await stage.plant('moved', [{ id: 5, title: 'e', size: 5 }])
    expectForbidden(await stage.ask(nora, 'POST', '/moved', { id: 6, title: 'x', size: 1 }))
    expectForbidden(await stage.ask(nora, 'POST', '/moved/5', { size: 1 }))
    itemIn(await stage.ask(nora, 'POST', '/moved/5', { size: 2 }))
    // What the item is before it is stored is what counts.
    itemIn(await stage.ask(nora, 'POST', '/moved/5', { region: 'south', size: 2 }))
    itemIn(await stage.ask(nora, 'POST', '/moved', { id: 6, title: 'x', region: 'south' }))
    expect((await stage.rows('moved')).map(({ region }) => region)).toEqual(['north', 'north'])
  })

  on('no rule of the application receives a row that an update would move out', async (open) => {
    const heard: unknown[] = []
    const watched = defineCollection(
      { key: 'id', fields, rows: ownRegion },
      { validations: [warning('hears', { check: ({ region }) => void heard.push(region) })] },
    )
    const stage = open({ collections: { watched } })
    expectForbidden(await stage.ask(nora, 'POST', '/watched', { id: 1, title: 'a', region: 'x' }))
    expect(heard).toEqual([])
  })

  on('the value of the rule is set if the caller must not set or read the field', async (open) => {
    const closed: readonly (readonly [object, readonly string[], number])[] = [
      [{ writableBy: ['Chief'] }, ['id', 'region', 'title'], 400],
      [{ readOnly: true }, ['id', 'region', 'title'], 400],
      [{ readableBy: ['Chief'], writableBy: ['Chief'] }, ['id', 'title'], 400],
      [{ readableBy: [], readOnly: true }, ['id', 'title'], 400],
      [{ readableBy: [] }, ['id', 'title'], 400],
      [{ readableBy: [], writableBy: 'everyone' }, ['id', 'title'], 403],
    ]
    for (const [options, names, status] of closed) {
      const kept = { id: integer(), region: text({ ...options, required: true }), title: text() }
      const items = defineCollection({ key: 'id', fields: kept, rows: ownRegion })
      const stage = open({ collections: { items } })
      await plantRegions(stage, [nora, sam])
      const page = await stage.ask(nora, 'GET', '/items?$fields=*')
      expect(valuesIn(page)).toEqual([1])
      expect(Object.keys(page.body.items?.[0] ?? {})).toEqual(names)
      expect((await stage.rows('items')).map(({ region }) => region)).toEqual(['north', 'south'])
      itemIn(await stage.ask(nora, 'POST', '/items/1', { title: 'x' }))
      expect((await stage.ask(nora, 'POST', '/items/2', { title: 'x' })).status).toBe(404)
      const elsewhere = await stage.ask(nora, 'POST', '/items', { id: 9, region: 'south' })
      expect(elsewhere.status).toBe(status)
      itemIn(await stage.ask(nora, 'DELETE', '/items/1'))
    }
  })

  on('the default of a field does not override the rule', async (open) => {
    const kept = { id: integer(), region: text({ default: 'south' }) } as const
    const items = defineCollection({ key: 'id', fields: kept, rows: ownRegion })
    const stage = open({ collections: { items } })
    expect(itemIn(await stage.ask(nora, 'POST', '/items', { id: 1 }))).toEqual({
      id: 1,
      region: 'north',
    })
  })
})

async function plantRegions(
  stage: { ask(who: Headers, method: string, path: string, body: unknown): Promise<unknown> },
  callers: readonly Headers[],
): Promise<void> {
  for (const [index, who] of callers.entries()) {
    const answer = await stage.ask(who, 'POST', '/items', { id: index + 1 })
    expect(answer).toMatchObject({ status: 200 })
  }
}
