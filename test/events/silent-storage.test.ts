import { describe, expect, test } from 'vitest'
import { createTestClient } from '../../src/entries/testing.ts'
import {
  createService,
  defineCollection,
  error,
  integer,
  memoryStorage,
  openAccess,
  system,
  text,
  type CollectionBehaviour,
  type Observation,
} from '../../src/entries/index.ts'
import { joinTransaction } from '../../src/events/units/join-transaction.ts'
import { silentStorage } from '../kit/silent-storage.ts'

const fields = { id: integer(), title: text() } as const
const data = { key: 'id', fields } as const
type Things = CollectionBehaviour<{ readonly fields: typeof fields; readonly key: 'id' }>
const notes = defineCollection(data)
const handlerTimeout = 100

function start(behaviourOf: (silence: () => void) => Things) {
  const { storage, silence } = silentStorage(memoryStorage())
  const reports: Observation[] = []
  const things = defineCollection(data, behaviourOf(silence))
  const service = createService({
    applications: { app: { collections: { notes, things } } },
    storage,
    security: openAccess(),
    handlerTimeout,
    report: (one) => reports.push(one),
  })
  return { service, client: createTestClient(service), silence, reports }
}

const save = { id: 1, title: 'one' }
const never = (): Promise<never> => new Promise(() => undefined)

/** Code that waits for storage that is silent. */
const waiting: Readonly<Record<string, (silence: () => void) => Things>> = {
  'a before handler': (silence) => ({
    events: {
      Insert: {
        before: async ({ find }) => {
          silence()
          await find('notes')
        },
      },
    },
  }),
  prepare: (silence) => ({
    events: {
      Insert: {
        prepare: async ({ find }) => {
          silence()
          await find('notes')
        },
      },
    },
  }),
  'an after handler that writes': (silence) => ({
    events: {
      Insert: {
        after: async ({ collection }) => {
          silence()
          await collection('notes').insert(save)
        },
      },
    },
  }),
  'a rule': (silence) => ({
    validations: [
      error('known', {
        check: async (_, { find }) => {
          silence()
          return (await find('notes')).length > 9 ? 'There are many.' : undefined
        },
      }),
    ],
  }),
  'work that joins the transaction': (silence) => ({
    events: {
      Insert: {
        before: (event) =>
          joinTransaction(event, 'join', async ({ storage }) => {
            silence()
            await storage.filter(undefined as never, undefined as never)
          }),
      },
    },
  }),
  'a serving function': (silence) => ({
    serve: {
      filter: () => [],
      insert: async ({ item, system: own }) => {
        silence()
        await own.collection('notes').insert(save)
        return item
      },
    },
  }),
  'an event that its code has called': (silence) => ({
    events: {
      Insert: {
        before: async ({ item, collection }) => {
          if (item.id === 2) silence()
          await (item.id === 2
            ? collection('notes').count({})
            : collection('things').insert({ id: 2 }))
        },
      },
    },
  }),
}

describe('a 503 is the response while storage is silent, to an insert with', () => {
  test.each(Object.entries(waiting))('%s', async (_, behaviourOf) => {
    const { client, reports } = start(behaviourOf)
    const reply = await client.post('/app/things', save)
    expect([reply.status, reply.headers.get('Retry-After')]).toEqual([503, '1'])
    expect(reports.map(({ type }) => type)).toEqual(['storage-unavailable'])
  })
})

test('code of a transaction in process that waits for storage is unavailable', async () => {
  const { service, silence } = start(() => ({}))
  const late = service.as(system).transaction(async ({ collection }) => {
    silence()
    await collection(notes).insert(save)
  })
  await expect(late).rejects.toMatchObject({ name: 'StorageError', kind: 'unavailable' })
})

describe('a 500 is the response to code that is late itself', () => {
  const late: Readonly<Record<string, Things>> = {
    'after its calls have ended': {
      events: {
        Insert: {
          before: async ({ find }) => {
            await find('notes')
            await never()
          },
        },
      },
    },
    'in an event that it has called': {
      events: {
        Insert: {
          before: async ({ item, collection }) => {
            if (item.id === 2) await never()
            await collection('things').insert({ id: 2 })
          },
        },
      },
    },
    'in a serving function': { serve: { filter: () => [], insert: never } },
  }
  test.each(Object.entries(late))('%s', async (_, behaviour) => {
    const { client, reports } = start(() => behaviour)
    expect((await client.post('/app/things', save)).status).toBe(500)
    expect(reports[0]).toMatchObject({ type: 'handler-timed-out' })
  })

  test('while other requests wait for storage', async () => {
    const { client, silence, reports } = start(() => ({
      serve: { filter: () => [], insert: never },
    }))
    silence()
    const others = client.get('/app/notes')
    expect((await client.post('/app/things', save)).status).toBe(500)
    expect(reports.map(({ type }) => type)).toEqual(['handler-timed-out'])
    others.catch(() => undefined)
  })
})
