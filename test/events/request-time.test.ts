import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  system,
  text,
  type CollectionBehaviour,
  type Observation,
} from '../../src/entries/index.ts'
import { apiKeys, type SecurityProvider } from '../../src/entries/security.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { silentStorage, type SilentStorage } from '../kit/silent-storage.ts'
import { localStorages, openStorage, remoteStorages, type Storage } from '../kit/storages.ts'

const fields = { id: integer(), title: text() } as const
const data = { key: 'id', fields } as const
type Things = CollectionBehaviour<{ readonly fields: typeof fields; readonly key: 'id' }>
const notes = defineCollection(data)
const requestTimeout = 150
const save = { id: 1, title: 'one' }
const never = (): Promise<never> => new Promise(() => undefined)

type Behaviour = (silent: Pick<SilentStorage, 'silence'>) => Things

interface Options {
  readonly behaviour?: Behaviour
  readonly security?: SecurityProvider
  readonly requestTimeout?: number
}

async function start(on: Storage, { behaviour = () => ({}), security, ...more }: Options = {}) {
  const silent = silentStorage(openStorage(on))
  const reports: Observation[] = []
  const things = defineCollection(data, behaviour(silent))
  const service = createService({
    applications: { app: { collections: { notes, things } } },
    storage: silent.storage,
    security: security ?? openAccess(),
    requestTimeout,
    ...more,
    report: (one) => reports.push(one),
  })
  await service.ready()
  const client = createTestClient(service)
  const statuses = async (...replies: ReturnType<typeof client.get>[]) =>
    (await Promise.all(replies)).map(({ status, headers }) => [status, headers.get('Retry-After')])
  return { service, client, reports, statuses, ...silent }
}

const late = [503, '1']

/** Stores an item, however long that takes. */
async function store(service: Awaited<ReturnType<typeof start>>['service']): Promise<void> {
  await service
    .as(system)
    .transaction(({ collection }) => collection('app', 'notes').insert(save), { timeout: 10_000 })
}

