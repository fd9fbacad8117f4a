import { once } from 'node:events'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
} from '../../src/entries/index.ts'
import { StorageError } from '../../src/entries/storage.ts'
import { serve, type ServedService, type ServeOptions } from '../../src/http/serve.ts'
import { makeCertificate } from '../kit/tls.ts'

const things = defineCollection({ key: 'id', fields: { id: integer() } })

function open(wait: Promise<void> = Promise.resolve()) {
  return createService({
    applications: {
      app: {
        collections: {
          things,
          slow: defineCollection(
            { key: 'id', fields: { id: integer() } },
            { events: { Filter: { before: () => wait } } },
          ),
        },
      },
    },
    storage: memoryStorage(),
    security: openAccess(),
  })
}

async function started(service: ServedService = open(), options: ServeOptions = {}) {
  return serve(service, { port: 0, ...options })
}

test('serves a service at the URL that it returns, below its prefix', async () => {
  const serving = await started(open(), { prefix: '/api' })
  expect(serving.url).toBe(`http://127.0.0.1:${serving.port}/api`)
  const answer = await fetch(`${serving.url}/rest/v1/app/things`)
  expect(await answer.json()).toMatchObject({ items: [], status: 200 })
  expect((await fetch(`http://127.0.0.1:${serving.port}/live`)).status).toBe(404)
  await serving.close()
  await expect(fetch(serving.url)).rejects.toThrow()
})

test('responds to health checks if health is true', async () => {
  const serving = await started(open(), { health: true })
  const ask = async (path: string) => {
    const answer = await fetch(serving.url + path)
    return [answer.status, await answer.text()]
  }
  expect(await ask('/live')).toEqual([200, 'live'])
  expect(await ask('/ready')).toEqual([200, 'ready'])
  await serving.close()
})

test('a served service is not ready while storage cannot be opened', async () => {
  let isOpen = true
  const service: ServedService = {
    ...open(),
    ready: () => (isOpen ? Promise.resolve() : Promise.reject(new Error('gone'))),
  }
  const serving = await started(service, { health: true })
  isOpen = false
  expect((await fetch(`${serving.url}/ready`)).status).toBe(503)
  expect((await fetch(`${serving.url}/live`)).status).toBe(200)
  await serving.close()
})

