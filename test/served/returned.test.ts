import { describe, expect, test } from 'vitest'
import {
  defineCollection,
  integer,
  json,
  ServiceError,
  system,
  text,
  type Serve,
} from '../../src/entries/index.ts'
import { StorageError } from '../../src/entries/storage.ts'
import { openStage } from '../kit/stage.ts'

const data = {
  key: 'id',
  fields: { id: integer(), title: text({ required: true }), extra: json(), secret: text() },
} as const

interface Shape {
  readonly fields: (typeof data)['fields']
  readonly key: 'id'
}

const item = { id: 1, title: 'a', extra: null, secret: null }
const insert = { id: 1, title: 'a' }

const internal = {
  message: 'The request could not be served because of an internal error.',
  validations: [],
  status: 500,
}

/** Opens a service whose functions may return anything. */
function opened(serve: Readonly<Record<string, unknown>>) {
  const things = defineCollection(data, { serve: serve })
  return openStage({ things })
}

describe('a result of filter that is not valid responds 500 and is reported', () => {
  test.each<[string, string, unknown, string?]>([
    ['no list', 'neither a list of items nor { page }', undefined],
    ['null', 'neither a list of items nor { page }', null],
    ['a page that is not a list', 'neither a list of items nor { page }', { page: {} }],
    ['an item that is not an object', 'an item that is not an object', [1]],
    ['an item that is a list', 'an item that is not an object', [[]]],
    ['a hole in a list', 'an item that is not an object', new Array(1)],
    ['a hole in a page', 'an item that is not an object', { page: new Array(1), count: 1 }],
    ['a count that is a bigint', 'a page without its count', { page: [item], count: 1n }],
    ['a count that is a string', 'a page without its count', { page: [item], count: '1' }],
    ['an item without a field', 'an item without secret', [{ id: 1, title: 'a', extra: null }]],
    ['a key without value', 'an item whose id is not valid', [{ ...item, id: null }]],
    ['a number of another type', 'an item whose id is not valid', [{ ...item, id: 1.5 }]],
    ['a string of another type', 'an item whose title is not valid', [{ ...item, title: 1 }]],
    ['a lone surrogate', 'an item whose title is not valid', [{ ...item, title: '\ud800' }]],
    ['json that is not JSON', 'an item whose extra is not valid', [{ ...item, extra: new Date() }]],
    ['more items than requested', '2 items for a limit of 1', { page: [item, { ...item, id: 2 }] }],
    ['a page without its count', 'a page without its count', { page: [item] }],
    ['a page with a negative count', 'a page without its count', { page: [item], count: -1 }],
    [
      'an item that does not meet the conditions',
      'does not match the conditions or the search',
      { page: [{ ...item, title: 'b' }], count: 1 },
      'title=a',
    ],
    [
      'an item that does not contain what is searched',
      'does not match the conditions or the search',
      { page: [{ ...item, title: 'b' }], count: 1 },
      '$q=a',
    ],
  ])('%s', async (_, problem, returned, query = '') => {
    const { client, reports } = opened({ filter: () => returned })
    const reply = await client.get(`/app/things?$limit=1&$count=true&${query}`)
    expect([reply.status, reply.body]).toEqual([500, internal])
    expect(reports).toMatchObject([
      {
        type: 'handler-failed',
        name: 'serve.filter',
        place: { application: 'app', collection: 'things', event: 'Filter' },
      },
    ])
    expect(String((reports[0] as { error: unknown }).error)).toContain(problem)
    expect(String((reports[0] as { error: unknown }).error)).toContain('filter of app/things')
  })
})

describe('promises in place of values respond 500, and their rejections are handled', () => {
  const rejected = () => Promise.reject(new Error('a promise that nothing awaits'))
  test.each<[string, string, () => unknown]>([
    ['items', 'a promise in place of an item', () => [rejected(), rejected()]],
    ['a page', 'neither a list of items nor { page }', () => ({ page: rejected(), count: 1 })],
    ['a value', 'an item whose title is not valid', () => [{ ...item, title: rejected() }]],
    ['a count', 'a page without its count', () => ({ page: [item], count: rejected() })],
  ])('%s', async (_, problem, filter) => {
    const { client, reports } = opened({ filter })
    const reply = await client.get('/app/things?$limit=1&$count=true')
    expect([reply.status, reply.body]).toEqual([500, internal])
    expect(String((reports[0] as { error: unknown }).error)).toContain(problem)
  })
})

test('the items of a class of lists are taken, and its methods are not called', async () => {
  class Things extends Array<unknown> {
    override map(): never {
      throw new Error('not called')
    }
  }
  const { client } = opened({ filter: () => ({ page: Things.of(item), count: -0 }) })
  const { body } = await client.get('/app/things?$count=true')
  expect([body.items, body.count]).toEqual([[item], 0])
})

