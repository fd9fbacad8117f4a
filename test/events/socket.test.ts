import { createServer, request } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  ServiceError,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { toNodeHandler } from '../../src/entries/node.ts'
import { log, loose, tasks, type TaskShape } from './tasks.ts'
import { until } from '../kit/service.ts'
import type { CollectionBehaviour } from '../../src/entries/index.ts'
import { openServer } from '../kit/server.ts'

const ends: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

async function serve(collections: Readonly<Record<string, CollectionDefinition>>): Promise<string> {
  const service = createService({
    applications: { app: { collections } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  const { url, close } = await openServer(createServer(toNodeHandler(service)))
  ends.push(async () => {
    await close()
    await service.close()
  })
  return `${url}/rest/v1/app`
}

function insert(url: string, id: number): Promise<Response> {
  return fetch(`${url}/tasks`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ id, title: 't' }),
  })
}

const behaviour = (before: unknown): CollectionBehaviour<TaskShape> =>
  ({ events: { Insert: { before } } }) as CollectionBehaviour<TaskShape>

test('a handler that invokes many events leaves no warning about listeners', async () => {
  const warnings: Error[] = []
  const notice = (warning: Error) => warnings.push(warning)
  process.on('warning', notice)
  const url = await serve({
    log: loose(log),
    tasks: tasks(
      behaviour(
        async ({
          collection,
          signal,
        }: {
          collection: (name: string) => never
          signal: AbortSignal
        }) => {
          expect(signal.aborted).toBe(false)
          const lines: { insert(item: object): Promise<unknown> } = collection('log')
          for (let id = 0; id < 40; id++) await lines.insert({ id })
        },
      ),
    ),
  })
  expect((await insert(url, 1)).status).toBe(200)
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', notice)
  expect(warnings).toEqual([])
})

test('the signal of a handler is aborted when the client disconnects, and the service continues', async () => {
  const seen: string[] = []
  const url = await serve({
    tasks: tasks(
      behaviour(
        ({ signal, item }: { signal: AbortSignal; item: { id: number } }) =>
          new Promise<void>((resolve) => {
            if (item.id === 2) {
              resolve()
              return
            }
            seen.push('inside')
            signal.addEventListener('abort', () => {
              seen.push('aborted')
              resolve()
            })
          }),
      ),
    ),
  })
  const { hostname, port, pathname } = new URL(`${url}/tasks`)
  const headers = { 'Content-Type': 'application/json' }
  const left = request({ hostname, port, path: pathname, method: 'POST', headers })
  left.on('error', () => seen.push('left'))
  left.end('{"id":1,"title":"t"}')
  await until(() => seen.includes('inside'))
  left.destroy()
  await until(() => seen.includes('aborted'))
  expect((await insert(url, 2)).status).toBe(200)
})

test.each([
  ['a line break', { 'X-Reason': 'a\nb' }],
  ['a letter that no header has', { 'X-Reason': '中' }],
  ['a name that is none', { 'X Reason': 'a' }],
])(
  'an error response of a handler with %s in its headers does not affect other requests',
  async (_what, headers) => {
    const url = await serve({
      tasks: tasks(
        behaviour(({ item }: { item: { id: number } }) => {
          if (item.id === 1) throw new ServiceError('FORBIDDEN', 'no', { headers })
        }),
      ),
    })
    const answer = await insert(url, 1)
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({ validations: [], status: 500 })
    expect((await insert(url, 2)).status).toBe(200)
  },
)

test('a path outside the prefix goes to the next handler, or responds 404', async () => {
  const things = defineCollection({ key: 'id', fields: { id: integer() } })
  const service = createService({
    applications: { app: { collections: { things } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  const handler = toNodeHandler(service, { prefix: '/api' })
  const server = createServer((incoming, response) => {
    if (incoming.headers['x-next'] === undefined) {
      handler(incoming, response)
      return
    }
    handler(incoming, response, () => response.end('next'))
  })
  const { url, close } = await openServer(server)
  ends.push(close)
  const ask = (path: string, headers = {}) => fetch(url + path, { headers })
  expect((await ask('/api/rest/v1/app/things')).status).toBe(200)
  expect((await ask('/rest/v1/app/things')).status).toBe(404)
  expect((await ask('/apirest/v1/app/things')).status).toBe(404)
  expect(await (await ask('/other', { 'x-next': '1' })).text()).toBe('next')
  expect((await ask('/api/rest/v1/app/nope', { 'x-next': '1' })).status).toBe(404)
  for (const prefix of ['api', '/api/', '/']) {
    expect(() => toNodeHandler(service, { prefix })).toThrow(TypeError)
  }
  await service.close()
})
