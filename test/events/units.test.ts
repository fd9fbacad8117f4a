import { describe, expect, onTestFinished, test } from 'vitest'
import { pageOf } from '../../src/events/reads/conditions.ts'
import { runCustom } from '../../src/events/custom.ts'
import { runEvent, unstored } from '../../src/events/run.ts'
import { runTransaction } from '../../src/events/transaction.ts'
import { Unit } from '../../src/events/units/unit.ts'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  principal,
  system,
  text,
  type CollectionBehaviour,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { transactionDetector } from '../../src/observation/open-transaction.ts'
import { planInsert } from '../../src/request/plan.ts'
import { viewOf } from '../../src/request/view.ts'
import { publishCollection } from '../../src/entries/storage.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { callerOf, stubbedStorage } from './stubbed.ts'

const data = { key: 'id', fields: { id: integer(), title: text() } } as const
type Behaviour = CollectionBehaviour<typeof data>
const maria = principal('maria')

function publish(behaviour: Behaviour = {}) {
  return publishCollection('app', 'notes', defineCollection(data, behaviour))
}

function open(collections: Readonly<Record<string, CollectionDefinition>>) {
  const service = createService({
    applications: { app: { collections } },
    storage: memoryStorage(),
    security: openAccess(),
    report: () => undefined,
  })
  onTestFinished(() => service.close())
  return service
}

describe('the transaction of', () => {
  const before = () => undefined

  test('a save writes, and may share its commit', async () => {
    const collection = publish()
    const { run, transactions } = stubbedStorage(collection)
    await run(planInsert(viewOf(collection, maria), { id: 1 }))
    expect(transactions).toEqual([{ mode: 'write', brief: true, oneWrite: true }])
  })

  test('a save with code that may write more, or fail later, is not of one write', async () => {
    const check = () => undefined
    for (const code of [
      { events: { Insert: { before } } },
      { events: { Insert: { after: before } } },
      { validations: [{ name: 'own', severity: 'error' as const, check }] },
    ]) {
      const collection = publish(code)
      const { run, transactions } = stubbedStorage(collection)
      await run(planInsert(viewOf(collection, maria), { id: 1 }))
      expect(transactions).toEqual([{ mode: 'write', brief: true }])
    }
  })

  test('a Filter with handlers reads, and a Filter without has none', async () => {
    for (const events of [{ Filter: { before } }, {}]) {
      const collection = publish({ events })
      const { run, transactions } = stubbedStorage(collection)
      await run(pageOf(viewOf(collection, maria), {}, {}))
      expect(transactions).toEqual('Filter' in events ? [{ mode: 'read', brief: true }] : [])
    }
  })

  test('a New reads, and shares no commit', async () => {
    const collection = publish()
    const { runtime, transactions } = stubbedStorage(collection)
    const event = { collection, event: 'New' } as const
    await unstored(Unit.outside(runtime), callerOf(), event, () => 1)
    expect(transactions).toEqual([{ mode: 'read', brief: false }])
  })

  test('a user-defined event and of application code writes, and shares no commit', async () => {
    const collection = publish({ userDefinedEvents: { run: () => 1 } })
    const { runtime, transactions } = stubbedStorage(collection)
    await runCustom(runtime, callerOf(), collection, { name: 'run', input: 1 })
    await runTransaction(runtime, callerOf(), { run: () => Promise.resolve(1), timeout: 60_000 })
    const options = { mode: 'write', brief: false }
    expect(transactions).toEqual([options, options])
  })

  test('an event can be detected in its code if it writes', async () => {
    const detector = transactionDetector()
    detector.start()
    const seen: [string, boolean][] = []
    const note = ({ event }: { readonly event: string }) => {
      seen.push([event, detector.isInside()])
    }
    const collection = publish({ events: { Filter: { before: note }, Insert: { before: note } } })
    const { run } = stubbedStorage(collection)
    const view = viewOf(collection, maria)
    await run(pageOf(view, {}, {}))
    await run(planInsert(view, { id: 1 }))
    expect(seen).toEqual([
      ['Filter', false],
      ['Insert', true],
    ])
  })
})

test('a page is text if storage writes it, unless rows are requested', async () => {
  const collection = publish()
  const { runtime } = stubbedStorage(collection)
  const adapter = { ...runtime.adapter, filterText: () => ({ items: ['{}'], count: null }) }
  const page = pageOf(viewOf(collection, maria), {}, {})
  const all = Unit.outside({ ...runtime, adapter })
  expect(await runEvent(all, page, callerOf())).toMatchObject({ page: { items: ['{}'] } })
  expect(await runEvent(all, page, callerOf(), 'rows')).toMatchObject({ page: { rows: [] } })
})

test('the signal of a handler is aborted when the client leaves', async () => {
  const seen: unknown[] = []
  const client = new AbortController()
  const collection = publish({
    events: {
      Insert: {
        before: ({ signal }) => {
          seen.push(signal.aborted)
          client.abort(new Error('left'))
          seen.push(signal.aborted, signal.reason)
        },
      },
    },
  })
  const { runtime } = stubbedStorage(collection)
  const event = planInsert(viewOf(collection, maria), { id: 1 })
  await runEvent(Unit.outside(runtime), event, { ...callerOf(maria), signal: () => client.signal })
  expect(seen).toEqual([false, true, new Error('left')])
})

