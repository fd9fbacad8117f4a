import { expect, test } from 'vitest'
import { integer, json, text } from '../../src/entries/index.ts'
import { encodeOutcome, reject, type EncodedOutcome } from '../../src/request/outcome.ts'
import { encodeRow, encodeRows, itemOf } from '../../src/request/serialize.ts'
import { publishCollection } from '../../src/entries/storage.ts'

const notes = publishCollection('app', 'notes', {
  key: 'id',
  fields: { id: integer(), title: text(), data: json() },
})
const note = { message: 'Noted.', severity: 'information' } as const
const error = { message: 'No.', severity: 'error' } as const
const warning = { message: 'Sure?', severity: 'warning', validationId: 'w' } as const
const row = { id: 1, title: 'a', data: '{"b": 1}' }

function decoded({ status, body }: EncodedOutcome) {
  return { status, body: JSON.parse(body) as unknown }
}

test('a page has the selected fields of its rows', () => {
  const page = {
    type: 'page',
    collection: notes,
    select: ['title', 'id'],
    validations: [note],
  } as const
  const rows = [row, { id: 2, title: null }]
  expect(decoded(encodeOutcome({ ...page, page: { rows }, count: 2 }, 'contract'))).toEqual({
    status: 200,
    body: {
      items: [
        { title: 'a', id: 1 },
        { title: null, id: 2 },
      ],
      count: 2,
      message: null,
      validations: [note],
      status: 200,
    },
  })
  const text = { ...page, page: { items: ['{"id":3}'] }, count: null }
  expect(encodeOutcome({ ...text, validations: [] }, 'contract').body).toBe(
    '{"items":[{"id":3}],"count":null,"message":null,"validations":[],"status":200}',
  )
})

const item = { type: 'item', collection: notes, select: ['id'], validations: [note] } as const

test.each([{ row }, { json: '{"id":1}' }])('an item is a row or text (%#)', (given) => {
  expect(decoded(encodeOutcome({ ...item, item: given }, 'contract'))).toEqual({
    status: 200,
    body: { item: { id: 1 }, message: null, validations: [note], status: 200 },
  })
})

test.each(['contract', 'http'] as const)('a failed operation has status 400 (%s)', (bodyStatus) => {
  const failed = { ...item, item: { row }, failure: 'Too late.' }
  expect(decoded(encodeOutcome(failed, bodyStatus))).toEqual({
    status: 400,
    body: { item: { id: 1 }, message: 'Too late.', validations: [note], status: 400 },
  })
})

test.each([
  [[error, warning], 'contract', 200],
  [[error, warning], 'http', 400],
  [[warning, note], 'contract', 400],
  [[warning, note], 'http', 400],
] as const)('the body of a rejected save has the status of its reason (%#)', (...given) => {
  const [entries, bodyStatus, status] = given
  const rejected = reject('Insert', { id: 1 }, entries)
  expect(decoded(encodeOutcome(rejected, bodyStatus))).toEqual({
    status: 400,
    body: { item: { id: 1 }, message: rejected.message, validations: entries, status },
  })
})

test('a rejection without an item has none in its body', () => {
  const { body } = encodeOutcome(reject('Delete', undefined, [error]), 'contract')
  expect(body).toBe(
    '{"message":"The item could not be deleted.","validations":[{"message":"No.","severity":"error"}],"status":200}',
  )
})

test.each([
  [
    'Filter',
    ['The request was rejected.', 'notAccepted'],
    ['The request needs confirmation.', 'confirmRequest'],
  ],
  [
    'Custom',
    ['The request was rejected.', 'notAccepted'],
    ['The request needs confirmation.', 'confirmRequest'],
  ],
  [
    'Insert',
    ['The changes could not be saved.', 'notSaved'],
    ['The changes need confirmation.', 'confirmSave'],
  ],
  [
    'Update',
    ['The changes could not be saved.', 'notSaved'],
    ['The changes need confirmation.', 'confirmSave'],
  ],
  [
    'Delete',
    ['The item could not be deleted.', 'notDeleted'],
    ['The deletion needs confirmation.', 'confirmDelete'],
  ],
] as const)(
  'a rejected %s says whether it can be confirmed',
  (event, [failed, failedName], [unconfirmed, unconfirmedName]) => {
    expect(reject(event, undefined, [warning, error])).toEqual({
      type: 'rejected',
      reason: 'errors',
      message: failed,
      messageName: failedName,
      echo: undefined,
      validations: [warning, error],
    })
    expect(reject(event, { id: 1 }, [note, warning])).toEqual({
      type: 'rejected',
      reason: 'warnings',
      message: unconfirmed,
      messageName: unconfirmedName,
      echo: { id: 1 },
      validations: [note, warning],
    })
  },
)

test('the item of a row has the named fields, and null for those that the row lacks', () => {
  expect(itemOf(notes, { id: 1, data: '{"b": 1}' })).toEqual({ id: 1, title: null, data: { b: 1 } })
  expect(Object.keys(itemOf(notes, row, ['title', 'id']))).toEqual(['title', 'id'])
})

test('the text of a row embeds the text of json fields as it is stored', () => {
  expect(encodeRow(notes, row, ['id', 'title', 'data'])).toBe(
    '{"id":1,"title":"a","data":{"b": 1}}',
  )
  expect(encodeRow(notes, {}, ['data', 'title'])).toBe('{"data":null,"title":null}')
  expect(encodeRow(notes, row, [])).toBe('{}')
  expect(encodeRows(notes, [row, row], ['id'])).toEqual(['{"id":1}', '{"id":1}'])
  expect(encodeRows(notes, [], ['id'])).toEqual([])
})

const size = 64 * 1024
test.each(['', '"', '\\', '\n', '\u001f', '\ud800', '\udfff', 'ä\u007f€'])(
  'a string of any length is written as JSON.stringify does (%j)',
  (part) => {
    for (const length of [1, size, size + 1]) {
      const title = part + 'x'.repeat(length - 1) + part
      expect(encodeRow(notes, { title }, ['title']) === JSON.stringify({ title })).toBe(true)
    }
  },
)
