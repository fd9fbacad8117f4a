import { expect } from 'vitest'
import {
  boolean,
  computed,
  decimal,
  defineCollection,
  integer,
  json,
  principal,
  ServiceError,
  system,
  text,
  warning,
  withBehaviour,
  type AfterSave,
  type CollectionDefinition,
  type CollectionShape,
} from '../../src/entries/index.ts'
import { describeOnStorages, type Stage } from '../kit/stage.ts'

const data = {
  key: 'id',
  fields: {
    id: integer(),
    first: text({ required: true, maxLength: 20 }),
    last: text(),
    note: text({ includeByDefault: false }),
    tags: json(),
  },
} as const

/** People whose names, initials and prices are computed. */
function people(events: object = {}): CollectionDefinition {
  return defineCollection(data, {
    events,
    computed: {
      name: computed(text(), ['first', 'last'], ({ first, last }) =>
        last === null ? first : `${first} ${last}`,
      ),
      listed: computed(boolean({ includeByDefault: true }), ['last'], ({ last }) => last !== null),
      price: computed(decimal({ precision: 9, scale: 2 }), ['id'], ({ id }) =>
        id > 8 ? null : `${id}.5`,
      ),
      labels: computed(json(), ['tags', 'id'], ({ tags, id }) => ({ tags, id })),
    },
  })
}

/** What the handlers of these tests call. */
type Adding = AfterSave<CollectionShape>

const ada = { id: 1, first: 'Ada', last: 'Löve', note: 'n', tags: ['x'] }
const bo = { id: 2, first: 'Bo', last: null, note: null, tags: null }
const computedOf = {
  ada: { name: 'Ada Löve', listed: true, price: '1.50', labels: { tags: ['x'], id: 1 } },
  bo: { name: 'Bo', listed: false, price: '2.50', labels: { tags: null, id: 2 } },
}

async function opened(open: (collections: Collections) => Stage, events?: object): Promise<Stage> {
  const stage = open({ people: people(events) })
  await stage.service
    .as(system)
    .collection('app', 'people')
    .insertMany([ada, bo] as never)
  return stage
}

type Collections = Readonly<Record<string, CollectionDefinition>>