describe.each([...localStorages, ...remoteStorages])('on $name, when its time ends', (on) => {
  test('a request that waits for storage is a 503, whatever it is', async () => {
    const { service, client, reports, statuses, silence } = await start(on)
    await store(service)
    silence()
    const replies = statuses(
      client.get('/app/notes'),
      client.get('/app/notes/1'),
      client.post('/app/notes', { id: 2 }),
      client.post('/app/notes/1', { title: 'two' }),
      client.delete('/app/notes/1'),
    )
    expect(await replies).toEqual([late, late, late, late, late])
    expect(reports.map(({ type }) => type)).toEqual(reports.map(() => 'storage-unavailable'))
  })

  test('what has not begun to commit is undone', async () => {
    const behaviour: Behaviour = ({ silence }) => ({
      events: {
        Insert: {
          async before({ find }) {
            silence()
            await find('notes')
          },
        },
      },
    })
    const { client, statuses, resume } = await start(on, { behaviour })
    expect(await statuses(client.post('/app/things', save))).toEqual([late])
    resume()
    await expect.poll(async () => (await client.get('/app/things')).status).toBe(200)
    expect((await client.get('/app/things')).body.items).toEqual([])
  })

  test('a save that waits for its turn is not executed later', async () => {
    const { service, client, statuses } = await start(on)
    const own = service.as(system)
    const ends: (() => void)[] = []
    const long = own
      .transaction(
        async ({ collection }) => {
          await collection('app', 'notes').insert({ id: 9 })
          await new Promise<void>((resolve) => ends.push(resolve))
          throw new Error('undone')
        },
        { timeout: 10_000 },
      )
      .catch(String)
    await expect.poll(() => ends).toHaveLength(1)
    // On a server, only the same key is waited for.
    expect(await statuses(client.post('/app/notes', { id: 9 }))).toEqual([late])
    for (const end of ends) end()
    expect(await long).toBe('Error: undone')
    await store(service)
    await expect.poll(async () => (await client.get('/app/notes')).body.items).toEqual([save])
  })

  test('a commit in progress is a 503, whether or not it succeeds', async () => {
    const { client, statuses, silence, held, resume } = await start(on)
    silence('commits')
    // On a busy machine, the time of a request may end before it commits.
    const saves = [save]
    expect(await statuses(client.post('/app/notes', save))).toEqual([late])
    while (held() === 0) {
      const next = { ...save, id: saves.length + 1 }
      saves.push(next)
      expect(await statuses(client.post('/app/notes', next))).toEqual([late])
    }
    resume()
    await expect
      .poll(async () => (await client.get('/app/notes')).body.items)
      .toEqual(saves.slice(-1))
  })

  test('each wait of a request is part of it', async () => {
    const behaviour: Behaviour = () => ({
      events: {
        Insert: {
          // Each one is shorter than any other time limit.
          async before({ find }) {
            for (;;) {
              await find('notes')
              await pause(5)
            }
          },
        },
      },
    })
    const { client, reports } = await start(on, { behaviour })
    expect([500, 503]).toContain((await client.post('/app/things', save)).status)
    expect(reports).toHaveLength(1)
  })

  test('a served collection that waits for storage is a 503', async () => {
    const behaviour: Behaviour = ({ silence }) => ({
      serve: {
        filter: async ({ system: own }) => {
          silence()
          await own.collection('notes').filter({})
          return [save]
        },
      },
    })
    const { client, statuses } = await start(on, { behaviour })
    expect(await statuses(client.get('/app/things'))).toEqual([late])
  })

  test('a request is a 500 if application code is late', async () => {
    const codes: readonly Things[] = [
      { events: { Insert: { before: never } } },
      { serve: { filter: () => [], insert: never } },
    ]
    for (const code of codes) {
      const { client, reports } = await start(on, { behaviour: () => code })
      expect((await client.post('/app/things', save)).status).toBe(500)
      expect(reports[0]).toMatchObject({ type: 'handler-timed-out' })
    }
  })

  test('a call in process rejects with an unavailable error', async () => {
    const { service, silence } = await start(on)
    silence()
    const own = service.as(system)
    const unavailable = { name: 'StorageError', kind: 'unavailable' }
    await expect(own.collection('app', 'notes').filter({})).rejects.toMatchObject(unavailable)
    await expect(own.collection('app', 'notes').insert(save)).rejects.toMatchObject(unavailable)
    const work = own.transaction(({ collection }) => collection(notes).insert(save))
    await expect(work).rejects.toMatchObject(unavailable)
  })

  test('an authentication that waits is a 503', async () => {
    const keys = apiKeys({ name: 'keys', properties: { AllowInsecureHttp: true } })
    const { service, client, statuses, silence } = await start(on, { security: keys })
    await service.users.add({ user: 'maria' })
    const { key } = await service.keys.create({ user: 'maria' })
    const headers = { 'x-api-key': key }
    silence()
    expect(await statuses(client.get('/app/notes', { headers }))).toEqual([late])
  })
})

const [memory] = localStorages as readonly [Storage]

test('the time in which a client sends the body does not count', async () => {
  const { service } = await start(memory, { requestTimeout: 600 })
  const body = new TextEncoder().encode(JSON.stringify(save))
  const reply = await service.handle({
    method: 'POST',
    target: '/rest/v1/app/notes',
    secure: false,
    header: (name) => (name === 'content-type' ? 'application/json' : undefined),
    body: () => pause(700, body),
    signal: new AbortController().signal,
    peer: undefined,
  })
  expect(reply.status).toBe(200)
})

test('a request of a served collection takes its timeout, if that is longer', async () => {
  const behaviour: Behaviour = () => ({
    serve: { timeout: 10_000, filter: () => pause(3 * requestTimeout, [save]) },
  })
  const { service, client } = await start(memory, { behaviour })
  expect((await client.get('/app/things')).body.items).toEqual([save])
  expect((await service.as(system).collection('app', 'things').filter({})).items).toEqual([save])
})

test('a transaction in process takes its timeout, if that is longer', async () => {
  const { service } = await start(memory)
  const work = service.as(system).transaction(() => pause(3 * requestTimeout, 'done'), {
    timeout: 10_000,
  })
  expect(await work).toBe('done')
})
