import { describe, expect, test } from 'vitest'
import { filterAsText } from '../../src/events/reads/filter.ts'
import { pageOf } from '../../src/events/reads/conditions.ts'
import {
  defineCollection,
  integer,
  memoryStorage,
  principal,
  text,
  type CollectionBehaviour,
} from '../../src/entries/index.ts'
import { itemEvent } from '../../src/request/plan.ts'
import { viewOf } from '../../src/request/view.ts'
import {
  publishCollection,
  type StorageAdapter,
  type StorageQuery,
} from '../../src/entries/storage.ts'
import { stubbedStorage } from './stubbed.ts'

const data = {
  key: 'id',
  fields: {
    id: integer(),
    title: text(),
    long: text({ itemOnly: true }),
    code: text({ readableBy: ['Chief'] }),
  },
} as const
const maria = principal('maria')
const rows = [
  { id: 1, title: 'a', long: 'l', code: 'c' },
  { id: 2, title: 'b', long: null, code: null },
]

function publish(filter: NonNullable<CollectionBehaviour<typeof data>['events']>['Filter']) {
  const events = filter === undefined ? {} : { Filter: filter }
  return publishCollection('app', 'notes', defineCollection(data, { events }))
}

/** Reads a page, or the item 1, of a collection whose storage has the rows above. */
async function read(
  what: 'page' | 'item',
  filter: NonNullable<CollectionBehaviour<typeof data>['events']>['Filter'],
  found = rows,
) {
  const collection = publish(filter)
  const view = viewOf(collection, maria)
  const queries: StorageQuery[] = []
  const { run, calls } = stubbedStorage(collection, {
    filter: (_, query) => {
      queries.push(query)
      return { rows: found, count: 9 }
    },
  })
  const isOne = { field: 'id', is: 'equal', value: 1 } as const
  const event = what === 'page' ? pageOf(view, {}, { limit: 5 }) : itemEvent(view, [isOne])
  return { outcome: await run(event), calls, queries, event }
}

