import { describe, expect, test } from 'vitest'
import {
  computed,
  decimal,
  defineCollection,
  integer,
  principal,
  text,
} from '../../src/entries/index.ts'
import { visitor } from '../kit/visitors.ts'
import { collections, everywhere, openDesk } from './desk.ts'

const [memory] = everywhere as [(typeof everywhere)[number]]
const chief = visitor('carl', { roles: 'Chief' })
const note = { id: 1, title: 'Tea', price: '4.5', data: { b: 1.0, a: [1, null] } }
const strong = /^"[0-9a-f]{32}"$/

describe.each(everywhere)('on $name', (on) => {
  test('an item has the same tag when it is inserted, read and updated without a change', async () => {
    const { get, post } = openDesk(on)
    const inserted = await post('/notes', note)
    expect(inserted.status).toBe(200)
    expect(inserted.etag).toMatch(strong)
    expect((await get('/notes/1')).etag).toBe(inserted.etag)
    expect((await post('/notes/1', { title: 'Tea' })).etag).toBe(inserted.etag)
    const changed = await post('/notes/1', { title: 'Mint tea' })
    expect(changed.etag).toMatch(strong)
    expect(changed.etag).not.toBe(inserted.etag)
    expect((await get('/notes/1')).etag).toBe(changed.etag)
    expect((await post('/notes/1', { title: 'Tea' })).etag).toBe(inserted.etag)
  })

  test('the tag is the same on every storage', async () => {
    const { post } = openDesk(on)
    const { etag } = await post('/notes', note)
    expect(etag).toBe('"5c23bf23e0f3f9ec37499a91a0d42247"')
  })

  test('a field that the caller cannot read is no part of the tag', async () => {
    const { get, post } = openDesk(on)
    const { etag } = await post('/notes', note)
    const ofChief = await get('/notes/1', chief)
    expect(ofChief.etag).not.toBe(etag)
    const changed = await post('/notes/1', { secret: 'x' }, chief)
    expect(changed.status).toBe(200)
    expect(changed.etag).not.toBe(ofChief.etag)
    expect((await get('/notes/1')).etag).toBe(etag)
    expect((await post('/notes/1', {}, { 'if-match': etag as string })).status).toBe(200)
  })
})

describe('the tag', () => {
  test('is a digest of the fields of the response', async () => {
    const { post } = openDesk(memory)
    const one = await post('/notes', note)
    const other = await post('/strict', note)
    expect(other.etag).toBe(one.etag)
  })

  test('is in no response of a collection without the option, nor of a delete, an error or a rejection', async () => {
    const { get, post, remove } = openDesk(memory)
    await post('/plain', note)
    await post('/notes', note)
    const all = [
      await get('/plain/1', { 'if-none-match': '*' }),
      await get('/plain'),
      await post('/plain/1', {}, { 'if-match': '???' }),
      await remove('/plain/1', { 'if-match': '"0"' }),
      await post('/notes/1', { title: 5 }),
      await get('/notes/2'),
      await remove('/notes/1'),
    ]
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200, 400, 404, 200])
    for (const { headers } of all) {
      expect(headers).not.toHaveProperty('ETag')
      expect(headers['Cache-Control']).toBe('no-store')
    }
  })

  test('lets a client keep a read, which it must revalidate, and no write', async () => {
    const { get, post } = openDesk(memory)
    const cached = ({ headers }: { readonly headers: Readonly<Record<string, string>> }) =>
      headers['Cache-Control']
    expect(cached(await post('/notes', note))).toBe('no-store')
    expect(cached(await get('/notes/1'))).toBe('private, no-cache')
    expect(cached(await get('/notes'))).toBe('private, no-cache')
  })

  test('of a page changes with its items, its count and its cursor', async () => {
    const { get, post } = openDesk(memory, {
      notes: { ...collections.plain, cursor: true, concurrency: { ifMatch: 'optional' } },
    })
    await post('/notes', note)
    const read = async (query: string) => (await get(`/notes${query}`)).etag
    const one = await read('?$limit=1')
    expect(one).toMatch(strong)
    expect(await read('?$limit=1')).toBe(one)
    expect(await read('?$limit=1&$count=true')).not.toBe(one)
    await post('/notes', { ...note, id: 2 })
    // The page has the same item, and a cursor.
    expect(await read('?$limit=1')).not.toBe(one)
  })

  test('of a singleton is that of its item', async () => {
    const { get, service } = openDesk(memory, {
      setting: {
        table: 'settings',
        singleton: true,
        concurrency: { ifMatch: 'optional' },
        fields: { id: integer(), title: text() },
      },
      settings: { key: 'id', fields: { id: integer(), title: text() } },
    })
    await service.as(principal('maria')).collection('app', 'settings').insert({ id: 1, title: 'x' })
    const { etag, status } = await get('/setting')
    expect([status, etag]).toEqual([200, expect.stringMatching(strong)])
    expect((await get('/setting', { 'if-none-match': etag as string })).status).toBe(304)
  })
})

describe('code that contributes to a response', () => {
  const both = /^"[0-9a-f]{32}\.[0-9a-f]{32}"$/
  const priced = { id: integer(), price: decimal({ precision: 10, scale: 2 }), title: text() }

  test('adds a digest of the response to the tag of a read, after the state of the item', async () => {
    let factor = 2
    const products = defineCollection(
      { key: 'id', fields: priced, concurrency: { ifMatch: 'required' } },
      {
        computed: {
          twice: computed(integer(), ['price'], ({ price }) => Number(price) * factor),
        },
      },
    )
    // A response that is cached would not notice another factor.
    const { get, post } = openDesk(memory, { products }, { cache: false })
    const inserted = await post('/products', { id: 1, price: '3', title: 'Tea' })
    expect(inserted.etag).toMatch(strong)
    const read = await get('/products/1')
    expect(read.etag).toMatch(both)
    expect(read.etag?.slice(0, 33)).toBe(inserted.etag?.slice(0, 33))
    expect((await get('/products/1', { 'if-none-match': read.etag as string })).status).toBe(304)
    factor = 3
    const after = await get('/products/1', { 'if-none-match': read.etag as string })
    expect([after.status, after.item?.['twice']]).toEqual([200, 9])
    // The stored item is the same, so each of these tags names its state.
    for (const tag of [inserted.etag, read.etag, after.etag]) {
      const { status } = await post('/products/1', {}, { 'if-match': tag as string })
      expect(status).toBe(200)
    }
  })

  test('does not change the state: a handler after of Filter that changes items', async () => {
    let mark = 'a'
    const products = defineCollection(
      { key: 'id', fields: priced, concurrency: { ifMatch: 'required' } },
      {
        events: {
          Filter: {
            after: ({ items, information }) => {
              for (const item of items) item.title = mark
              information(mark)
            },
          },
        },
      },
    )
    const { get, post, remove } = openDesk(memory, { products })
    const inserted = await post('/products', { id: 1, price: '3', title: 'Tea' })
    const read = await get('/products/1')
    expect([read.item?.['title'], read.etag?.slice(0, 33)]).toEqual([
      'a',
      inserted.etag?.slice(0, 33),
    ])
    mark = 'b'
    expect((await get('/products/1', { 'if-none-match': read.etag as string })).status).toBe(200)
    const updated = await post('/products/1', { price: '4' }, { 'if-match': read.etag as string })
    expect(updated.status).toBe(200)
    expect((await remove('/products/1', { 'if-match': read.etag as string })).status).toBe(412)
    expect((await remove('/products/1', { 'if-match': updated.etag as string })).status).toBe(200)
  })
})
