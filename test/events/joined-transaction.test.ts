import { describe, expect, onTestFinished, test } from 'vitest'
import { joinTransaction, type JoinedTransaction } from '../../src/events/units/join-transaction.ts'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  system,
  text,
  type CollectionBehaviour,
  type Observation,
} from '../../src/entries/index.ts'

const data = { key: 'id', fields: { id: integer(), title: text() } } as const
type Behaviour = CollectionBehaviour<typeof data>

function open(behaviour: Behaviour) {
  const reports: Observation[] = []
  const notes = defineCollection(data, behaviour)
  const other = defineCollection(data)
  const service = createService({
    applications: { app: { collections: { notes, other } } },
    storage: memoryStorage(),
    security: openAccess(),
    report: (one) => reports.push(one),
  })
  onTestFinished(() => service.close())
  const all = service.as(system)
  return {
    service,
    reports,
    notes: all.collection('app', 'notes'),
    other: all.collection('app', 'other'),
  }
}

/** Opens a collection whose Insert joins its transaction. */
function joining(work: (transaction: JoinedTransaction) => Promise<void>) {
  return open({
    events: { Insert: { before: (event) => joinTransaction(event, 'enqueue', work) } },
  })
}

describe('work that joins the transaction of a handler', () => {
  test('is called with its storage, and its result is returned', async () => {
    let result: unknown
    const { notes } = open({
      events: {
        Insert: {
          before: async (event) => {
            result = await joinTransaction(event, 'enqueue', async ({ storage }) => {
              return Promise.resolve(typeof storage.insert)
            })
          },
        },
      },
    })
    expect(await notes.insert({ id: 1 })).toMatchObject({ rejected: false })
    expect(result).toBe('function')
  })

  test('is notified of the commit, in order, and not of a rollback', async () => {
    const notified: number[] = []
    let before: readonly number[] = []
    const { notes } = joining(({ onCommit }) => {
      onCommit(() => notified.push(1))
      onCommit(() => notified.push(2))
      before = [...notified]
      return Promise.resolve()
    })
    await notes.insert({ id: 1 })
    expect([before, notified]).toEqual([[], [1, 2]])
    expect(await notes.insert({ id: 1 })).toMatchObject({ rejected: true })
    expect(notified).toEqual([1, 2])
  })

  test('that fails undoes the event, even if the handler catches its error', async () => {
    const failure = new Error('full')
    const { notes } = open({
      events: {
        Insert: {
          before: async (event) => {
            const work = () => Promise.reject(failure)
            await joinTransaction(event, 'enqueue', work).catch(() => undefined)
          },
        },
      },
    })
    await expect(notes.insert({ id: 1 })).rejects.toBe(failure)
    expect((await notes.filter()).items).toEqual([])
  })

  test('is undone with an event that is rejected later', async () => {
    const { service, notes, other } = open({
      events: {
        Insert: {
          before: async (event) => {
            await joinTransaction(event, 'enqueue', async () => Promise.resolve())
            event.reject('Closed.')
          },
        },
      },
    })
    expect(await notes.insert({ id: 1 })).toMatchObject({ rejected: true })
    const work = service.as(system).transaction(async ({ collection }) => {
      await collection('app', 'other').insert({ id: 1 })
      await collection('app', 'notes').insert({ id: 1 })
    })
    await expect(work).rejects.toThrow(
      new Error(
        'The transaction was rolled back, because an event of app/notes was rejected after it had written: The changes could not be saved.',
      ),
    )
    expect((await other.filter()).items).toEqual([])
  })

  test('must be awaited', async () => {
    const { notes, reports } = open({
      events: {
        Insert: {
          before: (event) => {
            void joinTransaction(event, 'enqueue', () => new Promise(() => undefined))
          },
        },
      },
    })
    await expect(notes.insert({ id: 1 })).rejects.toThrow('internal error')
    const error = new Error('The call of enqueue was not awaited: put await before it.')
    expect(reports).toMatchObject([{ type: 'handler-failed', name: 'before', error }])
  })
})

test('work can join the transaction of application code', async () => {
  const { service } = open({})
  const notified: string[] = []
  await service.as(system).transaction(async (context) => {
    await joinTransaction(context, 'enqueue', async ({ onCommit }) => {
      onCommit(() => notified.push('committed'))
      return Promise.resolve()
    })
  })
  expect(notified).toEqual(['committed'])
})

test.each([[{}], [undefined], [null], ['x']])('%j has no transaction to join', (context) => {
  const join = () => joinTransaction(context as object, 'enqueue', () => Promise.resolve())
  expect(join).toThrow(
    new TypeError(
      'enqueue: the context must be that of a handler, or the argument of service.as(user).transaction(...)',
    ),
  )
})

describe('a finding of a handler', () => {
  test.each([[''], [undefined], [5]])('with the message %j is a mistake', async (message) => {
    for (const add of ['error', 'information', 'reject'] as const) {
      const { notes, reports } = open({
        events: {
          Insert: {
            before: (event) => {
              event[add](message as string)
            },
          },
        },
      })
      await expect(notes.insert({ id: 1 })).rejects.toThrow('internal error')
      const error = new TypeError('The message of a validation must be a string that is not empty.')
      expect(reports).toMatchObject([{ type: 'handler-failed', name: 'before', error }])
    }
  })

  test('about an unknown field is a mistake', async () => {
    const { notes, reports } = open({
      events: {
        Insert: {
          before: (event) => {
            event.error('No.', 'titel' as never)
          },
        },
      },
    })
    await expect(notes.insert({ id: 1 })).rejects.toThrow('internal error')
    const error = new TypeError('The collection notes has no field titel; did you mean title?')
    expect(reports).toMatchObject([{ error }])
  })

  test('is a warning whose id depends on its event and name', async () => {
    const ids: unknown[] = []
    for (const [moment, name] of [
      ['before', 'a'],
      ['before', 'b'],
      ['after', 'a'],
    ] as const) {
      const { notes } = open({
        events: {
          Insert: {
            [moment]: (event: { warning(name: string, message: string): void }) => {
              event.warning(name, 'Sure?')
            },
          },
        },
      })
      const { validations } = await notes.insert({ id: 1 })
      ids.push(validations[0]?.validationId)
    }
    expect(ids[0]).not.toBe(ids[1])
    expect(ids[2]).toBe(ids[0])
  })
})

test('a filter of another collection has its conditions and options', async () => {
  const seen: unknown[] = []
  const { notes, other } = open({
    events: {
      Insert: {
        before: async ({ find, system: all }) => {
          seen.push(await find('other', { title: 'a' }))
          seen.push(await all.find('other', {}, { sort: ['-id'], limit: 1 }))
          seen.push((await find('other')).length)
        },
      },
    },
  })
  for (const [id, title] of [
    [1, 'a'],
    [2, 'b'],
    [3, 'b'],
  ] as const)
    await other.insert({ id, title })
  await notes.insert({ id: 1 })
  expect(seen).toEqual([[{ id: 1, title: 'a' }], [{ id: 3, title: 'b' }], 3])
})