test('a served service is not ready while storage cannot be read, and after the service is closed', async () => {
  const memory = memoryStorage()
  const limits: number[] = []
  let failure: Error | undefined
  const service = createService({
    applications: { app: { collections: { things } } },
    storage: {
      ...memory,
      filter: (collection, query) => {
        limits.push(query.limit)
        if (failure !== undefined) throw failure
        return memory.filter(collection, query)
      },
    },
    security: openAccess(),
  })
  const serving = await started(service, { health: true })
  const origin = `http://127.0.0.1:${serving.port}`
  const statuses = () =>
    Promise.all(['/live', '/ready'].map(async (path) => (await fetch(origin + path)).status))
  limits.length = 0
  expect(await statuses()).toEqual([200, 200])
  for (const error of [new StorageError('unavailable'), new Error('lost')]) {
    failure = error
    expect(await statuses()).toEqual([200, 503])
    await expect(service.ready()).rejects.toBe(error)
  }
  failure = new StorageError('unfit')
  expect(await statuses()).toEqual([200, 200])
  expect(limits).toEqual([1, 1, 1, 1, 1, 1])
  failure = undefined
  const closed = service.close()
  await expect(service.ready()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await closed
  expect(await statuses()).toEqual([200, 503])
  expect(limits).toHaveLength(6)
  await serving.close()
})

test('a served service is ready without stored collections', async () => {
  const service = createService({
    applications: {},
    storage: memoryStorage(),
    security: openAccess(),
  })
  await expect(service.ready()).resolves.toBeUndefined()
  await service.close()
})

test('close waits for requests in progress, and closes keep-alive connections', async () => {
  let release = (): void => undefined
  const serving = await started(open(new Promise((resolve) => (release = resolve))))
  const socket = connect(serving.port, '127.0.0.1')
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => (received += text))
  socket.write('GET /rest/v1/app/slow HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(socket, 'connect')
  await new Promise((resolve) => setTimeout(resolve, 50))
  const closed = serving.close()
  expect(received).toBe('')
  release()
  await once(socket, 'close')
  expect(received).toMatch(/^HTTP\/1\.1 200 /)
  await closed
})

test('a request that does not end is cut off when the grace is over', async () => {
  const serving = await started(open(), { grace: 50 })
  const socket = connect(serving.port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('POST /rest/v1/app/things HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n')
  await once(socket, 'connect')
  await serving.close()
  expect(socket.destroyed || (await once(socket, 'close'))).toBeTruthy()
})

test('an abort signal stops it, also one that was aborted before', async () => {
  const stop = new AbortController()
  const serving = await started(open(), { signal: stop.signal })
  stop.abort()
  await serving.close()
  await expect(fetch(serving.url)).rejects.toThrow()
  const late = await started(open(), { signal: stop.signal })
  await expect(fetch(late.url)).rejects.toThrow()
})

test('closed resolves after close and after an abort, when the service is closed', async () => {
  for (const how of ['close', 'abort'] as const) {
    const stop = new AbortController()
    const service = open()
    const order: string[] = []
    const watched: ServedService = {
      ...service,
      close: async () => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        order.push('service')
      },
    }
    const serving = await started(watched, { signal: stop.signal })
    const closed = serving.closed.then(() => order.push('closed'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(order).toEqual([])
    if (how === 'abort') stop.abort()
    else void serving.close()
    await closed
    expect(order).toEqual(['service', 'closed'])
    await serving.close()
    expect(order).toHaveLength(2)
  }
})

test('closed and close reject if the service cannot be closed', async () => {
  const service: ServedService = { ...open(), close: () => Promise.reject(new Error('stuck')) }
  const serving = await started(service)
  await expect(serving.close()).rejects.toThrow('stuck')
  await expect(serving.closed).rejects.toThrow('stuck')
})

test.each([0, 300])('connections are served for %i ms more, the time of drain', async (drain) => {
  const serving = await started(open(), { health: true, drain })
  const begun = performance.now()
  const closed = serving.close()
  if (drain > 0) {
    expect((await fetch(`${serving.url}/ready`)).status).toBe(503)
    expect((await fetch(`${serving.url}/rest/v1/app/things`)).status).toBe(200)
  }
  await closed
  expect(performance.now() - begun).toBeGreaterThanOrEqual(drain - 5)
  await expect(fetch(serving.url)).rejects.toThrow()
})

test.each([undefined, 'tls'])(
  'a response that was written before close is sent completely to a slow client (%s)',
  async (tls) => {
    const bytes = new Uint8Array(20_000_000)
    const service: ServedService = {
      ...open(),
      handle: () => ({ status: 200, headers: {}, body: '', bytes }),
    }
    const { private: key, cert } = await makeCertificate()
    const serving = await started(service, tls === undefined ? {} : { tls: { key, cert } })
    const to = { port: serving.port, host: '127.0.0.1', highWaterMark: 1 }
    const socket = tls === undefined ? connect(to) : connectTls({ ...to, ca: cert })
    await once(socket, tls === undefined ? 'connect' : 'secureConnect')
    socket.pause()
    socket.write('GET /rest/v1/app/things HTTP/1.1\r\nHost: x\r\n\r\n')
    await new Promise((resolve) => setTimeout(resolve, 200))
    const closed = serving.close()
    await new Promise((resolve) => setTimeout(resolve, 300))
    let received = 0
    socket.on('data', (chunk: Uint8Array) => (received += chunk.length)).resume()
    await once(socket, 'close')
    expect(received).toBeGreaterThan(bytes.length)
    await closed
  },
)

test('rejects if the port is in use, and closes the service', async () => {
  const first = await started()
  const service = open()
  await expect(started(service, { port: first.port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  const { status } = await service.handle({
    method: 'GET',
    target: '/rest/v1/app/things',
    header: () => undefined,
    secure: true,
    peer: undefined,
    signal: undefined,
    body: async () => new Uint8Array(),
  })
  expect(status).toBe(503)
  await first.close()
})
