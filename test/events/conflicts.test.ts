import { expect, onTestFinished, test } from 'vitest'
import {
  computed,
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  principal,
  text,
  type CollectionBehaviour,
} from '../../src/entries/index.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { StorageError, type StorageAdapter } from '../../src/entries/storage.ts'
import { send } from '../kit/service.ts'

const data = { key: 'id', fields: { id: integer(), title: text(), size: integer() } } as const
type Behaviour = CollectionBehaviour<typeof data>

/** A storage whose next transactions end with an error, after their work. */
interface Contended {
  readonly storage: StorageAdapter
  /** The number of transactions that have begun. */
  begun: number
  /** How many of the next transactions fail. */
  failures: number
  isConflict: boolean
  /** What happens after a failure, before the error arrives. */
  meanwhile: () => Promise<unknown>
}

function contended(failures: number): Contended {
  const memory = memoryStorage()
  const state: Contended = {
    begun: 0,
    failures,
    isConflict: true,
    meanwhile: async () => undefined,
    storage: {
      ...memory,
      transaction: async (options, work) => {
        const conflict = new StorageError('unavailable', { isConflict: state.isConflict })
        try {
          return await memory.transaction(options, async (on) => {
            state.begun += 1
            const result = await work(on)
            if (state.failures === 0) return result
            state.failures -= 1
            throw conflict
          })
        } catch (error) {
          if (error === conflict) await state.meanwhile()
          throw error
        }
      },
    },
  }
  return state
}

function open(behaviour: Behaviour = {}, failures = 2) {
  const state = contended(failures)
  const service = createService({
    applications: { app: { collections: { notes: defineCollection(data, behaviour) } } },
    storage: state.storage,
    security: openAccess(),
    report: () => undefined,
  })
  onTestFinished(() => service.close())
  const notes = service.as(principal('maria')).collection('app', 'notes')
  const insert = () =>
    send(service, { method: 'POST', path: '/notes', body: { id: 1, title: 'one' } })
  const titles = async () => (await notes.filter()).items.map(({ title }) => title)
  return { service, state, notes, insert, titles }
}

test('a save without code is repeated until it succeeds', async () => {
  const { insert, state, titles } = open()
  expect((await insert()).status).toBe(200)
  expect(state.begun).toBe(3)
  expect(await titles()).toEqual(['one'])
})

test('an Update, a Delete and several saves are repeated', async () => {
  const { service, state, notes, titles } = open({}, 0)
  await notes.insertMany([{ id: 1 }, { id: 2 }, { id: 3 }])
  state.failures = 1
  const body = { title: 'changed' }
  expect((await send(service, { method: 'POST', path: '/notes/1', body })).status).toBe(200)
  state.failures = 1
  expect((await send(service, { method: 'DELETE', path: '/notes/2' })).status).toBe(200)
  state.failures = 1
  expect(await notes.updateMany({}, { title: 'all' })).toMatchObject({ rejected: false })
  expect(await titles()).toEqual(['all', 'all'])
  expect(state.begun).toBe(7)
})

test('a save that is rejected when it is repeated has that outcome', async () => {
  const { notes, insert, state, titles } = open({}, 1)
  state.meanwhile = () => notes.insert({ id: 1, title: 'first' })
  expect((await insert()).status).toBe(400)
  expect(state.begun).toBe(3)
  expect(await titles()).toEqual(['first'])
})

test('a save that always loses has the response 503 with Retry-After after 12 repeats', async () => {
  const { insert, state, titles } = open({}, 100)
  const { status, headers } = await insert()
  expect(status).toBe(503)
  expect(headers['Retry-After']).toBe('1')
  expect(state.begun).toBe(13)
  expect(await titles()).toEqual([])
})

test('another failure of storage is not repeated', async () => {
  const { insert, state } = open()
  state.isConflict = false
  expect((await insert()).status).toBe(503)
  expect(state.begun).toBe(1)
})