describeOnStorages('computed fields', (on) => {
  on('are in items, and in pages that request them, after the stored fields', async (open) => {
    const { ask } = await opened(open)
    expect((await ask('GET', '/people/1')).text).toContain(
      '"tags":["x"],"name":"Ada Löve","listed":true,"price":"1.50","labels":{"tags":["x"],"id":1}}',
    )
    const page = await ask('GET', '/people')
    expect(page.text).toContain(
      '{"id":1,"first":"Ada","last":"Löve","tags":["x"],"listed":true},{"id":2,',
    )
    const some = await ask('GET', '/people?$fields=price,last,name&$sort=-id&$count=true')
    expect(some.body).toMatchObject({
      items: [
        { last: null, name: 'Bo', price: '2.50' },
        { last: 'Löve', name: 'Ada Löve', price: '1.50' },
      ],
      count: 2,
    })
    expect(Object.keys(some.body.items?.[0] ?? {})).toEqual(['last', 'name', 'price'])
    expect((await ask('GET', '/people?$fields=name')).body.items).toEqual([
      { name: 'Ada Löve' },
      { name: 'Bo' },
    ])
    expect((await ask('GET', '/people?$fields=*')).body.items).toEqual([
      { ...ada, ...computedOf.ada },
      { ...bo, ...computedOf.bo },
    ])
    expect((await ask('GET', '/people/1?last=L%C3%B6ve')).body.item).toMatchObject(computedOf.ada)
  })

  on('are in the responses of saves and deletes', async (open) => {
    const { ask, rows } = await opened(open)
    const inserted = await ask('POST', '/people', { id: 9, first: 'Cy' })
    const cy = { id: 9, first: 'Cy', last: null, note: null, tags: null }
    expect(inserted.body.item).toEqual({
      ...cy,
      name: 'Cy',
      listed: false,
      price: null,
      labels: { tags: null, id: 9 },
    })
    const updated = await ask('POST', '/people/1', { last: 'X' })
    expect(updated.body.item).toEqual({ ...ada, last: 'X', ...computedOf.ada, name: 'Ada X' })
    const deleted = await ask('DELETE', '/people/2')
    expect(deleted.body.item).toEqual({ ...bo, ...computedOf.bo })
    expect(Object.keys((await rows('people'))[0] ?? {})).toEqual(Object.keys(data.fields))
  })

  on('are in the responses of rejected deletes', async (open) => {
    const held = defineCollection(data, {
      validations: [
        warning('last', {
          events: ['Delete'],
          check: ({ id }) => (id === 1 ? 'Really?' : undefined),
        }),
      ],
    })
    const forms = {
      before: people({ Delete: { before: ({ error }: Adding) => error('no') } }),
      after: people({ Delete: { after: ({ error }: Adding) => error('no') } }),
      stopped: people({ Delete: { before: ({ reject }: Adding) => reject('no') } }),
      failed: people({ Delete: { after: ({ fail }: Adding) => fail('kept') } }),
      held: withBehaviour(held, { computed: people().computed as never }),
    }
    const { ask, service } = open(forms)
    for (const name of Object.keys(forms)) {
      const access = service.as(system).collection('app', name)
      await access.insertMany([ada, bo] as never)
      const { text: shown } = await ask('GET', `/${name}/1`)
      const item = shown.slice(0, shown.indexOf(',"message"'))
      expect(item).toContain('"labels":{"tags":["x"],"id":1}}')
      const rejected = await ask('DELETE', `/${name}/1`)
      expect(rejected.status, name).toBe(400)
      expect(rejected.text.startsWith(item), rejected.text).toBe(true)
    }
  })

  on('are repeated by rejected saves as they were sent', async (open) => {
    const { ask } = await opened(open)
    const sent = { name: 'X', price: 'y', first: null, labels: { tags: ['x'], id: 1 } }
    for (const path of ['/people/1', '/people']) {
      const { body } = await ask('POST', path, sent)
      expect(body.item).toEqual({ first: null, name: 'X', price: 'y', labels: sent.labels })
      expect(Object.keys(body.item ?? {})).toEqual(['first', 'name', 'price', 'labels'])
    }
  })

  on('of a rejected delete respond 500 if a function fails', async (open) => {
    const things = defineCollection(
      { key: 'id', fields: { id: integer() } },
      {
        computed: {
          bad: computed(integer(), ['id'], () => {
            throw new Error('broken')
          }),
        },
        events: { Delete: { after: ({ error }) => error('no') } },
      },
    )
    const { ask, service, rows, reports } = open({ things })
    await service.as(system).collection('app', 'things').insert({ id: 1 })
    expect((await ask('DELETE', '/things/1')).status).toBe(500)
    expect(reports()).toMatchObject([{ type: 'handler-failed', name: 'computed.bad' }])
    expect(await rows('things')).toHaveLength(1)
  })

  on('cannot be filtered, sorted or searched', async (open) => {
    const { ask } = await opened(open)
    expect((await ask('GET', '/people?name=Bo')).body).toMatchObject({
      status: 400,
      message: 'The field name cannot be filtered.',
    })
    expect((await ask('GET', '/people?$sort=name')).body).toMatchObject({
      status: 400,
      message: 'The field name cannot be sorted.',
    })
    expect((await ask('GET', '/people?$q=Ada+L')).body.items).toEqual([])
    expect((await ask('GET', '/people?$fields=nope')).status).toBe(400)
  })

  on('are read-only: the current value may be sent back', async (open) => {
    const { ask } = await opened(open)
    const { body } = await ask('GET', '/people/1')
    const back = await ask('POST', '/people/1', { ...body.item, first: 'Eve' })
    expect(back.body.item).toMatchObject({ first: 'Eve', name: 'Eve Löve', price: '1.50' })
    const wrong = await ask('POST', '/people/1', { price: '9', name: 1, labels: { id: 1 } })
    expect(wrong.status).toBe(400)
    expect(wrong.body.validations.map(({ message }) => message)).toEqual([
      'name is read-only.',
      'price is read-only.',
      'labels is read-only.',
    ])
    expect((await ask('POST', '/people/1', { price: null })).status).toBe(400)
    expect((await ask('POST', '/people/1', { price: '1.5' })).status).toBe(200)
    const copy = await ask('POST', '/people', { id: 3, first: 'Al', name: 'Al', price: null })
    expect(copy.body.validations).toEqual([
      { severity: 'error', field: 'name', message: 'name is read-only.' },
    ])
    expect((await ask('POST', '/people', { id: 3, first: 'Al', name: null })).status).toBe(200)
  })

  on('are not part of items in process', async (open) => {
    const { service } = await opened(open)
    const access = service.as(principal('maria')).collection('app', 'people')
    expect((await access.filter()).items).toEqual([ada, bo])
    expect(await access.get(1)).toEqual(ada)
    expect(await access.update(1, { last: 'X' })).toMatchObject({
      item: { ...ada, last: 'X' },
    })
    const error = new TypeError(
      "The field name of people is computed, so it can't be filtered or saved.",
    )
    await expect(access.filter({ name: 'Bo' })).rejects.toThrow(error)
    await expect(access.update(1, { name: 'Bo' })).rejects.toThrow(error)
    await expect(access.filter({}, { sort: ['name'] })).rejects.toThrow(TypeError)
  })

  on('are computed of the values that handlers of Filter leave', async (open) => {
    const { ask } = await opened(open, {
      Filter: {
        after: ({ items }: { readonly items: readonly { last: string }[] }) => {
          for (const item of items) item.last = 'hidden'
        },
      },
    })
    expect((await ask('GET', '/people/1')).body.item).toMatchObject({ name: 'Ada hidden' })
    expect((await ask('GET', '/people?$fields=name')).body.items).toEqual([
      { name: 'Ada hidden' },
      { name: 'Bo hidden' },
    ])
  })

  on('respond 500 if a function fails, and nothing is saved', async (open) => {
    const results: Readonly<Record<string, () => unknown>> = {
      throws: () => {
        throw new RangeError('secret')
      },
      rejects: () => Promise.reject(new Error('late')),
      undefined: () => undefined,
      null: () => null,
      number: () => 1,
      long: () => 'too long',
      other: () => 'z',
      forbidden: () => {
        throw new ServiceError('FORBIDDEN', 'secret')
      },
    }
    const texts = { maxLength: 3, required: true, enumeration: ['abc'] } as const
    for (const [name, result] of Object.entries(results)) {
      const things = defineCollection(
        { key: 'id', fields: { id: integer(), word: text() } },
        { computed: { odd: computed(text(texts), ['word'], result as () => 'abc') } },
      )
      const { ask, rows, reports } = open({ things: things })
      const saved = await ask('POST', '/things', { id: 1, word: 'w' })
      expect(saved.status).toBe(500)
      expect(saved.text).not.toContain('secret')
      expect(await rows('things')).toEqual([])
      expect(reports(), name).toMatchObject([
        {
          type: 'handler-failed',
          name: 'computed.odd',
          place: { application: 'app', collection: 'things', event: 'Insert' },
        },
      ])
    }
  })

  on('respond 500 in pages and items only where they are requested', async (open) => {
    const things = defineCollection(
      { key: 'id', fields: { id: integer(), word: text() } },
      { computed: { size: computed(integer(), ['word'], ({ word }) => (word as string).length) } },
    )
    const { ask, service, reports } = open({ things: things })
    await service
      .as(system)
      .collection('app', 'things')
      .insertMany([{ id: 1, word: 'w' }, { id: 2 }] as never)
    expect((await ask('GET', '/things')).status).toBe(200)
    expect((await ask('GET', '/things/1')).body.item).toEqual({ id: 1, word: 'w', size: 1 })
    expect((await ask('GET', '/things/2')).status).toBe(500)
    expect((await ask('GET', '/things?$fields=size')).status).toBe(500)
    expect((await ask('GET', '/things?$fields=size&id=1')).body.items).toEqual([{ size: 1 }])
    expect(reports().length).toBeGreaterThan(1)
  })

  on('are computed for served collections and singletons, too', async (open) => {
    const item = { id: 1, word: 'abc' }
    const data = { fields: { id: integer(), word: text() } }
    const served = defineCollection(
      { ...data, key: 'id' },
      {
        computed: { size: computed(integer(), ['word'], size) },
        serve: { filter: () => [item] },
      },
    )
    const single = defineCollection(
      { ...data, singleton: true },
      {
        computed: { size: computed(integer(), ['word'], size) },
        serve: { get: () => item },
      },
    )
    const { ask } = open({ served: served, single })
    expect((await ask('GET', '/served?$fields=size')).body.items).toEqual([{ size: 3 }])
    expect((await ask('GET', '/served/1')).body.item).toEqual({ ...item, size: 3 })
    expect((await ask('GET', '/single')).body.item).toEqual({ ...item, size: 3 })
  })
})

function size({ word }: { readonly word: string | null }): number {
  return word?.length ?? 0
}
