import { expect, test } from 'vitest'
import {
  integer,
  principal,
  system,
  text,
  type CollectionDefinition,
} from '../../src/entries/index.ts'
import { decodeQuery } from '../../src/protocol/query.ts'
import {
  itemEvent,
  planDelete,
  planEvent,
  planInsert,
  planUpdate,
  resolveQuery,
  routeMethod,
} from '../../src/request/plan.ts'
import { pageQuery } from '../../src/request/plan-query.ts'
import { viewOf, wholeView, type View } from '../../src/request/view.ts'
import { publishCollection } from '../../src/entries/storage.ts'

const fields = {
  id: integer(),
  owner: text(),
  title: text({ maxLength: 5 }),
  draft: text({ itemOnly: true }),
}
const own = { equal: { owner: { principal: 'user' } } } as const
const notes = publish({ key: 'id', fields, rows: own })
const whole = wholeView(notes)
const maria = viewOf(notes, principal('maria'))
const ofMaria = { field: 'owner', is: 'equal', value: 'maria' }
const rules = { limitExcess: 'clamp' } as const

function publish(definition: CollectionDefinition) {
  return publishCollection('app', 'notes', definition)
}

/** Resolves the query of a request for a page. */
function pageOf(view: View, query: string) {
  return resolveQuery('Filter', { view, caller: system, key: undefined }, decodeQuery(query), rules)
}

/** Resolves the query of a request for an item. */
function itemOf(view: View, query: string) {
  return resolveQuery('Filter', { view, caller: system, key: '1' }, decodeQuery(query), rules)
}

const page = { application: 'app', collection: 'notes', key: undefined } as never
const item = { application: 'app', collection: 'notes', key: '1' } as never

test('a method invokes the event of its path', () => {
  expect(routeMethod('GET', page, notes)).toBe('Filter')
  expect(routeMethod('POST', page, notes)).toBe('Insert')
  expect(routeMethod('GET', item, notes)).toBe('Filter')
  expect(routeMethod('POST', item, notes)).toBe('Update')
  expect(routeMethod('DELETE', item, notes)).toBe('Delete')
})

const readOnly = publish({ key: 'id', fields, publishes: ['Filter'] })
const keyless = publish({ fields })
const byKey = publish({ key: 'id', fields, serve: { get: () => undefined } })

test.each([
  ['DELETE', page, notes, 'GET, POST'],
  ['PUT', item, notes, 'GET, POST, DELETE'],
  ['toString', item, notes, 'GET, POST, DELETE'],
  ['POST', page, readOnly, 'GET'],
  ['DELETE', item, readOnly, 'GET'],
  ['GET', page, byKey, ''],
  ['POST', item, byKey, 'GET'],
  ['PATCH', page, undefined, 'GET, POST'],
  ['PATCH', item, keyless, 'GET, POST, DELETE'],
  ['DELETE', page, keyless, 'GET, POST'],
])('%s is not allowed, and the response lists the methods that are (%#)', (...given) => {
  const [method, path, collection, allow] = given
  expect(() => routeMethod(method, path, collection)).toThrow(
    expect.objectContaining({
      code: 'METHOD_NOT_ALLOWED',
      message: 'The method is not supported here.',
      headers: { Allow: allow },
    }),
  )
})

test('a method of an unknown collection is allowed, so that the response does not reveal it', () => {
  expect(routeMethod('GET', page, undefined)).toBe('Filter')
  expect(routeMethod('DELETE', item, undefined)).toBe('Delete')
})

test('a method below a collection without key is allowed, as below an unknown one', () => {
  expect(routeMethod('GET', item, keyless)).toBe('Filter')
  expect(routeMethod('POST', item, keyless)).toBe('Update')
  expect(routeMethod('DELETE', item, keyless)).toBe('Delete')
})