describe('a result of a function for one item that is not valid responds 500 and is reported', () => {
  const get = () => item
  const of = (name: string, returned: unknown) => ({ get, [name]: () => returned })
  test.each<[string, string, Readonly<Record<string, unknown>>, string, string, unknown?]>([
    ['another key', 'another key', of('get', { ...item, id: 2 }), 'GET', '/1'],
    ['null instead of undefined', 'not an object', of('get', null), 'GET', '/1'],
    ['two items', 'two items with the same key', { filter: () => [item, item] }, 'GET', '/1'],
    ['no inserted item', 'not an object', of('insert', undefined), 'POST', '', insert],
    ['another key', 'another key', of('insert', { ...item, id: 2 }), 'POST', '', insert],
    ['a field less', 'without extra', of('insert', insert), 'POST', '', insert],
    ['another key', 'another key', of('update', { ...item, id: 2 }), 'POST', '/1', { title: 'b' }],
    ['a wrong value', 'title is not', of('update', { ...item, title: 1 }), 'POST', '/1', {}],
    ['neither true nor false', 'neither true nor', of('delete', undefined), 'DELETE', '/1'],
  ])('%s: %s', async (_, problem, serve, ...[method, path, body]) => {
    const { client, reports } = opened(serve)
    const target = `/app/things${path}`
    const reply =
      method === 'GET'
        ? await client.get(target)
        : method === 'POST'
          ? await client.post(target, body)
          : await client.delete(target)
    expect([reply.status, reply.body]).toEqual([500, internal])
    expect(reports).toMatchObject([{ type: 'handler-failed' }])
    expect(String((reports[0] as { error: unknown }).error)).toContain(problem)
  })
})

test('values are converted to their canonical form, and surplus fields are ignored', async () => {
  const { client } = opened({
    filter: () => [{ ...item, extra: { b: [1] }, secret: '', surplus: 'x' }],
  })
  const { body } = await client.get('/app/things')
  expect(body.items).toEqual([{ id: 1, title: 'a', extra: { b: [1] }, secret: '' }])
})

test('fields that are not requested are not checked, and not sent', async () => {
  const calls: unknown[] = []
  const { client } = opened({
    filter: ({ fields }: { readonly fields: readonly string[] }) => {
      calls.push(fields)
      return [{ id: 1, title: 'a', secret: 1 }]
    },
  })
  const { body } = await client.get('/app/things?$fields=title&$sort=-title')
  expect(body.items).toEqual([{ title: 'a' }])
  expect(calls).toEqual([['id', 'title']])
})

describe('what a function throws', () => {
  const thrown = (error: unknown) => () => {
    throw error
  }
  const rejecting = (error: unknown) => () => Promise.reject(error)

  test.each([thrown, rejecting])('is reported and responds 500', async (fail) => {
    const error = new Error('secret')
    const { client, reports } = opened({ filter: fail(error), insert: fail(error) })
    for (const reply of [await client.get('/app/things'), await client.post('/app/things', insert)])
      expect([reply.status, reply.body]).toEqual([500, internal])
    expect(reports).toMatchObject([
      { type: 'handler-failed', name: 'serve.filter', error },
      { type: 'handler-failed', name: 'serve.insert', error },
    ])
  })

  test('as a duplicate is a failed save of its fields', async () => {
    const error = new StorageError('duplicate', { fields: ['title'] })
    const { client, reports } = opened({ insert: rejecting(error) })
    const { status, body } = await client.post('/app/things', insert)
    expect(status).toBe(400)
    expect(body).toEqual({
      item: insert,
      message: 'The changes could not be saved.',
      validations: [
        {
          message: 'Another item of things has this title.',
          severity: 'error',
          field: 'title',
        },
      ],
      status: 200,
    })
    expect(reports).toEqual([])
  })

  test('as invalid is a failed save', async () => {
    const { client, reports } = opened({
      get: () => item,
      update: rejecting(new StorageError('invalid', { fields: ['title'] })),
    })
    const { status, body } = await client.post('/app/things/1', { title: 'b' })
    expect([status, body.validations]).toMatchObject([400, [{ field: 'title' }]])
    expect(reports).toEqual([])
  })

  test('as referenced responds 409 to a Delete', async () => {
    const { client } = opened({
      get: () => item,
      delete: rejecting(new StorageError('referenced')),
    })
    expect((await client.delete('/app/things/1')).status).toBe(409)
  })

  test('as forbidden responds 403', async () => {
    const { client, reports } = opened({ filter: thrown(new StorageError('forbidden')) })
    expect((await client.get('/app/things')).status).toBe(403)
    expect(reports).toMatchObject([
      { type: 'storage-forbidden', place: { collection: 'things', event: 'Filter' } },
    ])
  })

  test('as unavailable responds 503 with the time to wait', async () => {
    const { client, reports } = opened({
      filter: thrown(new StorageError('unavailable', { retryAfter: 30 })),
      insert: thrown(new StorageError('unavailable')),
    })
    const read = await client.get('/app/things')
    expect([read.status, read.headers.get('Retry-After')]).toEqual([503, '30'])
    const written = await client.post('/app/things', insert)
    expect([written.status, written.headers.get('Retry-After')]).toEqual([503, '1'])
    expect(reports).toMatchObject([
      { type: 'storage-unavailable', place: { collection: 'things', event: 'Filter' } },
      { type: 'storage-unavailable', place: { collection: 'things', event: 'Insert' } },
    ])
  })

  test('as a ServiceError is the response', async () => {
    const message = 'The parameter title is needed.'
    const { client, reports } = opened({
      filter: thrown(new ServiceError('MALFORMED_QUERY', message)),
    })
    const { status, body } = await client.get('/app/things')
    expect([status, body.message]).toEqual([400, message])
    expect(reports).toEqual([])
  })

  test.each(['1', -1, 0.5, Infinity])('with the waiting time %j is a TypeError', (retryAfter) => {
    expect(() => new StorageError('unavailable', { retryAfter: retryAfter as number })).toThrow(
      'retryAfter must be a whole number of seconds',
    )
  })
})

