import { expect, test } from 'vitest'
import {
  defineCollection,
  integer,
  system,
  text,
  type CollectionAccess,
  type CollectionShape,
  type Serve,
} from '../../src/entries/index.ts'
import { openStage } from '../kit/stage.ts'

const fields = { id: integer(), part: text(), title: text(), size: integer() }
const item = { id: 1, part: 'p', title: 'a', size: null }

type Served = Serve<{ readonly fields: typeof fields; readonly key: 'id' }>
type Call = Readonly<Record<string, unknown>>

/** The members of a call that are the same for every function. */
const context = ['principal', 'signal', 'now', 'collection', 'find', 'system']
const writing = ['reject', 'information']

/** Opens a service whose functions return one item, and the calls that they receive. */
function opened(
  key: 'id' | readonly ['id', 'part'] = 'id',
  functions: readonly (keyof Served)[] = ['filter', 'get', 'insert', 'update', 'delete'],
) {
  const calls: (readonly [name: string, call: Call])[] = []
  const called =
    (name: string, result: unknown = item) =>
    (call: object) => {
      const { principal: _, signal: __, now: ___, ...rest } = call as Call
      const given = Object.entries(rest).filter(([, value]) => typeof value !== 'function')
      const { system: ____, ...own } = Object.fromEntries(given)
      calls.push([name, own])
      expect(Object.keys(call)).toEqual(expect.arrayContaining(context))
      const isWriting = name !== 'filter' && name !== 'get'
      expect(writing.filter((one) => one in call)).toEqual(isWriting ? writing : [])
      return result
    }
  const serve = {
    filter: called('filter', [item]),
    get: called('get'),
    insert: called('insert'),
    update: called('update'),
    delete: called('delete', true),
  }
  const chosen = Object.fromEntries(functions.map((name) => [name, serve[name as 'get']]))
  const things = defineCollection({ key, fields } as never, { serve: chosen })
  const { service, client, reports } = openStage({ things })
  const access: CollectionAccess<CollectionShape> = service.as(system).collection('app', 'things')
  return { access, client, calls, reports }
}

const allFields = ['id', 'part', 'title', 'size']
const byId = [{ field: 'id', descending: false }]

test('filter is called with the whole query', async () => {
  const { access, client, calls } = opened()
  await client.get(
    '/app/things?$limit=3&$offset=2&$q=Ab&$sort=-size&title=a&$fields=id&$count=true',
  )
  await access.filter()
  await access.filter({ size: null }, { limit: 4 })
  const all = {
    conditions: {},
    where: undefined,
    sort: byId,
    offset: 0,
    count: false,
    fields: allFields,
  }
  expect(calls).toStrictEqual([
    [
      'filter',
      {
        conditions: { title: 'a' },
        where: undefined,
        search: { fields: allFields, text: 'ab' },
        sort: [{ field: 'size', descending: true }, ...byId],
        limit: 3,
        offset: 2,
        count: true,
        fields: allFields,
      },
    ],
    ['filter', { ...all, search: undefined, limit: undefined }],
    ['filter', { ...all, search: undefined, conditions: { size: null }, limit: 4 }],
  ])
})

test('get is called with the key and the fields, once in each event', async () => {
  const { access, calls } = opened()
  const get = ['get', { key: 1, fields: allFields }]
  await access.get(1)
  await access.update(1, { title: 'b', size: null })
  await access.delete(1)
  expect(calls).toStrictEqual([
    get,
    get,
    ['update', { key: 1, item: { ...item, title: 'b' }, changes: { title: 'b' }, stored: item }],
    get,
    ['delete', { key: 1, stored: item }],
  ])
})

test('a composite key is a list, in the order of the key', async () => {
  const { access, calls } = opened(['id', 'part'])
  await access.get([1, 'p'])
  await access.update([1, 'p'], {})
  await access.delete([1, 'p'])
  expect(calls.map(([name, { key }]) => [name, key])).toEqual(
    ['get', 'get', 'update', 'get', 'delete'].map((name) => [name, [1, 'p']]),
  )
})

test('an item is read with filter if there is no get', async () => {
  const { access, calls } = opened('id', ['filter', 'delete'])
  expect(await access.get(1)).toEqual(item)
  await access.delete(1)
  const filter = {
    conditions: { id: 1 },
    where: undefined,
    search: undefined,
    sort: [],
    limit: 1,
    offset: 0,
    count: false,
    fields: allFields,
  }
  expect(calls).toStrictEqual([
    ['filter', filter],
    ['filter', filter],
    ['delete', { key: 1, stored: item }],
  ])
})

test('insert is called with the whole item', async () => {
  const { access, calls } = opened()
  await access.insert({ id: 1, part: 'p' })
  expect(calls).toEqual([['insert', { item: { ...item, title: null } }]])
})

