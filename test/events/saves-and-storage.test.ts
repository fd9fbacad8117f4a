import { describe, expect, test } from 'vitest'
import {
  defineCollection,
  error,
  integer,
  principal,
  system,
  text,
  warning,
  type CollectionBehaviour,
} from '../../src/entries/index.ts'
import { StorageError } from '../../src/entries/storage.ts'
import { decideFindings } from '../../src/request/findings.ts'
import { planDelete, planInsert, planUpdate } from '../../src/request/plan.ts'
import { viewOf } from '../../src/request/view.ts'
import { publishCollection, type Row } from '../../src/entries/storage.ts'
import { stubbedStorage } from './stubbed.ts'

const data = {
  key: 'id',
  fields: {
    id: integer(),
    number: integer({ generated: 'database' }),
    title: text({ required: true }),
    size: integer(),
    state: text({ readOnly: true }),
    code: text({ readableBy: ['Chief'], writableBy: ['Chief'] }),
  },
} as const

function publish(behaviour: CollectionBehaviour<typeof data> = {}) {
  return publishCollection('app', 'notes', defineCollection(data, behaviour))
}

const notes = publish()
const maria = principal('maria')
const view = viewOf(notes, maria)
const stored: Row = { id: 1, number: 7, title: 'a', size: 2, state: 'new', code: null }
const isOne = [{ field: 'id', is: 'equal', value: 1 }]
const found = () => ({ rows: [stored], count: null })
// The item is read, because a read-only value may be sent back unchanged.
const titleAndState = { title: 'b', state: 'new' }
const notFound = expect.objectContaining({ code: 'NOT_FOUND' }) as Error

describe('an Insert', () => {
  test('stores a complete row, without the number that storage generates', async () => {
    const { run, calls } = stubbedStorage(notes, { insert: (_, row) => ({ ...row, number: 8 }) })
    const outcome = await run(planInsert(view, { id: 1, title: 'a' }))
    expect(calls).toEqual([['insert', { id: 1, title: 'a', size: null, state: null, code: null }]])
    expect(outcome).toEqual({
      type: 'item',
      collection: notes,
      select: ['id', 'number', 'title', 'size', 'state'],
      item: { row: { id: 1, number: 8, title: 'a', size: null, state: null, code: null } },
      validations: [],
    })
  })

  test('stores a given number', async () => {
    const { run, calls } = stubbedStorage(notes)
    await run(planInsert(view, { id: 1, number: 5, title: 'a' }))
    expect(calls).toMatchObject([['insert', { number: 5 }]])
  })
})

describe('an Update', () => {
  test('writes what differs from the stored item', async () => {
    const { run, calls } = stubbedStorage(notes, {
      filter: found,
      update: () => ({ ...stored, title: 'b' }),
    })
    const outcome = await run(planUpdate(view, [1], { title: 'b', size: 2, state: 'new' }))
    expect(calls).toEqual([
      ['filter', isOne, notes.allNames],
      ['update', isOne, { title: 'b' }],
    ])
    expect(outcome).toMatchObject({ type: 'item', item: { row: { title: 'b' } } })
  })

  test('of an item that does not exist, before or after it was read, is not found', async () => {
    const missing = stubbedStorage(notes)
    await expect(missing.run(planUpdate(view, [1], titleAndState))).rejects.toThrow(notFound)
    expect(missing.calls).toHaveLength(1)
    const gone = stubbedStorage(notes, { filter: found })
    await expect(gone.run(planUpdate(view, [1], titleAndState))).rejects.toThrow(notFound)
    expect(gone.calls).toHaveLength(2)
    const unread = stubbedStorage(notes)
    await expect(unread.run(planUpdate(view, [1], { title: 'b' }))).rejects.toThrow(notFound)
    expect(unread.calls.map(([name]) => name)).toEqual(['update'])
  })

  test('whose values alone decide does not read the item', async () => {
    const { run, calls } = stubbedStorage(notes, { update: () => ({ ...stored, size: null }) })
    const outcome = await run(planUpdate(view, [1], { title: 'b', size: null }))
    expect(calls).toEqual([['update', isOne, { title: 'b', size: null }]])
    expect(outcome).toMatchObject({ type: 'item', item: { row: { size: null } } })
  })

  const check = () => undefined
  const rule = { validations: [error('sized', { check })] }
  test.each([
    ['a validation', publish(rule), { title: 'b' }],
    ['the handler before', publish({ events: { Update: { before: check } } }), { title: 'b' }],
    ['the handler after', publish({ events: { Update: { after: check } } }), { title: 'b' }],
    [
      'the handler committed',
      publish({ events: { Update: { committed: check } } }),
      { title: 'b' },
    ],
    [
      'a row rule',
      publishCollection('app', 'notes', { ...data, rows: { equal: { size: 2 } } }),
      { title: 'b' },
    ],
    ['a value of a wrong type', notes, { title: 'b', size: 'x' }],
    ['a required value that is null', notes, { title: null }],
    ['a read-only value', notes, { state: 'new' }],
  ])('reads the item for %s', async (_, collection, values) => {
    const { run, calls } = stubbedStorage(collection, { filter: found, update: () => stored })
    await run(planUpdate(viewOf(collection, maria), [1], values))
    expect(calls[0]?.[0]).toBe('filter')
  })
})

