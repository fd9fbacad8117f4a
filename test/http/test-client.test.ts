import { describe, expect, test } from 'vitest'
import { createTestClient } from '../../src/entries/testing.ts'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  text,
  warning,
} from '../../src/entries/index.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { openDesk } from './desk.ts'
import { echoConnection } from '../kit/client-and-tls.ts'

const notes = '/desk/notes'

function client(options?: Parameters<typeof openDesk>[0]) {
  return createTestClient(openDesk(options).service)
}

test('saves, finds and deletes', async () => {
  const { get, post, delete: remove } = client()
  const inserted = await post(notes, { noteId: 1, words: 'a & b' })
  expect(inserted.status).toBe(200)
  expect(inserted.body.item?.['words']).toBe('a & b')
  await post(`${notes}/1`, { words: 'ü' })
  const { body } = await get(`${notes}/1`)
  expect(body).toEqual({
    item: { noteId: 1, words: 'ü' },
    message: null,
    validations: [],
    status: 200,
  })
  expect((await remove(`${notes}/1`)).status).toBe(200)
  expect((await get(notes)).body.items).toEqual([])
})

test('the test client writes queries', async () => {
  const { get, post } = client()
  await post(notes, { noteId: 1, words: 'a & b' })
  await post(notes, { noteId: 2, words: 'c+d=%' })
  const wordsOf = async (query: Parameters<typeof get>[1]) =>
    (await get(notes, query)).body.items?.map(({ words }) => words)
  expect(await wordsOf({ query: { words: 'a & b' } })).toEqual(['a & b'])
  expect(await wordsOf({ query: { words: 'c+d=%' } })).toEqual(['c+d=%'])
  expect(await wordsOf({ query: { $limit: 1, $sort: '-noteId', $count: true } })).toHaveLength(1)
  expect(await wordsOf({ query: 'words=a%20%26+b' })).toEqual(['a & b'])
  expect(await wordsOf({ query: '' })).toHaveLength(2)
  expect(await wordsOf({ query: {} })).toHaveLength(2)
})

test('the test client sends paths as they are written', async () => {
  const { get } = client()
  const statusOf = async (path: string) => (await get(path)).status
  expect(await statusOf('/desk/../desk/notes')).toBe(404)
  expect(await statusOf('/desk/note%73')).toBe(200)
  expect(await statusOf('/desk/%zz')).toBe(400)
  expect(await statusOf('/')).toBe(404)
  await expect(get('desk/notes')).rejects.toThrow(
    'The path must start with a slash, such as /sales/customers: desk/notes',
  )
})

test('sends text and bytes as they are', async () => {
  const { post } = client({ bodyLimit: 30 })
  expect((await post(notes, '{"noteId":1}')).status).toBe(200)
  expect((await post(notes, new TextEncoder().encode('{"noteId":2}'))).status).toBe(200)
  expect((await post(notes, '{"noteId":')).status).toBe(400)
  expect((await post(notes, undefined)).status).toBe(400)
  expect((await post(notes, `{"noteId":3}${' '.repeat(30)}`)).status).toBe(413)
  const headers = { 'content-type': 'text/plain' }
  const rejected = await post(notes, '{"noteId":3}', { headers })
  expect(rejected.status).toBe(415)
  expect(rejected.headers.get('Accept')).toBe('application/json')
})

test.each([NaN, Infinity, new Date(NaN)])(
  'a body with %o rejects, which JSON would have as null',
  async (value) => {
    const { get, post } = client()
    await expect(post(notes, { noteId: 1, words: value })).rejects.toThrow(
      'The body has, at /words, a number that is not finite or an invalid date',
    )
    expect((await get(notes)).body.items).toEqual([])
  },
)

test('a body that hides its length is limited all the same', async () => {
  const { post } = client({ bodyLimit: 30 })
  const headers = { 'Content-Length': '1' }
  expect((await post(notes, ' '.repeat(31), { headers })).status).toBe(413)
})

describe('credentials', () => {
  const keyed = async () => {
    const service = createService({
      applications: {
        desk: {
          collections: {
            notes: defineCollection(
              { key: 'noteId', fields: { noteId: integer(), words: text() } },
              { validations: [warning('silence', { check: ({ words }) => words ?? 'Silent.' })] },
            ),
          },
        },
      },
      storage: memoryStorage(),
      security: apiKeys({ name: 'keys' }),
    })
    await service.users.add({ user: 'maria' })
    return { service, key: (await service.keys.create({ user: 'maria' })).key }
  }

  test('are a key of the client or of the request', async () => {
    const { service, key } = await keyed()
    const [stranger, maria] = [createTestClient(service), createTestClient(service, { key })]
    expect((await stranger.get(notes)).status).toBe(401)
    expect((await stranger.get(notes, { key })).status).toBe(200)
    expect((await maria.get(notes)).status).toBe(200)
    expect((await maria.get(notes, { key: 'x' })).status).toBe(401)
    expect((await maria.get(notes, { headers: { 'x-api-key': 'x' } })).status).toBe(401)
  })

  test('over plain HTTP are rejected', async () => {
    const { service, key } = await keyed()
    const { status } = await createTestClient(service, { key, secure: false }).get(notes)
    expect(status).toBe(403)
  })

  test('are sent with other headers', async () => {
    const { service, key } = await keyed()
    const { post } = createTestClient(service, { key, headers: { Accept: 'text/html' } })
    const headers = { accept: 'application/json' }
    expect((await post(notes, { noteId: 1 })).status).toBe(406)
    const held = await post(notes, { noteId: 1 }, { headers })
    expect(held.body.message).toBe('The changes need confirmation.')
    const confirmed = `"${held.body.validations[0]?.validationId ?? ''}"`
    const saved = await post(
      notes,
      { noteId: 1 },
      { headers: { ...headers, 'X-Svc-Ignore-Warnings': confirmed } },
    )
    expect(saved.status).toBe(200)
  })
})

test('passes secure and peer to the service', async () => {
  const wayOf = async (options?: Parameters<typeof createTestClient>[1]) =>
    (await createTestClient(echoConnection, options).get('/')).body
  expect(await wayOf()).toEqual({ secure: true })
  expect(await wayOf({ secure: false, peer: '203.0.113.7' })).toEqual({
    secure: false,
    peer: '203.0.113.7',
  })
})

test('a 304 has an envelope with its status', async () => {
  const things = defineCollection({
    key: 'id',
    fields: { id: integer() },
    concurrency: { ifMatch: 'optional' },
  })
  const service = createService({
    applications: { app: { collections: { things } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  const { get, post } = createTestClient(service)
  const tag = (await post('/app/things', { id: 1 })).headers.get('etag') ?? ''
  const { status, body } = await get('/app/things/1', { headers: { 'If-None-Match': tag } })
  expect([status, body]).toEqual([304, { message: null, validations: [], status: 304 }])
})