describe('a Filter with handlers', () => {
  test('has the selected fields of the rows, and their count', async () => {
    const { outcome, event, queries } = await read('page', { before: () => undefined })
    expect(outcome).toEqual({
      type: 'page',
      collection: event.collection,
      select: ['id', 'title', 'long'],
      page: { rows: rows.map(({ id, title, long }) => ({ id, title, long })) },
      count: 9,
      validations: [],
    })
    expect(queries).toEqual([event.query])
  })

  test('adds the conditions of its before handler to the conditions of the request', async () => {
    const { queries } = await read('item', {
      before: ({ where }) => {
        where({ title: 'a' })
        where({ long: null })
      },
    })
    expect(queries[0]?.conditions).toEqual([
      { field: 'id', is: 'equal', value: 1 },
      { field: 'title', is: 'equal', value: 'a' },
      { field: 'long', is: 'equal', value: null },
    ])
  })

  test('reads for its after handler the fields of pages, or all fields of an item', async () => {
    const seen: unknown[] = []
    const after = ({ items }: { readonly items: readonly object[] }) => {
      seen.push(items.map((item) => Object.keys(item).join()))
    }
    const page = await read('page', { after })
    const item = await read('item', { after }, rows.slice(0, 1))
    expect(page.queries[0]?.select).toEqual(['id', 'title', 'code'])
    expect(item.queries[0]?.select).toEqual(['id', 'title', 'long', 'code'])
    expect(seen).toEqual([['id,title,code', 'id,title,code'], ['id,title,long,code']])
    expect(item.outcome).toMatchObject({ type: 'item', select: ['id', 'title', 'long'] })
  })

  test.each<[string, (items: object[]) => unknown]>([
    ['removed', (items) => items.pop()],
    ['left out', (items) => delete (items as Record<number, object>)[0]],
    ['added', (items) => items.push({ id: 3, title: 'c' })],
    ['replaced', (items) => (items[0] = { id: 3, title: 'c' })],
  ])('is a mistake of its after handler if items are %s', async (_, change) => {
    const after = ({ items }: { readonly items: readonly object[] }) => {
      change(items as object[])
    }
    await expect(read('page', { after })).rejects.toThrow('internal error')
  })

  test('of an item that does not exist is not found, and its after handler is not called', async () => {
    let calls = 0
    const after = () => {
      calls += 1
    }
    const reading = read('item', { after }, [])
    await expect(reading).rejects.toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
    expect(calls).toBe(0)
    expect(await read('page', { after }, [])).toMatchObject({
      outcome: { page: { rows: [] } },
    })
    expect(calls).toBe(1)
  })

  test('lists warnings and information, which need no confirmation', async () => {
    const { outcome } = await read('page', {
      before: ({ information, warning }) => {
        information('Noted.')
        warning('old', 'It is old.', 'title')
      },
    })
    expect(outcome).toMatchObject({
      type: 'page',
      validations: [
        { message: 'It is old.', severity: 'warning', field: 'title' },
        { message: 'Noted.', severity: 'information' },
      ],
    })
  })

  test('is rejected with errors, and with everything that is known by then', async () => {
    const { outcome } = await read('page', {
      after: ({ error, information }) => {
        information('Noted.')
        error('No.', 'id')
      },
    })
    expect(outcome).toEqual({
      type: 'rejected',
      reason: 'errors',
      messageName: 'notAccepted',
      message: 'The request was rejected.',
      echo: undefined,
      validations: [
        { message: 'No.', severity: 'error', field: 'id' },
        { message: 'Noted.', severity: 'information' },
      ],
    })
  })

  test('does not read if its before handler rejects', async () => {
    const { outcome, calls } = await read('page', { before: ({ reject }) => reject('Closed.') })
    expect(outcome).toMatchObject({ type: 'rejected', validations: [{ message: 'Closed.' }] })
    expect(calls).toEqual([])
  })

  test.each(['before', 'after'] as const)('that makes a mistake in %s names it', async (name) => {
    const collection = publish({
      before: ({ where }) => {
        if (name === 'before') where({ titel: 'a' } as never)
      },
      after: ({ items }) => {
        if (name === 'after') for (const item of items) item.title = 1 as never
      },
    })
    const { run, reports } = stubbedStorage(collection, {
      filter: () => ({ rows, count: null }),
    })
    await expect(run(pageOf(viewOf(collection, maria), {}, {}))).rejects.toThrow('internal error')
    expect(reports).toMatchObject([{ type: 'handler-failed', name }])
  })
})

describe('a page of JSON text', () => {
  const collection = publish(undefined)
  const view = viewOf(collection, maria)
  const page = pageOf(view, {}, {})
  const item = itemEvent(view, [])

  function adapter(items: readonly string[] | undefined): StorageAdapter {
    return {
      ...memoryStorage(),
      filter: () => ({ rows: rows.slice(0, 1), count: 1 }),
      filterText: () => items && { items, count: 7 },
    }
  }

  test('is a list of the items of storage', () => {
    expect(filterAsText(adapter(['{"id":1}', '{"id":2}']), page)).toEqual({
      type: 'page',
      collection,
      select: page.query.select,
      page: { items: ['{"id":1}', '{"id":2}'] },
      count: 7,
      validations: [],
    })
  })

  test('is an item, or not found', () => {
    expect(filterAsText(adapter(['{"id":1}']), item)).toEqual({
      type: 'item',
      collection,
      select: item.query.select,
      item: { json: '{"id":1}' },
      validations: [],
    })
    expect(() => filterAsText(adapter([]), item)).toThrow('Not found.')
  })

  test('is read as rows if storage does not write text', () => {
    const { filterText: _, ...without } = adapter(undefined)
    for (const one of [adapter(undefined), without]) {
      expect(filterAsText(one, page)).toMatchObject({ page: { rows: rows.slice(0, 1) }, count: 1 })
      expect(filterAsText(one, item)).toMatchObject({ item: { row: rows[0] }, validations: [] })
    }
  })
})