describe('stored values of a wrong type', () => {
  const unfit = new StorageError('unfit', { fields: ['size', 'code'] })
  const { size: _, code: __, ...fitting } = stored
  const place = { application: 'app', collection: 'notes', event: 'Update' }
  const report = { type: 'stored-value-unfit', place, error: unfit }

  function withUnfit(written: Row = fitting) {
    return stubbedStorage(notes, {
      filter: (_, { select }) => {
        if (select.includes('size')) throw unfit
        return { rows: [fitting], count: null }
      },
      update: () => written,
      delete: () => written,
    })
  }

  test('are left out of the item, and reported once', async () => {
    const { run, calls, reports } = withUnfit()
    const outcome = await run(planUpdate(view, [1], titleAndState))
    expect(outcome).toMatchObject({ type: 'item', item: { row: fitting } })
    expect(calls).toEqual([
      ['filter', isOne, notes.allNames],
      ['filter', isOne, ['id', 'number', 'title', 'state']],
      ['update', isOne, { title: 'b' }],
    ])
    expect(reports).toEqual([report])
  })

  test('are replaced by null if the caller sends null and may set the field', async () => {
    const sent = { size: null, code: null }
    const { run, calls } = withUnfit({ ...fitting, size: null })
    await run(planUpdate(view, [1], { size: null }))
    expect(calls.at(-1)).toEqual(['update', isOne, { size: null }])
    const chief = withUnfit()
    await chief.run(planUpdate(viewOf(notes, system), [1], sent), system)
    expect(chief.calls.at(-1)).toEqual(['update', isOne, sent])
  })

  test('are not replaced by a caller who may read but not set the field', async () => {
    const locked = publishCollection('app', 'notes', {
      ...data,
      fields: { ...data.fields, size: integer({ writableBy: ['Chief'] }) },
    })
    const { run, calls } = withUnfit()
    await run(planUpdate(viewOf(locked, maria), [1], { size: null }))
    expect(calls.at(-1)).toEqual(['update', isOne, {}])
  })

  test('that storage finds only while it writes are reported with their fields', async () => {
    const { state: _, ...partial } = fitting
    const { run, reports } = withUnfit(partial)
    await run(planUpdate(view, [1], titleAndState))
    expect(reports).toMatchObject([report, { type: 'stored-value-unfit', place }])
    const [, { error: late }] = reports as never as [unknown, { readonly error: StorageError }]
    expect(late.fields).toEqual(['size', 'state', 'code'])
    expect(late.message).toMatch(/^app\/notes, item 1: .* size must be .* has another value;/)
  })

  test('do not keep an item from being deleted', async () => {
    const { run, calls, reports } = withUnfit()
    await run(planDelete(view, [1]))
    expect(calls).toEqual([['delete', isOne]])
    expect(reports).toMatchObject([{ place: { event: 'Delete' } }])
  })

  test.each([
    new StorageError('unfit'),
    new StorageError('unavailable', { fields: ['size'] }),
    new Error('No.'),
  ])('that storage does not name fail the event: %s', async (failure) => {
    const { run, calls, reports } = stubbedStorage(notes, {
      filter: () => {
        throw failure
      },
    })
    await expect(run(planUpdate(view, [1], titleAndState))).rejects.toBe(failure)
    expect(calls).toHaveLength(1)
    expect(reports).toEqual([])
  })
})