test('a unit without a transaction has none to read with', () => {
  const unit = Unit.outside(stubbedStorage(publish()).runtime)
  expect(() => unit.requireTransaction()).toThrow('The event runs without a transaction.')
})

describe('New and Change of another collection', () => {
  const other = defineCollection({
    key: 'id',
    fields: { id: integer({ default: 7 }), title: text({ required: true }) },
  })
  const preview = async (access: {
    new: () => Promise<object>
    change: (values: object, key?: number) => Promise<object | undefined>
  }) => [await access.new(), await access.change({ title: 'a' }), await access.change({}, 1)]
  const previewed = [
    { id: 7, title: null },
    { rejected: false, item: { id: 7, title: 'a' }, validations: [] },
    undefined,
  ]

  test('are run within the transaction of a handler', async () => {
    const seen: unknown[] = []
    const notes = defineCollection(data, {
      events: {
        Insert: {
          before: async ({ collection }) => {
            await collection(other).insert({ id: 1, title: 'x' })
            seen.push(await collection(other).change({ title: 'b' }, 1))
            await collection(other).delete(1)
            seen.push(...(await preview(collection(other) as never)))
          },
        },
      },
    })
    const app = open({ notes, other }).as(system)
    await app.collection('app', 'notes').insert({ id: 1 })
    expect(seen).toEqual([
      { rejected: false, item: { id: 1, title: 'b' }, validations: [] },
      ...previewed,
    ])
    expect((await app.collection('app', 'other').filter()).items).toEqual([])
  })

  test('are run by the functions of a served collection', async () => {
    const seen: unknown[] = []
    const served = defineCollection(data, {
      serve: {
        filter: async ({ collection }) => {
          seen.push(...(await preview(collection(other) as never)))
          return []
        },
      },
    })
    await open({ served, other }).as(system).collection('app', 'served').filter()
    expect(seen).toEqual(previewed)
  })

  test('are run within a transaction of application code', async () => {
    const app = open({ other }).as(system)
    const seen = await app.transaction(async ({ collection }) => {
      await collection('app', 'other').insert({ id: 1, title: 'x' })
      const changed = await collection('app', 'other').change({ title: 'b' }, 1)
      await collection('app', 'other').delete(1)
      return [changed, ...(await preview(collection('app', 'other') as never))]
    })
    expect(seen).toEqual([
      { rejected: false, item: { id: 1, title: 'b' }, validations: [] },
      ...previewed,
    ])
  })
})

test('functions that serve a collection read rows of a storage that writes text', async () => {
  const notes = defineCollection(data)
  const served = defineCollection(data, {
    serve: { filter: async ({ find }) => (await find(notes)) as never },
  })
  const service = createService({
    applications: { app: { collections: { notes, served } } },
    storage: sqliteStorage(':memory:', { ensureSchema: true }),
    security: openAccess(),
  })
  onTestFinished(() => service.close())
  const app = service.as(system)
  await app.collection('app', 'notes').insert({ id: 1, title: 'a' })
  expect((await app.collection('app', 'served').filter()).items).toEqual([{ id: 1, title: 'a' }])
})

describe('an event that another one has invoked, and that is rejected after it has written', () => {
  const inner = defineCollection(data, {
    events: { Insert: { after: ({ reject }) => reject('Too late.') } },
  })
  const validations = [{ message: 'Too late.', severity: 'error' }]

  test('rejects the outer one without its own values', async () => {
    const outer = publish({
      events: {
        Insert: {
          before: async ({ collection }) => {
            await collection('inner').insert({ id: 5, title: 'secret' })
          },
        },
      },
    })
    const hidden = publishCollection('app', 'inner', inner)
    const { runtime } = stubbedStorage(outer)
    const event = planInsert(viewOf(outer, maria), { id: 1 })
    const run = Unit.outside({ ...runtime, collectionOf: () => hidden })
    expect(await runEvent(run, event, callerOf())).toStrictEqual({
      type: 'rejected',
      reason: 'errors',
      messageName: 'notSaved',
      message: 'The changes could not be saved.',
      echo: undefined,
      validations,
    })
    const own = planInsert(viewOf(hidden, maria), { id: 1 })
    expect(await runEvent(run, own, callerOf())).toMatchObject({ echo: { id: 1 }, validations })
  })

  test('is a rejected result in a transaction, which is rolled back', async () => {
    const seen: unknown[] = []
    const work = open({ inner })
      .as(system)
      .transaction(async ({ collection }) => {
        seen.push(await collection('app', 'inner').insert({ id: 1 }))
      })
    await expect(work).rejects.toThrow('The transaction was rolled back')
    expect(seen).toEqual([
      { rejected: true, message: 'The changes could not be saved.', validations },
    ])
  })
})
