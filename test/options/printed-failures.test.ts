import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTestClient } from '../../src/entries/testing.ts'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  principal,
  text,
  type Observation,
  type Report,
} from '../../src/entries/index.ts'

let printed: string[] = []

beforeEach(() => {
  printed = []
  vi.spyOn(console, 'error').mockImplementation((...words: unknown[]) => {
    printed.push(words.map(String).join(' '))
  })
})

afterEach(() => {
  vi.restoreAllMocks()
})

const secret = 'sk_live_1234567890'

const notes = defineCollection(
  {
    key: 'noteId',
    fields: { noteId: integer(), title: text() },
    eventRoles: { Delete: ['Chief'] },
  },
  {
    events: {
      Insert: {
        before: () => {
          const cause = Object.assign(new Error('no route'), { request: { key: secret } })
          throw new Error('The mailer is down.', { cause })
        },
      },
    },
  },
)
const tasks = defineCollection({
  key: 'taskId',
  fields: { taskId: integer(), owner: text() },
  rows: { equal: { owner: { attribute: 'team' } } },
})

/** A service whose storage fails for each read of notes. */
function open(options: { readonly report?: Report | false } = {}) {
  const storage = memoryStorage()
  return createTestClient(
    createService({
      applications: { desk: { collections: { notes, tasks } } },
      storage: {
        ...storage,
        filter: async (collection, query) => {
          if (collection.name === 'notes') throw new Error('The disk is gone.')
          return storage.filter(collection, query)
        },
      },
      security: { name: 'Maria', anyone: principal('maria', { roles: ['Sales'] }) },
      ...options,
    }),
  )
}

test('a failure of a handler is printed with its place and stack, and nothing else of it', async () => {
  const reply = await open().post('/desk/notes', { noteId: 1 })
  expect(reply.status).toBe(500)
  expect(printed).toHaveLength(1)
  expect(printed[0]).toMatch(
    /^rowgate: before failed at desk\/notes, Insert\.\nError: The mailer is down\.\n +at /,
  )
  expect(printed[0]).toContain('printed-failures.test.ts')
  expect(printed[0]).toContain('Caused by: Error: no route')
  expect(printed[0]).not.toContain(secret)
})

test('a failure of storage is printed with its place and stack', async () => {
  expect((await open().get('/desk/notes')).status).toBe(500)
  expect(printed).toHaveLength(1)
  expect(printed[0]).toMatch(
    /^rowgate: A request failed at desk\/notes, Filter\.\nError: The disk is gone\.\n +at /,
  )
})

test('requests that succeed or are rejected print nothing', async () => {
  const client = open()
  for (const path of ['/desk/tasks', '/desk/tasks/1', '/desk/none', '/desk/notes?x=1']) {
    await client.get(path)
  }
  await client.delete('/desk/notes/1')
  expect(printed).toEqual([])
})

test('report: false prints nothing, and a function replaces printing', async () => {
  const reports: Observation[] = []
  for (const report of [false, (one: Observation) => reports.push(one)] as const) {
    expect((await open({ report }).get('/desk/notes')).status).toBe(500)
  }
  expect(printed).toEqual([])
  expect(reports).toMatchObject([{ type: 'request-failed', place: { collection: 'notes' } }])
})

test.each([
  [
    'a role',
    'DELETE /desk/notes/1',
    { collection: 'notes', event: 'Delete' },
    'Delete of desk/notes needs one of the roles Chief; the caller has Sales',
  ],
  [
    'an attribute',
    'GET /desk/tasks',
    { collection: 'tasks', event: 'Filter' },
    'the row rule of desk/tasks needs the attribute team, which the caller lacks',
  ],
])(
  'a 403 for %s is reported with the missing right, and the response does not name it',
  async (...row) => {
    const [, request, place, reason] = row
    const reports: Observation[] = []
    const client = open({ report: (one) => reports.push(one) })
    const [method, path = ''] = request.split(' ')
    const reply = await (method === 'GET' ? client.get(path) : client.delete(path))
    expect(reply).toMatchObject({
      status: 403,
      body: { message: 'You do not have the right to do this.' },
    })
    expect(reports).toMatchObject([{ type: 'forbidden', place, user: 'maria', reason }])
  },
)
