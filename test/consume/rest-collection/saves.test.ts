import { beforeEach, expect, test } from 'vitest'
import { restCollection, type RestCollectionOptions } from '../../../src/entries/consume.ts'
import { defineCollection } from '../../../src/entries/index.ts'
import { valueAt } from '../../../src/consume/json-path.ts'
import { openStage } from '../../kit/stage.ts'
import { respond } from '../server.ts'
import { data, endpointsOf, startTracker, type Tracker } from './tracker.ts'

let tracker: Tracker
beforeEach(async () => {
  tracker = await startTracker([
    { number: 1, title: 'Leak', state: 'open', rank: 2, author: { login: 'ada' } },
  ])
})

function open(changes: Partial<RestCollectionOptions<typeof data>> = {}) {
  const { get, insert, update, delete: remove } = endpointsOf(tracker)
  const serve = restCollection(data, {
    fields: { author: 'author/login' },
    get: { endpoint: get },
    insert: { endpoint: insert },
    update: { endpoint: update },
    delete: { endpoint: remove },
    ...changes,
  })
  return openStage({ issues: defineCollection(data, { serve }) })
}

test('an item is read, inserted, updated and deleted at its endpoints', async () => {
  const { client, reports } = open()
  const read = await client.get('/app/issues/1')
  const leak = { number: 1, title: 'Leak', state: 'open', rank: 2, author: 'ada' }
  expect(read.body.item).toEqual(leak)
  const inserted = await client.post('/app/issues', { title: 'Noise', author: 'bo' })
  expect(inserted.body.item).toEqual({
    number: 2,
    title: 'Noise',
    state: 'open',
    rank: null,
    author: 'bo',
  })
  expect(tracker.issues.get(2)).toMatchObject({ author: { login: 'bo' } })
  const updated = await client.post('/app/issues/1', { rank: null, state: 'done' })
  expect(updated.body.item).toEqual({ ...leak, rank: null, state: 'done' })
  expect((await client.delete('/app/issues/1')).status).toBe(200)
  expect((await client.get('/app/issues/1')).status).toBe(404)
  expect((await client.delete('/app/issues/1')).status).toBe(404)
  expect((await client.post('/app/issues/1', { rank: 1 })).status).toBe(404)
  expect(reports).toEqual([])
})

test('an Update sends the changed fields, and with PUT all fields but the key', async () => {
  const bodies: string[] = []
  tracker.instead = (request, response) => {
    if (request.method === 'GET') return false
    request.on('data', (chunk) => bodies.push(String(chunk)))
    request.on('end', () => {
      respond(response, null)
    })
    return true
  }
  await open().client.post('/app/issues/1', { rank: 3, title: 'Leak' })
  const put = { ...endpointsOf(tracker).update, method: 'PUT' } as const
  await open({ update: { endpoint: put } }).client.post('/app/issues/1', { rank: 3 })
  expect(bodies.map((body) => JSON.parse(body) as unknown)).toEqual([
    { rank: 3 },
    { title: 'Leak', state: 'open', rank: 3, author: { login: 'ada' } },
  ])
})

test('an item that the response does not contain is read again', async () => {
  tracker.instead = (request, response) => {
    if (request.method !== 'PATCH') return false
    response.writeHead(204).end()
    return true
  }
  const { client } = open()
  const { body } = await client.post('/app/issues/1', { title: 'x' })
  expect(body.item).toMatchObject({ title: 'Leak' })
})

test('functions convert values and bodies', async () => {
  const { insert } = endpointsOf(tracker)
  const { client } = open({
    fields: {
      author: {
        path: 'author/login',
        read: (value) => String(value ?? 'nobody').toUpperCase(),
        write: (value) => String(value).toLowerCase(),
      },
    },
    insert: {
      endpoint: insert,
      body: ({ item }) => ({ title: `[web] ${item.title}`, rank: item.rank }),
    },
  })
  const { body } = await client.post('/app/issues', { title: 'Noise', rank: 4 })
  expect(body.item).toMatchObject({ title: '[web] Noise', rank: 4, author: 'NOBODY' })
  await client.post('/app/issues/1', { author: 'BO' })
  expect(tracker.issues.get(1)).toMatchObject({ author: { login: 'bo' } })
})

test.each([
  ['insert', 409, 400, 'Another item of issues has this unique value.'],
  ['insert', 422, 400, 'A value is not accepted by the database.'],
  ['insert', 400, 400, 'A value is not accepted by the database.'],
  ['update', 409, 400, 'Another item of issues has this unique value.'],
  ['update', 404, 404, undefined],
  ['delete', 409, 409, undefined],
  ['delete', 422, 400, 'The other service did not accept the deletion.'],
  ['delete', 410, 404, undefined],
] as const)('%s: the status %i becomes %i', async (event, status, expected, message) => {
  tracker.instead = (request, response) => {
    if (request.method === 'GET') return false
    respond(response, { error: 's3cret' }, status)
    return true
  }
  const { client, reports } = open()
  const reply =
    event === 'insert'
      ? await client.post('/app/issues', { title: 'x' })
      : event === 'update'
        ? await client.post('/app/issues/1', { title: 'x' })
        : await client.delete('/app/issues/1')
  expect(reply.status).toBe(expected)
  expect(reply.body.validations[0]?.message).toBe(message)
  expect(JSON.stringify(reply.body)).not.toContain('s3cret')
  expect(reports).toEqual([])
})

test('a mapping names the fields of a rejected save, or its message', async () => {
  tracker.instead = (request, response) => {
    if (request.method === 'GET') return false
    respond(response, { reason: request.method === 'POST' ? 'title' : 'The issue is locked.' }, 422)
    return true
  }
  const { insert, update } = endpointsOf(tracker)
  const { client } = open({
    insert: { endpoint: insert, rejection: () => ({ kind: 'duplicate', fields: ['title'] }) },
    update: {
      endpoint: update,
      rejection: ({ body }) => ({ message: String(valueAt(body, 'reason')), field: 'state' }),
    },
  })
  const inserted = await client.post('/app/issues', { title: 'x' })
  expect(inserted.body.validations).toEqual([
    { message: 'Another item of issues has this title.', severity: 'error', field: 'title' },
  ])
  const updated = await client.post('/app/issues/1', { title: 'x' })
  expect(updated.body.validations).toEqual([
    { message: 'The issue is locked.', severity: 'error', field: 'state' },
  ])
})

test('members of every input come from a function of the context', async () => {
  const tenants: unknown[] = []
  const { client } = open({
    input: ({ principal }) => {
      tenants.push(principal.user)
      return {}
    },
  })
  await client.get('/app/issues/1', { headers: { 'x-user': 'ada' } })
  expect(tenants).toEqual(['ada'])
})