describe('a Delete', () => {
  const deleted = { delete: () => stored, filter: found }

  test('does not read the item first if no code sees it', async () => {
    const rules = publish({ validations: [error('saved', { check: () => 'No.' })] })
    for (const collection of [notes, rules]) {
      const { run, calls } = stubbedStorage(collection, deleted)
      const outcome = await run(planDelete(viewOf(collection, maria), [1]))
      expect(calls).toEqual([['delete', isOne]])
      expect(outcome).toMatchObject({ type: 'item', item: { row: stored } })
    }
  })

  test.each<[string, CollectionBehaviour<typeof data>]>([
    ['a handler', { events: { Delete: { before: ({ stored: item }) => expectItem(item) } } }],
    [
      'a rule',
      { validations: [error('r', { events: ['Delete'], check: (item) => expectItem(item) })] },
    ],
  ])('reads the item first if %s sees it', async (_, behaviour) => {
    const collection = publish(behaviour)
    const { run, calls } = stubbedStorage(collection, deleted)
    expect(await run(planDelete(viewOf(collection, maria), [1]))).toMatchObject({ type: 'item' })
    expect(calls.map(([name]) => name)).toEqual(['filter', 'delete'])
  })

  function expectItem(item: object): undefined {
    expect(item).toEqual(stored)
  }

  test('gives its handlers the deleted item, and no item to change', async () => {
    const seen: object[] = []
    const collection = publish({
      events: {
        Delete: {
          before: (event) => void seen.push(event),
          after: ({ stored: item, reject }) => {
            seen.push({ stored: item })
            reject('Kept.')
          },
        },
      },
    })
    const { run } = stubbedStorage(collection, deleted)
    const { code: _, ...readable } = stored
    expect(await run(planDelete(viewOf(collection, maria), [1]))).toMatchObject({
      type: 'rejected',
      echo: readable,
    })
    expect(seen).toMatchObject([{ stored }, { stored }])
    expect(seen[0]).not.toHaveProperty('item')
  })

  test('of an item that does not exist is not found', async () => {
    const { run } = stubbedStorage(notes)
    await expect(run(planDelete(view, [1]))).rejects.toThrow(notFound)
  })
})

describe('an error of storage', () => {
  const insert = (failure: unknown) =>
    stubbedStorage(notes, {
      insert: () => {
        throw failure
      },
    }).run(planInsert(view, { id: 1, title: 'a' }))

  test.each([
    ['duplicate', ['id'], 'Another item of notes has this id.', 'id'],
    ['duplicate', [], 'Another item of notes has this unique value.', undefined],
    ['invalid', ['size'], 'size is not accepted by the database.', 'size'],
    ['invalid', [], 'A value is not accepted by the database.', undefined],
    ['duplicate', ['id', 'code'], 'A value that you cannot see does not allow this.', undefined],
  ] as const)('%s of %j is an error of the item', async (kind, fields, message, field) => {
    const outcome = await insert(new StorageError(kind, { fields }))
    expect(outcome).toMatchObject({ type: 'rejected', reason: 'errors', echo: { id: 1 } })
    const entry = { message, severity: 'error', ...(field !== undefined && { field }) }
    expect(outcome.validations).toStrictEqual([entry])
  })

  test.each([
    ['duplicate', 'Another item of notes has this title, size.'],
    ['invalid', 'title, size are not accepted by the database.'],
  ] as const)('%s of several fields is an error of each of them', async (kind, message) => {
    const outcome = await insert(new StorageError(kind, { fields: ['title', 'size'] }))
    expect(outcome.validations).toStrictEqual([
      { message, severity: 'error', field: 'title' },
      { message, severity: 'error', field: 'size' },
    ])
  })

  test.each([
    new StorageError('unavailable'),
    new StorageError('referenced', { fields: ['id'] }),
    new Error('No.'),
  ])('that is not about the item fails the event: %s', async (failure) => {
    await expect(insert(failure)).rejects.toBe(failure)
  })

  test('fails a Delete', async () => {
    const failure = new StorageError('duplicate', { fields: ['id'] })
    const { run } = stubbedStorage(notes, {
      delete: () => {
        throw failure
      },
    })
    await expect(run(planDelete(view, [1]))).rejects.toBe(failure)
  })
})

