import { afterEach, expect, test } from 'vitest'
import {
  createService,
  date,
  defineCollection,
  integer,
  json,
  memoryStorage,
  mount,
  openAccess,
  system,
  text,
  type ApplicationDefinitions,
  type Observation,
  type Service,
} from '../../src/entries/index.ts'
import type {
  Row,
  StorageAdapter,
  StoragePage,
  StorageTextPage,
} from '../../src/entries/storage.ts'

const noteData = {
  key: 'id',
  fields: { id: integer(), title: text(), size: integer(), day: date(), data: json() },
} as const
const notes = defineCollection(noteData)
const note = { id: 1, title: 'tea', size: 2, day: '2024-02-29', data: '{"a":1}' }
const noteText = '{"id":1,"title":"tea","size":2,"day":"2024-02-29","data":{"a":1}}'

const reports: Observation[] = []
let service: Service<ApplicationDefinitions> | undefined

afterEach(async () => {
  await service?.close()
})

function open(changed: Partial<StorageAdapter>, wrap = (adapter: StorageAdapter) => adapter): void {
  reports.length = 0
  const storage = wrap({ ...memoryStorage(), name: 'custom', ...changed })
  service = createService({
    applications: { app: { collections: { notes } } },
    security: openAccess(),
    report: (observation) => void reports.push(observation),
    storage,
  })
}

async function send(path: string, method = 'GET', body?: unknown) {
  const reply = await (service as Service<ApplicationDefinitions>).handle({
    method,
    target: `/rest/v1/app/notes${path}`,
    header: (name) => ({ 'content-type': 'application/json' })[name],
    secure: true,
    peer: undefined,
    signal: undefined,
    body: async () => new TextEncoder().encode(JSON.stringify(body)),
  })
  return { status: reply.status, body: JSON.parse(reply.body) as Record<string, unknown> }
}

const fault = {
  message: 'The request could not be served because of an internal error.',
  validations: [],
  status: 500,
}

const pages: readonly (readonly [title: string, page: unknown, message: string])[] = [
  ['a count that is text', { rows: [], count: '5,"evil":1' }, 'a count that'],
  ['a negative count', { rows: [], count: -1 }, 'a count that'],
  ['a fractional count', { rows: [], count: 1.5 }, 'a count that'],
  ['no count', { rows: [note] }, 'a count that'],
  [
    'more rows than the limit',
    { rows: [note, { ...note, id: 2 }], count: 2 },
    '2 rows for a limit of 1',
  ],
  ['no list of rows', { rows: { length: 0 }, count: 0 }, 'a page without a list'],
  ['no page', null, 'a value that is not a page'],
  ['a row that is null', { rows: [null], count: 1 }, 'a row that is not an object'],
  ['a number in text', { rows: [{ ...note, title: 5 }], count: 1 }, 'app/notes, item 1: '],
  ['text in a number', { rows: [{ ...note, size: '2,"evil":1' }], count: 1 }, 'size must be'],
  [
    'a date that does not exist',
    { rows: [{ ...note, day: '2023-02-29' }], count: 1 },
    'day must be',
  ],
  ['a Date', { rows: [{ ...note, day: new Date(0) }], count: 1 }, 'day must be'],
  ['an infinite number', { rows: [{ ...note, size: Infinity }], count: 1 }, 'size must be'],
  [
    'an object as JSON',
    { rows: [{ ...note, data: { toJSON: () => 'x' } }], count: 1 },
    'data must be',
  ],
  ['JSON text that does not parse', { rows: [{ ...note, data: '{' }], count: 1 }, 'data must be'],
  [
    'JSON text that closes the item',
    { rows: [{ ...note, data: '1},{"id":9' }], count: 1 },
    'data must be',
  ],
  ['a row without a value', { rows: [{ id: 1 }], count: 1 }, 'title must be'],
  ['a row without key', { rows: [{ ...note, id: null }], count: 1 }, 'id must be'],
  ['a hole in place of a row', { rows: new Array(1), count: 1 }, 'a row that is not an object'],
  ['a list as a row', { rows: [Object.assign([], note)], count: 1 }, 'a row that is not an object'],
  ['a function as a row', { rows: [() => note], count: 1 }, 'a row that is not an object'],
  ['a Map as a row', { rows: [new Map(Object.entries(note))], count: 1 }, 'has no value'],
  ['a key that is a bigint', { rows: [{ ...note, id: 1n }], count: 1 }, 'item a bigint: '],
  [
    'a boxed value',
    { rows: [{ ...note, title: Object('tea') as unknown }], count: 1 },
    'title must',
  ],
  ['a count that is not a number', { rows: [], count: NaN }, 'a count that'],
  ['an infinite count', { rows: [], count: Infinity }, 'a count that'],
  ['a count that is a bigint', { rows: [], count: 1n }, 'a count that'],
  ['a count in an object', { rows: [], count: { valueOf: () => 1 } }, 'a count that'],
  ['a list with another length', { rows: longer([note], 2), count: 1 }, '2 rows for a limit of 1'],
  ['a list without a length', { rows: longer([note], NaN), count: 1 }, 'a page without a list'],
]