test('a collection that is served by key has no page', () => {
  expect(routeMethod('GET', item, byKey)).toBe('Filter')
  const serve = { get: () => undefined, insert: () => ({}) }
  const growing = publish({ key: 'id', fields, serve })
  expect(routeMethod('POST', page, growing)).toBe('Insert')
  expect(() => routeMethod('GET', page, growing)).toThrow(
    expect.objectContaining({ headers: { Allow: 'POST' } }),
  )
})

test('the query of a page has its defaults', () => {
  expect(pageOf(whole, '')).toEqual({
    conditions: [],
    search: null,
    sort: [{ field: 'id', descending: false }],
    limit: 10,
    offset: 0,
    select: ['id', 'owner', 'title'],
    count: false,
  })
})

test('the query of a page has the conditions of the request, then the conditions of the row rule', () => {
  const query = 'title=a&$q=%C3%84b&$sort=-title&$limit=3&$offset=4&$fields=title,id&$count=true'
  expect(pageOf(maria, query)).toEqual({
    conditions: [{ field: 'title', is: 'equal', value: 'a' }, ofMaria],
    search: { fields: ['id', 'owner', 'title'], text: 'äb' },
    sort: [
      { field: 'title', descending: true },
      { field: 'id', descending: false },
    ],
    limit: 3,
    offset: 4,
    select: ['id', 'title'],
    count: true,
  })
})

test('an empty search is no search', () => {
  expect(pageOf(whole, '$q=').search).toBeNull()
  const { search: _, ...rest } = pageOf(whole, '')
  const request = { ...rest, text: undefined, searchNames: ['title'] }
  expect(pageQuery(whole, request).search).toBeNull()
  expect(pageQuery(whole, { ...request, text: 'A' }).search).toEqual({
    fields: ['title'],
    text: 'a',
  })
})

test('a page does not accept a field that only items have', () => {
  expect(() => pageOf(whole, 'draft=x')).toThrow('Unknown query parameter: draft.')
  expect(() => pageOf(whole, '$sort=draft')).toThrow('Unknown field in $sort: draft.')
})

test('a page without a required condition is rejected, after its unknown parameters', () => {
  const view = wholeView(publish({ key: 'id', fields, requiredFilters: ['owner', 'title'] }))
  expect(() => pageOf(view, '')).toThrow('The parameter owner is required.')
  expect(() => pageOf(view, 'owner=a')).toThrow('The parameter title is required.')
  expect(() => pageOf(view, 'nope=1')).toThrow('Unknown query parameter: nope.')
  expect(pageOf(view, 'owner=a&title=b').conditions).toHaveLength(2)
})

test('the query of an item has all fields that the caller can read, and the conditions', () => {
  const expected = {
    search: null,
    sort: [],
    limit: 1,
    offset: 0,
    select: ['id', 'owner', 'title', 'draft'],
    count: false,
  }
  expect(itemOf(whole, '')).toEqual({ ...expected, conditions: [] })
  expect(itemOf(maria, 'title=a')).toEqual({
    ...expected,
    conditions: [{ field: 'title', is: 'equal', value: 'a' }, ofMaria],
  })
})

test('an item accepts no parameter of pages', () => {
  expect(() => itemOf(whole, '$count=true')).toThrow(
    'Parameters with a $ prefix act on collections, not on items.',
  )
})

test.each(['Insert', 'Update', 'Delete'] as const)('%s accepts no parameter', (name) => {
  const resource = { view: maria, caller: system, key: '1' }
  const resolve = (query: string) => resolveQuery(name, resource, decodeQuery(query), rules)
  expect(() => resolve('title=a')).toThrow('Unknown query parameter: title.')
  expect(() => resolve('$limit=1')).toThrow('Unknown query parameter: $limit.')
  expect(resolve('').conditions).toEqual([ofMaria])
})

const isOne = { field: 'id', is: 'equal', value: 1 }
const body = { values: { id: 1, title: 'a' }, rounded: new Set<string>() }