test('an item that is requested with a condition must meet it', async () => {
  const { client } = opened()
  expect((await client.get('/app/things/1?title=a')).status).toBe(200)
  expect((await client.get('/app/things/1?title=b')).status).toBe(404)
})

test('conditions that contradict each other find nothing, without a call', async () => {
  const calls: unknown[] = []
  const things = defineCollection(
    { key: 'id', fields },
    {
      rows: () => ({ title: 'a' }),
      serve: {
        filter: ({ conditions }) => {
          calls.push(conditions)
          return [item]
        },
      },
    },
  )
  const { client } = openStage({ things })
  const empty = { items: [], message: null, validations: [], status: 200 }
  expect((await client.get('/app/things?title=b')).body).toEqual({ ...empty, count: null })
  expect((await client.get('/app/things?title=b&$count=true')).body).toEqual({ ...empty, count: 0 })
  expect(calls).toEqual([])
  expect((await client.get('/app/things?size=&$count=true')).body).toMatchObject({ count: 1 })
  expect(calls).toEqual([{ size: null, title: 'a' }])
})

const otherRows = "an item that is not among the caller's rows, or that has another key"

test.each([
  ['get', 'another key', { id: 2 }, 'an item with another key'],
  [
    'get',
    'no part',
    { part: undefined },
    'an item without part; it must be null if there is no value',
  ],
  ['insert', 'another key', { id: 2 }, otherRows],
  [
    'insert',
    'no part',
    { part: undefined },
    'an item without part; it must be null if there is no value',
  ],
  ['update', 'another key', { id: 2 }, otherRows],
  [
    'update',
    'no part',
    { part: undefined },
    'an item without part; it must be null if there is no value',
  ],
] as const)('an item of %s with %s is reported', async (name, _, change, what) => {
  const get = (): unknown => ({ ...item, ...(name === 'get' && change) })
  const changed = (): unknown => ({ ...item, ...change })
  const serve = { get, insert: changed, update: changed } as Served
  const { client, reports } = openStage({
    things: defineCollection({ key: 'id', fields }, { serve }),
  })
  if (name === 'get') await client.get('/app/things/1')
  else await client.post(name === 'insert' ? '/app/things' : '/app/things/1', item)
  const error = new TypeError(`The function ${name} of app/things returned ${what}.`)
  expect(reports).toMatchObject([{ type: 'handler-failed', name: `serve.${name}`, error }])
})

test('a result of delete that is neither true nor false is reported', async () => {
  const serve = { get: () => item, delete: () => 1 } as unknown as Served
  const { client, reports } = openStage({
    things: defineCollection({ key: 'id', fields }, { serve }),
  })
  await client.delete('/app/things/1')
  const error = new TypeError('The function delete of app/things returned neither true nor false.')
  expect(reports).toMatchObject([{ error }])
})

test('an item that is gone when it is written again is not found', async () => {
  const { access } = opened('id', ['get', 'insert', 'update', 'delete'])
  expect(await access.delete(1)).toMatchObject({ rejected: false, item })
  const gone = defineCollection(
    { key: 'id', fields },
    { serve: { filter: () => [], update: () => item, delete: () => true } },
  )
  const { service } = openStage({ gone })
  const own = service.as(system).collection('app', 'gone')
  expect(await own.update(1, {})).toBeUndefined()
  expect(await own.delete(1)).toBeUndefined()
})

test('a function that is missing fails the event in process', async () => {
  const { access } = opened('id', ['filter'])
  await expect(access.insert({ id: 1 })).rejects.toThrow(
    new TypeError('app/things has no function insert.'),
  )
})

test('several items cannot be saved together, because none of them could be undone', async () => {
  const { access, calls } = opened()
  await expect(access.insertMany([item])).rejects.toThrow(
    new TypeError(
      "Insert of several items of app/things: functions serve the collection, so its saves can't be part of one transaction; save one item at a time",
    ),
  )
  await expect(access.updateMany({}, { title: 'b' })).rejects.toThrow(TypeError)
  await expect(access.deleteMany({})).rejects.toThrow(TypeError)
  expect(calls).toEqual([])
})

test('a number that the function supplies need not be the given one', async () => {
  const numbered = { ...fields, id: integer({ generated: 'database' }) }
  const serve = { get: () => item, insert: () => ({ ...item, id: 7 }) }
  const things = defineCollection({ key: 'id', fields: numbered }, { serve })
  const { service } = openStage({ things })
  const own = service.as(system).collection('app', 'things')
  expect(await own.insert({})).toMatchObject({ item: { id: 7 } })
  await expect(own.insert({ id: 8 })).rejects.toThrow('internal error')
})