function rejected(): Promise<never> {
  return Promise.reject(new Error('a promise that nothing awaits'))
}

/** Returns a list that claims another length than it has. */
function longer(list: readonly unknown[], length: number): readonly unknown[] {
  return new Proxy(list, {
    get: (target, name): unknown => (name === 'length' ? length : Reflect.get(target, name)),
  })
}

test.each(pages)('responds 500 when an adapter returns %s', async (_title, page, message) => {
  for (const wrap of [undefined, (custom: StorageAdapter) => mount({ '*': custom })]) {
    open({ filter: () => page as StoragePage }, wrap)
    expect(await send('?$limit=1&$count=true')).toEqual({ status: 500, body: fault })
    expect(reports).toHaveLength(1)
    expect(String((reports[0] as { error: Error }).error)).toContain(message)
  }
})

class Rows<Entry> extends Array<Entry> {
  override map(): never {
    throw new Error('a method of a list is not called')
  }
  override join(): string {
    return '{}'
  }
}

test.each([
  ['a class of lists', Rows.of(note)],
  ['a proxy of a list', new Proxy([note], {})],
  ['rows without a prototype', [Object.assign(Object.create(null) as object, note)]],
])('takes the rows of %s', async (_title, rows) => {
  open({ filter: () => ({ rows, count: -0 }) })
  const { status, body } = await send('?$count=true')
  expect({ status, items: body['items'], count: body['count'] }).toEqual({
    status: 200,
    items: [{ ...note, data: { a: 1 } }],
    count: 0,
  })
})

test('application code receives a count without a sign', async () => {
  open({ filter: () => ({ rows: [], count: -0 }) })
  const notesOf = (service as Service<ApplicationDefinitions>).as(system).collection('app', 'notes')
  expect(await notesOf.count()).toBe(0)
})

const promised: readonly (readonly [title: string, page: () => unknown, message: string])[] = [
  ['a promise of rows', () => ({ rows: rejected(), count: 1 }), 'a page without a list'],
  ['a promise as a row', () => ({ rows: [rejected()], count: 1 }), 'a promise in place of a row'],
  ['a promise after a row', () => ({ rows: [note, rejected()], count: 2 }), '2 rows for a limit'],
  ['a promise as a value', () => ({ rows: [{ ...note, day: rejected() }] }), 'has a promise'],
  ['a promise as a count', () => ({ rows: [note], count: rejected() }), 'a count that'],
  ['no row, and a promised count', () => ({ rows: [1], count: rejected() }), 'not an object'],
  ['promises in two rows', () => ({ rows: [1, { ...note, id: rejected() }] }), '2 rows for'],
]