const codes: readonly (readonly [string, (called: () => void) => Behaviour])[] = [
  ['before', (called) => ({ events: { Save: { before: called } } })],
  ['after', (called) => ({ events: { Insert: { after: called } } })],
  [
    'an asynchronous handler',
    (called) => ({ events: { Insert: { before: async () => called() } } }),
  ],
  [
    'a validation',
    (called) => ({ validations: [{ name: 'one', severity: 'error', check: () => called() }] }),
  ],
]

test.each(codes)('a save that has called %s is not repeated', async (_, behaviour) => {
  let calls = 0
  const { insert, state, titles } = open(
    behaviour(() => {
      calls += 1
    }),
  )
  expect((await insert()).status).toBe(503)
  expect([state.begun, calls]).toEqual([1, 1])
  expect(await titles()).toEqual([])
})

test('a save that has called the function of a default is not repeated', async () => {
  let calls = 0
  const state = contended(1)
  const size = integer({ default: () => ++calls })
  const notes = defineCollection({ key: 'id', fields: { id: integer(), size } })
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage: state.storage,
    security: openAccess(),
    report: () => undefined,
  })
  onTestFinished(() => service.close())
  const { status } = await send(service, { method: 'POST', path: '/notes', body: { id: 1 } })
  expect(status).toBe(503)
  expect([state.begun, calls]).toEqual([1, 1])
})

test('prepare and committed run once for a save that is repeated', async () => {
  const calls: string[] = []
  const { insert, state } = open({
    events: {
      Insert: {
        prepare: () => void calls.push('prepare'),
        committed: ({ item }) => void calls.push(`committed ${item.title}`),
      },
    },
  })
  expect((await insert()).status).toBe(200)
  expect(state.begun).toBe(3)
  expect(calls).toEqual(['prepare', 'committed one'])
})

test('a computed field does not keep a save from being repeated', async () => {
  const state = contended(1)
  const notes = defineCollection(data, {
    computed: { length: computed(integer(), ['title'], ({ title }) => title?.length ?? 0) },
  })
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage: state.storage,
    security: openAccess(),
  })
  onTestFinished(() => service.close())
  const body = { id: 1, title: 'one' }
  const response = await send(service, { method: 'POST', path: '/notes', body })
  expect([response.status, state.begun]).toEqual([200, 2])
})

test('the code of a transaction and of a user-defined event is called once', async () => {
  const calls: string[] = []
  const { service, state, notes } = open({
    userDefinedEvents: {
      grow: async ({ own }) => {
        calls.push('grow')
        await own.insert({ id: 1 })
      },
    },
  })
  const grow = notes as unknown as { invoke(name: string, input: unknown): Promise<unknown> }
  await expect(grow.invoke('grow', null)).rejects.toMatchObject({ kind: 'unavailable' })
  const work = service.as(principal('maria')).transaction(async () => {
    calls.push('transaction')
  })
  await expect(work).rejects.toMatchObject({ kind: 'unavailable' })
  expect(calls).toEqual(['grow', 'transaction'])
  expect(state.begun).toBe(2)
})

test('changes of users and keys are repeated', async () => {
  const state = contended(0)
  const notes = defineCollection(data)
  const service = createService({
    applications: { app: { collections: { notes } } },
    storage: state.storage,
    security: apiKeys({ name: 'API Key' }),
  })
  onTestFinished(() => service.close())
  const repeated = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    state.failures = 2
    const result = await work()
    expect(state.failures).toBe(0)
    return result
  }
  await repeated(() => service.users.ensure({ user: 'maria' }))
  await repeated(() => service.users.change('maria', { roles: ['Sales'] }))
  const { keyId } = await repeated(() => service.keys.create({ user: 'maria' }))
  const key = await repeated(() => service.keys.rotate(keyId, { overlap: 5 }))
  await repeated(() => service.keys.revoke(key.keyId))
  await repeated(() => service.users.remove('maria'))
  const events = (await service.keys.audit()).map(({ event }) => event)
  expect(events.toSorted()).toEqual(['created', 'created', 'revoked', 'revoked', 'rotated'])
})
