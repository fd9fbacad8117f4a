import { expect, test } from 'vitest'
import {
  connection,
  endpoint,
  restCollection,
  rowgateCollection,
} from '../../../src/entries/consume.ts'
import { integer, text } from '../../../src/entries/index.ts'
import { data, endpointsOf } from './tracker.ts'

const endpoints = endpointsOf({ url: 'http://127.0.0.1:9' })
const target = connection({ baseUrl: 'https://api.example.com' })

test('every mistake of a mapping is listed when it is made', () => {
  const given = {
    list: {
      endpoint: endpoint(target, { name: 'list', method: 'DELETE', path: '/issues' }),
      filter: { stat: 'state', state: 'stat' },
      sort: { fields: ['nummer'], input: () => ({}) },
      search: { parameter: 'qq' },
    },
    get: { endpoint: endpoint(target, { name: 'get', path: '/issues/{id}' }) },
    delete: { endpoint: endpoints.get },
    fields: { autor: 'author/login' },
  }
  expect(() => restCollection(data, given as never)).toThrow(
    [
      'The configuration has mistakes:',
      '  - restCollection.fields.autor: is not a field; did you mean author?',
      '  - restCollection.list.filter.stat: is not a field; did you mean state?',
      '  - restCollection.list.sort.fields.nummer: is not a field; did you mean number?',
      '  - restCollection.list.endpoint: must have the method GET or POST',
      '  - restCollection.delete.endpoint: must have the method DELETE or POST',
      '  - restCollection.list.filter.stat: is not a parameter of the endpoint; there are no parameters',
      '  - restCollection.list.filter.state: is not a parameter of the endpoint; there are no parameters',
      '  - restCollection.list.search.parameter: is not a parameter of the endpoint; there are no parameters',
      '  - restCollection.get.input: is missing: the path parameter id is not a key field',
    ].join('\n'),
  )
})

test.each([
  [{ lists: {} }, 'restCollection.lists: is not an option; did you mean list?'],
  [{ list: {} }, 'restCollection.list.endpoint: must be an endpoint'],
  [{ list: { endpoint: target } }, 'restCollection.list.endpoint: must be an endpoint'],
  [
    { list: { endpoint: endpoints.list, paging: { kind: 'page', parameter: 'page' } } },
    'paging by page needs the number of items in a page',
  ],
  [
    { list: { endpoint: endpoints.list, paging: { kind: 'offset', parameter: 'ofset' } } },
    'did you mean offset?',
  ],
])('the options %j are rejected', (options, message) => {
  expect(() => restCollection(data, options as never)).toThrow(message)
})

test('items need a key', () => {
  const keyless = { fields: { line: text(), level: integer() } }
  expect(() => restCollection(keyless, { get: { endpoint: endpoints.get } })).toThrow(
    'needs a collection with a key',
  )
})

test('misspelled names of a mapping are compile errors', () => {
  const mapping = () => {
    // @ts-expect-error -- not a field
    restCollection(data, { fields: { autor: 'author/login' } })
    // @ts-expect-error -- not a field
    restCollection(data, { list: { endpoint: endpoints.list, filter: { stat: 'state' } } })
    // @ts-expect-error -- the collection is missing
    rowgateCollection(data, { connection: target, application: 'sales' })
  }
  expect(mapping).toThrow(TypeError)
})

test('unknown options of rowgateCollection are rejected', () => {
  const options = { connection: target, application: 'a', collection: 'b', serch: true }
  expect(() => rowgateCollection(data, options)).toThrow('did you mean search?')
})