// A rejection without a handler would fail the test run.
test.each(promised)('responds 500 when an adapter returns %s', async (_title, page, message) => {
  open({ filter: () => page() as StoragePage })
  expect(await send('?$limit=1&$count=true')).toEqual({ status: 500, body: fault })
  open({ filterText: () => page() as StorageTextPage })
  expect((await send('?$limit=1&$count=true')).status).toBe(500)
  open({ filter: () => page() as StoragePage })
  expect((await send('?$limit=1&$count=true')).status).toBe(500)
  expect(String((reports[0] as { error: Error }).error)).toContain(message)
})

test('responds 500 to a save whose row has promises', async () => {
  open(changing({ ...note, title: rejected() as unknown as string }))
  expect(await send('', 'POST', { id: 1 })).toEqual({ status: 500, body: fault })
})

test.each([
  ['a number that is negative', -1, 500],
  ['a fraction', 1.5, 500],
  ['a string', '7', 500],
  ['a bigint', 7n, 500],
  ['null', null, 500],
  ['undefined, so that rows are counted', undefined, 200],
  ['minus zero', -0, 200],
])('an estimate may be %s', async (_title, estimate, status) => {
  reports.length = 0
  service = createService({
    applications: {
      app: { collections: { notes: defineCollection({ ...noteData, count: 'estimated' }) } },
    },
    security: openAccess(),
    report: (observation) => void reports.push(observation),
    storage: { ...memoryStorage(), name: 'custom', estimateCount: () => estimate as number },
  })
  const response = await send('?$count=true&$limit=0')
  expect(response).toMatchObject(status === 200 ? { status, body: { count: 0 } } : { status })
})

test.each([
  ['a promise', () => rejected()],
  ['an object', () => new Date(0)],
  ['a number that is not one', () => NaN],
  ['null', () => null],
])('responds 500 if the version is %s', async (_title, version) => {
  open({ version: version as unknown as () => number })
  expect(await send('')).toEqual({ status: 500, body: fault })
  expect(
    JSON.stringify(reports.map((report) => String((report as { error?: unknown }).error))),
  ).toContain('a version that is neither a number nor a string')
})

test('ignores a count that was not requested', async () => {
  open({ filter: () => ({ rows: [note], count: '1,"evil":1' }) as unknown as StoragePage })
  expect((await send('')).body['count']).toBe(null)
})

test('each value of a row is read once', async () => {
  let reads = 0
  const row = {
    ...note,
    get data() {
      return ++reads === 1 ? '1' : '1},{"id":9'
    },
  } as Row
  open({ filter: () => ({ rows: [row], count: null }) })
  expect((await send('/1')).body['item']).toMatchObject({ id: 1, data: 1 })
})

const texts: readonly (readonly [title: string, items: unknown, type: string])[] = [
  ['a wrong type', [noteText.replace('2,', '"2",')], 'stored-value-unfit'],
  ['a missing member', ['{"id":1}'], 'stored-value-unfit'],
  ['a member twice', [noteText.replace('{', '{"id":1,')], 'request-failed'],
  ['a further member', [noteText.replace('{', '{"evil":1,')], 'request-failed'],
  [
    'another order',
    ['{"title":"tea","id":1,"size":2,"day":"2024-02-29","data":{"a":1}}'],
    'request-failed',
  ],
  ['two items in one', [`${noteText},${noteText}`], 'request-failed'],
  ['no JSON', ['{"id":1'], 'request-failed'],
  ['no text', [note], 'request-failed'],
  ['a hole', new Array(1), 'request-failed'],
  ['a boxed string', [Object(noteText) as unknown], 'request-failed'],
  ['an object with a text', [{ toString: () => noteText }], 'request-failed'],
  ['a list', ['[1]'], 'request-failed'],
  ['null', ['null'], 'request-failed'],
  ['a number', ['1'], 'request-failed'],
  ['text around an item', [` ${noteText}`], 'request-failed'],
  ['an empty text', [''], 'request-failed'],
  ['more items than the limit', [noteText, noteText], 'request-failed'],
]

