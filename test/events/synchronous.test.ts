import { expect, onTestFinished, test } from 'vitest'
import { nestedAccess, runEvent } from '../../src/events/run.ts'
import { RowQueue } from '../../src/events/units/row-queue.ts'
import type { Runtime } from '../../src/events/runtime.ts'
import { saveItem } from '../../src/events/saves/save.ts'
import { insertSteps, updateSteps } from '../../src/events/saves/steps.ts'
import { Scope } from '../../src/events/scope.ts'
import { Unit } from '../../src/events/units/unit.ts'
import {
  anonymous,
  defineCollection,
  error,
  integer,
  text,
  warning,
  type CollectionBehaviour,
} from '../../src/entries/index.ts'
import { isThenable, type MaybePromise } from '../../src/maybe-promise.ts'
import type { Outcome } from '../../src/request/outcome.ts'
import { itemEvent, planInsert, planUpdate } from '../../src/request/plan.ts'
import { equal } from '../../src/request/query.ts'
import { viewOf } from '../../src/request/view.ts'
import { publishCollection } from '../../src/entries/storage.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'

const fields = { id: integer(), title: text({ required: true }) } as const
const data = { key: 'id', fields } as const
const caller = { principal: anonymous, confirmed: new Set<string>(), signal: () => undefined }

/** Opens a collection of notes in SQLite, whose operations return values and not promises. */
async function openNotes(behaviour: CollectionBehaviour<typeof data> = {}): Promise<Runtime> {
  const collection = publishCollection('desk', 'notes', defineCollection(data, behaviour))
  const adapter = sqliteStorage(':memory:', { ensureSchema: true })
  onTestFinished(() => adapter.close())
  await adapter.open([collection])
  return {
    adapter,
    collectionOf: () => collection,
    report: () => undefined,
    handlerTimeout: 1_000,
    requestTimeout: 60_000,
    now: () => new Date(0),
    waiting: new WeakMap(),
    rows: new RowQueue(),
    enter: (begin) => begin(),
    track: () => undefined,
  }
}

/** Saves of notes, in the transaction of a test. */
interface Saves {
  readonly insert: (id: number, title: string | null) => MaybePromise<Outcome>
  readonly update: (id: number, title: string) => MaybePromise<Outcome>
}

async function withNotes(
  behaviour: CollectionBehaviour<typeof data>,
  work: (saves: Saves) => MaybePromise<void>,
): Promise<void> {
  const runtime = await openNotes(behaviour)
  const collection = runtime.collectionOf('desk', 'notes')
  const view = viewOf(collection, anonymous)
  const undone = (): never => {
    throw new Error('The saves were rolled back.')
  }
  await Unit.outside(runtime).run({ mode: 'write', brief: false, undone }, async (unit) => {
    const scope = (event: 'Insert' | 'Update') =>
      new Scope(unit.nested(), caller, { collection, event }, nestedAccess)
    await work({
      insert: (id, title) =>
        saveItem(insertSteps, planInsert(view, { id, title }), scope('Insert')),
      update: (id, title) =>
        saveItem(updateSteps, planUpdate(view, [id], { title }), scope('Update')),
    })
  })
}

test('a Filter of a storage that answers at once returns its outcome, not a promise', async () => {
  const runtime = await openNotes()
  const view = viewOf(runtime.collectionOf('desk', 'notes'), anonymous)
  const missing = itemEvent(view, [equal('id', 1)])
  expect(() => runEvent(Unit.outside(runtime), missing, caller)).toThrow('Not found.')
  const page = { ...missing, result: 'page' } as const
  expect(runEvent(Unit.outside(runtime), page, caller)).toMatchObject({ type: 'page', count: null })
})

test('a save whose code does not wait returns its outcome, not a promise', async () => {
  const calls: string[] = []
  const behaviour: CollectionBehaviour<typeof data> = {
    validations: [error('NoX', { check: ({ title }) => (title === 'x' ? 'No x.' : null) })],
    events: {
      Save: {
        before: () => void calls.push('before'),
        after: ({ item }) => void calls.push(`after ${item.title}`),
      },
    },
  }
  await withNotes(behaviour, ({ insert, update }) => {
    expect(insert(1, 'a')).toMatchObject({ type: 'item', item: { row: { id: 1, title: 'a' } } })
    expect(update(1, 'b')).toMatchObject({ type: 'item', item: { row: { id: 1, title: 'b' } } })
    expect(insert(2, 'x')).toMatchObject({ type: 'rejected', reason: 'errors' })
    expect(insert(2, null)).toMatchObject({ type: 'rejected', reason: 'errors' })
    expect(calls).toEqual(['before', 'after a', 'before', 'after b', 'before', 'before'])
  })
})

test('a handler that rejects ends the save before its validations', async () => {
  const checked: string[] = []
  const behaviour: CollectionBehaviour<typeof data> = {
    validations: [error('Seen', { check: ({ title }) => void checked.push(title ?? '') })],
    events: { Insert: { before: ({ reject }) => reject('Closed today.') } },
  }
  await withNotes(behaviour, ({ insert }) => {
    const validations = [{ severity: 'error', message: 'Closed today.' }]
    expect(insert(1, 'a')).toEqual(expect.objectContaining({ type: 'rejected', validations }))
    expect(checked).toEqual([])
  })
})

test.each<[string, CollectionBehaviour<typeof data>]>([
  ['an async handler', { events: { Insert: { before: async () => undefined } } }],
  ['an async rule', { validations: [error('A', { check: async () => null })] }],
])('a save with %s returns a promise', async (_, behaviour) => {
  await withNotes(behaviour, async ({ insert }) => {
    const outcome = insert(1, 'a')
    expect(isThenable(outcome)).toBe(true)
    expect(['item', 'rejected']).toContain((await outcome).type)
  })
})

test('a save with a warning to be confirmed is rejected at once', async () => {
  const behaviour: CollectionBehaviour<typeof data> = {
    validations: [warning('A', { check: () => 'Really?' })],
  }
  await withNotes(behaviour, ({ insert }) => {
    expect(insert(1, 'a')).toMatchObject({ type: 'rejected', reason: 'warnings' })
  })
})
