import { expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  principal,
  text,
  type Observation,
} from '../../src/entries/index.ts'
import { createOutbox } from '../../src/entries/consume.ts'
import { apiKeys } from '../../src/entries/security.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { until } from '../kit/service.ts'

const countries = defineCollection({ key: 'code', fields: { code: text(), open: text() } })

function openCountries() {
  const observed: Observation[] = []
  const service = createService({
    applications: { shop: { collections: { countries } } },
    storage: memoryStorage(),
    security: openAccess(),
    report: (observation) => observed.push(observation),
  })
  const own = service.as(principal('maria')).collection('shop', 'countries')
  return { service, observed, countries: own }
}

test('events in process wait for storage that is still being opened', async () => {
  const memory = memoryStorage()
  const service = createService({
    applications: { shop: { collections: { countries } } },
    storage: {
      ...memory,
      open: async (collections) => {
        await new Promise((resolve) => setTimeout(resolve, 20))
        await memory.open(collections)
      },
    },
    security: openAccess(),
  })
  const own = service.as(principal('x')).collection('shop', 'countries')
  expect(await own.insert({ code: 'de' })).toMatchObject({ rejected: false })
  expect(await own.get('de')).toMatchObject({ code: 'de' })
})

test('after close in-process events are rejected, and closing twice is closing once', async () => {
  const { countries: lands, service, observed } = openCountries()
  await Promise.all([service.close(), service.close()])
  await expect(lands.filter()).rejects.toThrow()
  await expect(lands.insert({ code: 'x' })).rejects.toThrow()
  expect(observed).toEqual([])
})