test.each(texts)('responds 500 for a page as text with %s', async (_title, items, type) => {
  const page = { items, count: null } as StorageTextPage
  open({ filterText: () => page })
  expect(await send('?$limit=1')).toEqual({ status: 500, body: fault })
  expect(reports).toMatchObject([{ type }])
})

test.each([
  ['a number', 5 as unknown as string, 'request-failed'],
  ['a row', note as unknown as string, 'request-failed'],
  ['false', false as unknown as string, 'request-failed'],
  ['an empty text', '', 'request-failed'],
  ['a list', '[]', 'request-failed'],
  ['text with spaces', noteText.replaceAll(':', ': '), 'request-failed'],
  ['a value of a wrong type', noteText.replace('"tea"', '5'), 'stored-value-unfit'],
])('responds 500 for an update that returns %s', async (_title, updated, type) => {
  open(updatingTo(updated))
  await send('', 'POST', { ...note, data: { a: 1 } })
  expect(await send('/1', 'POST', { size: 2 })).toEqual({ status: 500, body: fault })
  expect(reports.map((report) => report.type)).toEqual([type])
})

test.each([
  ['the text of the item', noteText, 200],
  ['null, for an item that is missing', null, 404],
  ['undefined, so that update is called', undefined, 200],
])('an update may return %s', async (_title, updated, status) => {
  open(updatingTo(updated))
  await send('', 'POST', { ...note, data: { a: 1 } })
  const response = await send('/1', 'POST', { size: 2 })
  expect(response.status).toBe(status)
  if (status === 200) expect(response.body).toMatchObject({ item: JSON.parse(noteText) as object })
})

/** Returns a memory storage whose `updateText` returns a text, and changes nothing. */
function updatingTo(updated: string | null | undefined): StorageAdapter {
  const memory = memoryStorage()
  return {
    ...memory,
    transaction: (options, work) =>
      memory.transaction(options, (on) => work({ ...on, updateText: () => updated })),
  }
}

test('serves a correct page as text', async () => {
  open({ filterText: () => ({ items: [noteText], count: 3 }) })
  expect((await send('?$limit=1&$count=true')).body).toMatchObject({
    items: [{ ...note, data: { a: 1 } }],
    count: 3,
  })
  expect(reports).toEqual([])
})

function changing(row: Row | null): Partial<StorageAdapter> {
  const memory = memoryStorage()
  return {
    ...memory,
    transaction: (options, work) =>
      memory.transaction(options, (inner) =>
        work({
          ...inner,
          insert: () => row as Row,
          update: () => row as Row,
          delete: () => row as Row,
        }),
      ),
  }
}

test('responds 500 to an insert whose stored row does not fit, and undoes it', async () => {
  for (const row of [null, { ...note, data: '{' }, { id: 1 }]) {
    open(changing(row))
    expect(await send('', 'POST', { id: 1 })).toEqual({ status: 500, body: fault })
    expect(reports).toHaveLength(1)
  }
})

test.each([
  ['null', null],
  ['false', false],
  ['0', 0],
  ['an empty string', ''],
  ['a list', []],
])('responds 500 to a delete that returns %s', async (_title, row) => {
  open(changing(row as unknown as Row))
  expect(await send('/1', 'DELETE')).toEqual({ status: 500, body: fault })
  expect(reports).toMatchObject([{ type: 'request-failed' }])
})

test('responds with null in place of a deleted value that does not fit', async () => {
  open(changing({ ...note, data: '{' }))
  const { status, body } = await send('/1', 'DELETE')
  expect({ status, item: body['item'] }).toEqual({ status: 200, item: { ...note, data: null } })
  expect(reports).toMatchObject([{ type: 'stored-value-unfit', error: { fields: ['data'] } }])
})

test('calls in process are checked, too', async () => {
  open({ filter: () => ({ rows: [{ ...note, size: '2' }], count: null }) })
  const collection = (service as Service<ApplicationDefinitions>)
    .as(system)
    .collection('app', 'notes')
  await expect(collection.filter()).rejects.toMatchObject({ kind: 'unfit', fields: ['size'] })
})