test('undefined is an item that does not exist', async () => {
  const { client } = opened({
    get: ({ key }: { readonly key: number }) => (key === 1 ? item : undefined),
    update: () => undefined,
    delete: () => false,
  })
  expect((await client.get('/app/things/2')).status).toBe(404)
  expect((await client.post('/app/things/2', { title: 'b' })).status).toBe(404)
  expect((await client.post('/app/things/1', { title: 'b' })).status).toBe(404)
  expect((await client.delete('/app/things/1')).status).toBe(404)
  expect((await client.delete('/app/things/2')).status).toBe(404)
})

test('a function can reject a write with its own message, and add information', async () => {
  type Context = Parameters<NonNullable<Serve<Shape>['update']>>[0]
  const { client, service } = opened({
    get: () => item,
    insert: ({ information }: Context) => {
      information('Number 1 was free.', 'id')
      return item
    },
    update: async ({ reject }: Context) => {
      await Promise.resolve()
      reject('The other system is read-only today.', 'title')
    },
    delete: ({ reject }: Context) => reject('Nothing is deleted.'),
  })
  const inserted = await client.post('/app/things', insert)
  expect([inserted.status, inserted.body.validations]).toEqual([
    200,
    [{ message: 'Number 1 was free.', severity: 'information', field: 'id' }],
  ])
  const updated = await client.post('/app/things/1', { title: 'b' })
  expect([updated.status, updated.body]).toEqual([
    400,
    {
      item: { title: 'b' },
      message: 'The changes could not be saved.',
      validations: [
        { message: 'The other system is read-only today.', severity: 'error', field: 'title' },
      ],
      status: 200,
    },
  ])
  const deleted = await client.delete('/app/things/1')
  expect([deleted.status, deleted.body.validations]).toEqual([
    400,
    [{ message: 'Nothing is deleted.', severity: 'error' }],
  ])
  expect(
    await service.as(system).collection('app', 'things').update(1, { title: 'b' }),
  ).toMatchObject({ rejected: true })
})

describe('a function that does not settle', () => {
  const forever = () => new Promise<never>(() => undefined)

  test('responds 500 after handlerTimeout, and its signal is aborted', async () => {
    let signal: AbortSignal | undefined
    const things = defineCollection(data, {
      serve: {
        filter: (call) => {
          signal = call.signal
          return forever()
        },
      },
    })
    const { client, reports } = openStage({ things }, { handlerTimeout: 50 })
    expect((await client.get('/app/things')).status).toBe(500)
    expect(signal?.aborted).toBe(true)
    expect(reports).toMatchObject([
      { type: 'handler-timed-out', name: 'serve.filter', milliseconds: 50 },
    ])
  })

  test('responds 500 after its own timeout', async () => {
    const { client, reports } = opened({ insert: forever, timeout: 30 })
    expect((await client.post('/app/things', insert)).status).toBe(500)
    expect(reports).toMatchObject([{ type: 'handler-timed-out', milliseconds: 30 }])
  })

  test('may take longer than handlerTimeout if its own is longer', async () => {
    const things = defineCollection(data, {
      serve: {
        timeout: 5000,
        filter: async () => {
          await new Promise((resolve) => setTimeout(resolve, 60))
          return [item]
        },
      },
    })
    const { client } = openStage({ things }, { handlerTimeout: 20 })
    expect((await client.get('/app/things')).status).toBe(200)
  })
})