test('close waits for a request in progress, and later requests get 503', async () => {
  let inside = false
  const slow = defineCollection(
    { key: 'id', fields: { id: integer() } },
    {
      events: {
        Insert: {
          before: async () => {
            inside = true
            await new Promise((resolve) => setTimeout(resolve, 50))
          },
        },
      },
    },
  )
  const service = createService({
    applications: { shop: { collections: { slow } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  const ask = () =>
    service.handle({
      method: 'POST',
      target: '/rest/v1/shop/slow',
      header: (name) => (name === 'content-type' ? 'application/json' : undefined),
      secure: false,
      peer: undefined,
      signal: undefined,
      body: async () => new TextEncoder().encode('{"id":1}'),
    })
  const first = ask()
  await until(() => inside)
  const closed = service.close()
  const rejected = await ask()
  expect(rejected.status).toBe(503)
  expect(rejected.headers['Retry-After']).toMatch(/^\d+$/)
  expect(JSON.parse(rejected.body)).toMatchObject({ validations: [], status: 503 })
  expect((await first).status).toBe(200)
  await closed
})

test('close waits for an in-process event', async () => {
  let proceed = () => undefined as void
  const gate = new Promise<void>((resolve) => (proceed = resolve))
  const slow = defineCollection(
    { key: 'id', fields: { id: integer() } },
    { events: { Insert: { before: () => gate } } },
  )
  const service = createService({
    applications: { shop: { collections: { slow } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  const inserted = service.as(principal('x')).collection('shop', 'slow').insert({ id: 1 })
  await new Promise((resolve) => setTimeout(resolve, 10))
  const closed = service.close()
  proceed()
  expect(await inserted).toMatchObject({ rejected: false })
  await closed
})

test('close waits for a security provider that hangs no longer than handlerTimeout', async () => {
  const observed: Observation[] = []
  let began = false
  const service = createService({
    applications: { shop: { collections: { countries } } },
    storage: memoryStorage(),
    security: {
      name: 'hanging',
      priority: 0,
      challenge: 'Hanging',
      allowInsecureHttp: true,
      find: () => ({ place: 'the test', value: 'x' }),
      identify: () => {
        began = true
        return new Promise(() => undefined)
      },
    },
    handlerTimeout: 100,
    report: (observation) => observed.push(observation),
  })
  const handler = toFetchHandler(service)
  void handler(new Request('http://localhost/rest/v1/shop/countries'))
  await until(() => began)
  const start = performance.now()
  await service.close()
  expect(performance.now() - start).toBeGreaterThan(95)
  expect(observed).toEqual([])
})

test('a report that throws or rejects has no effect', async () => {
  for (const report of [
    () => {
      throw new Error('no log')
    },
    () => Promise.reject(new Error('no log')) as unknown as void,
  ]) {
    const failing = defineCollection(
      { key: 'id', fields: { id: integer() } },
      { events: { Filter: { before: () => Promise.reject(new Error('x')) } } },
    )
    const service = createService({
      applications: { shop: { collections: { failing } } },
      storage: memoryStorage(),
      security: openAccess(),
      report,
    })
    const own = service.as(principal('x')).collection('shop', 'failing')
    await expect(own.filter()).rejects.toMatchObject({ code: 'INTERNAL' })
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
})

/** A storage whose calls take some milliseconds. It notes those that are made after its end. */
function slowStorage() {
  const memory = memoryStorage()
  const late: string[] = []
  let isClosed = false
  const take = async (call: string): Promise<void> => {
    if (isClosed) late.push(call)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  const storage: StorageAdapter = {
    ...memory,
    open: async (collections) => {
      await take('open')
      await memory.open(collections)
    },
    filter: async (...given) => {
      await take('filter')
      return memory.filter(...given)
    },
    transaction: async (options, work) => {
      await take('transaction')
      return memory.transaction(options, work)
    },
    close: () => {
      isClosed = true
    },
  }
  return { storage, late }
}

test('close waits for calls of keys, users and inspect in progress', async () => {
  const { storage, late } = slowStorage()
  const service = createService({
    applications: { shop: { collections: { countries } } },
    storage,
    security: apiKeys({ name: 'API Key', properties: { AllowInsecureHttp: true } }),
  })
  await service.users.ensure({ user: 'maria' })
  const { keyId } = await service.keys.create({ user: 'maria' })
  const calls = [
    service.keys.create({ user: 'maria' }),
    service.keys.revoke(keyId),
    service.keys.list(),
    service.users.change('maria', { roles: ['Reader'] }),
    service.inspect(),
  ]
  await Promise.all([...calls, service.close()])
  expect(late).toEqual([])
})

test('a service that is closed while it opens, or directly after that, leaves no worker', async () => {
  for (const milliseconds of [0, 1, 2, 3, 4, 5, 6, 8]) {
    const { storage, late } = slowStorage()
    const outbox = createOutbox({ endpoints: { tell: { deliver: () => 0 } }, pollInterval: 5 })
    const service = createService({
      applications: { shop: { collections: { countries } } },
      storage,
      security: openAccess(),
      outbox,
    })
    await new Promise((resolve) => setTimeout(resolve, milliseconds))
    await service.close()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(late).toEqual([])
  }
})

test('calls of keys and users after close are rejected, and open no storage', async () => {
  const memory = memoryStorage()
  let opened = 0
  const service = createService({
    applications: { shop: { collections: { countries } } },
    storage: {
      ...memory,
      open: async () => {
        opened += 1
        throw new Error('There is no network.')
      },
    },
    security: apiKeys({ name: 'API Key' }),
  })
  await expect(service.ready()).rejects.toThrow()
  await service.close()
  const before = opened
  const closed = { code: 'UNAVAILABLE' }
  await expect(service.users.add({ user: 'maria' })).rejects.toMatchObject(closed)
  await expect(service.keys.create({ user: 'maria' })).rejects.toMatchObject(closed)
  await expect(service.keys.list()).rejects.toMatchObject(closed)
  expect(opened).toBe(before)
})

test('a closing service ends although inspections and calls of application code go on', async () => {
  const memory = memoryStorage()
  const service = createService({
    applications: { shop: { collections: { countries } } },
    storage: {
      ...memory,
      inspect: async ([first], progress) => {
        for (;;) {
          await new Promise((resolve) => setTimeout(resolve, 1))
          progress(first as never, 0, 1)
        }
      },
    },
    security: apiKeys({ name: 'API Key' }),
    handlerTimeout: 60,
  })
  await service.ready()
  let isClosed = false as boolean
  const call = async (): Promise<void> => {
    while (!isClosed) {
      await service.users.get('maria').catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  const calls = [call(), call(), call()]
  const inspecting = service.inspect()
  await Promise.all([
    expect(inspecting).rejects.toMatchObject({ code: 'UNAVAILABLE' }),
    service.close(),
  ])
  isClosed = true
  await Promise.all(calls)
})