test('an item that would leave the rows of its caller is forbidden', async () => {
  const own = publishCollection('app', 'notes', { ...data, rows: () => ({ title: 'a', size: 2 }) })
  const { run, calls } = stubbedStorage(own, { filter: found })
  const missing = {
    user: 'maria',
    reason: `Update of app/notes would leave the caller's rows, which are decided by title, size`,
  }
  await expect(run(planUpdate(viewOf(own, maria), [1], { title: 'b' }))).rejects.toThrow(
    expect.objectContaining({ code: 'FORBIDDEN', cause: missing }),
  )
  expect(calls).toHaveLength(1)
})

test('the id of a warning depends on its event, key and data', async () => {
  const rule = { check: () => 'Sure?', events: ['Insert', 'Update', 'Delete'] } as const
  const collection = publish({ validations: [warning('sure', rule)] })
  const own = viewOf(collection, maria)
  const { run } = stubbedStorage(collection, { filter: found })
  const finding = { severity: 'warning', name: 'sure', message: 'Sure?', field: undefined } as const
  const values = { id: 1, title: 'b' }
  for (const [event, subject] of [
    [planInsert(own, values), { event: 'Insert', key: [], data: values }],
    [planUpdate(own, [1], values), { event: 'Update', key: [1], data: values }],
    [planDelete(own, [1]), { event: 'Delete', key: [1], data: {} }],
  ] as const) {
    const { blocking } = await decideFindings([finding], { view: own, ...subject }, new Set())
    expect(await run(event)).toMatchObject({ type: 'rejected', validations: blocking })
  }
})

test('the errors of a request come with the errors of missing fields, each field once', async () => {
  const { run } = stubbedStorage(notes)
  const outcome = await run(planInsert(view, { title: 1, nope: 2, state: 'mine' }))
  expect(outcome.validations.map(({ message }) => message)).toEqual([
    'id is required.',
    'title must be a string without U+0000 and lone surrogates.',
    'state is read-only.',
    'Unknown field: nope.',
  ])
})

test('a stored item that lacks a required value can be changed in other fields', async () => {
  const { run } = stubbedStorage(notes, {
    filter: () => ({ rows: [{ ...stored, title: null }], count: null }),
    update: (_, __, changes) => ({ ...stored, title: null, ...changes }),
  })
  expect(await run(planUpdate(view, [1], { size: 3 }))).toMatchObject({ type: 'item' })
  expect(await run(planUpdate(view, [1], { title: null }))).toMatchObject({
    type: 'rejected',
    validations: [{ message: 'title is required.' }],
  })
})

test('an item that a handler has made invalid fails with the name of the handler', async () => {
  const collection = publish({
    events: { Insert: { before: ({ item }) => void (item.size = 'x' as never) } },
  })
  const { run, reports } = stubbedStorage(collection)
  await expect(run(planInsert(viewOf(collection, maria), { id: 1, title: 'a' }))).rejects.toThrow(
    expect.objectContaining({ code: 'INTERNAL' }),
  )
  expect(reports).toMatchObject([{ type: 'handler-failed', name: 'before' }])
})