test('a Filter with a key is one item, with the conditions of its key first', () => {
  const query = itemOf(maria, '')
  expect(planEvent('Filter', { view: maria, caller: system, key: '1' }, query)).toEqual({
    type: 'Filter',
    collection: notes,
    view: maria,
    result: 'item',
    query: { ...query, conditions: [isOne, ofMaria] },
  })
})

test('a Filter without a key is a page', () => {
  const query = pageOf(whole, '')
  expect(planEvent('Filter', { view: whole, caller: system, key: undefined }, query)).toEqual({
    type: 'Filter',
    collection: notes,
    view: whole,
    result: 'page',
    query,
  })
})

test('a Filter of a singleton is one item', () => {
  const singleton = wholeView(publish({ fields, singleton: true }))
  const query = pageOf(singleton, '')
  expect(query.limit).toBe(1)
  expect(() => pageOf(singleton, '$limit=1')).toThrow('not on items')
  const event = planEvent('Filter', { view: singleton, caller: system, key: undefined }, query)
  expect(event).toMatchObject({ result: 'item', query })
})

test('an event with a key that no item can have is not found', () => {
  const query = itemOf(whole, '')
  const named = wholeView(publish({ key: 'title', fields }))
  for (const resource of [
    { view: whole, caller: system, key: 'x' },
    { view: named, caller: system, key: undefined },
  ]) {
    for (const name of ['Update', 'Delete'] as const) {
      expect(() => planEvent(name, resource, query, body)).toThrow(
        expect.objectContaining({ code: 'NOT_FOUND' }),
      )
    }
  }
})

test('an Insert has its checked values', () => {
  const query = pageOf(whole, '')
  const event = planEvent('Insert', { view: maria, caller: system, key: undefined }, query, body)
  expect(event).toEqual(planInsert(maria, body.values))
  expect(event).toMatchObject({
    type: 'Insert',
    collection: notes,
    view: maria,
    submitted: { values: { id: 1, title: 'a' }, faults: [] },
  })
})

test('an Update has its checked values and the conditions of its rows', () => {
  const event = planEvent(
    'Update',
    { view: maria, caller: system, key: '1' },
    itemOf(maria, ''),
    body,
  )
  expect(event).toEqual(planUpdate(maria, [1], body.values))
  expect(event).toMatchObject({
    type: 'Update',
    collection: notes,
    view: maria,
    key: [1],
    conditions: [isOne, ofMaria],
    submitted: { values: { id: 1, title: 'a' }, faults: [] },
  })
  const moved = planUpdate(maria, [2], body.values)
  expect(moved.submitted.faults).toMatchObject([{ field: 'id' }])
})

test('an integer that was rounded is an error of Insert and Update', () => {
  const rounded = { ...body, rounded: new Set(['id', 'title']) }
  const query = itemOf(whole, '')
  const faults = [{ field: 'id', message: 'id must be an integer within ±(2^53 − 1).' }]
  expect(
    planEvent('Insert', { view: whole, caller: system, key: undefined }, query, rounded),
  ).toMatchObject({
    submitted: { faults },
  })
  expect(
    planEvent('Update', { view: whole, caller: system, key: '1' }, query, rounded),
  ).toMatchObject({
    submitted: { faults },
  })
})

test('a Delete has the conditions of its rows', () => {
  const event = planEvent('Delete', { view: maria, caller: system, key: '1' }, itemOf(maria, ''))
  expect(event).toEqual(planDelete(maria, [1]))
  expect(event).toEqual({
    type: 'Delete',
    collection: notes,
    view: maria,
    key: [1],
    conditions: [isOne, ofMaria],
  })
})

test('the Filter for one item selects all its fields in the rows of the caller', () => {
  expect(itemEvent(maria, [])).toMatchObject({
    type: 'Filter',
    collection: notes,
    view: maria,
    result: 'item',
    query: { conditions: [ofMaria], select: ['id', 'owner', 'title', 'draft'], limit: 1 },
  })
})
