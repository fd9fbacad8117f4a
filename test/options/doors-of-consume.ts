import type * as consumeEntry from '../../src/entries/consume.ts'
import {
  applyRules,
  CallError,
  connection,
  createOutbox,
  deliverTo,
  describeTables,
  endpoint,
  file,
  flatten,
  flattenElements,
  jsonSchema,
  jsonSchemas,
  nest,
  pages,
  prepareCall,
  readElements,
  readStream,
  readAs,
  readTables,
  restCollection,
  rowgateCollection,
  rule,
  send,
  sendTogether,
  unflatten,
} from '../../src/entries/consume.ts'
import { system } from '../../src/entries/index.ts'
import { notes, type DoorsOf } from './door.ts'
import { service } from './doors-of-entries.ts'

/** A connection that sends nothing. */
export const api = connection({
  baseUrl: 'https://example.com',
  fetch: async () => {
    throw new Error('A call was sent.')
  },
})
/** An endpoint of it. */
export const list = endpoint(api, { name: 'list', path: '/notes', query: { page: 'integer' } })
/** An outbox with one endpoint. */
export const outbox = createOutbox({ endpoints: { list: { endpoint: list } }, workers: 0 })
const all = service.as(system)
const baseUrl = 'https://example.com'

/** What `rowgate/consume` exports. */
export const consumeDoors = {
  connection: [
    ['connection', (given) => connection(given)],
    ['authentication', (authentication) => connection({ baseUrl, authentication })],
    ['headers', (headers) => connection({ baseUrl, headers })],
    ['query', (query) => connection({ baseUrl, query })],
    ['idempotency', (idempotency) => connection({ baseUrl, idempotency })],
  ],
  endpoint: [
    ['endpoint', (given) => endpoint(api, given)],
    ['query', (query) => endpoint(api, { name: 'a', path: '/a', query })],
    ['headers', (headers) => endpoint(api, { name: 'a', path: '/a', headers })],
    ['parameters', (parameters) => endpoint(api, { name: 'a', path: '/a/{b}', parameters })],
    ['page', (page) => endpoint(api, { name: 'a', path: '/a', query: { page } })],
    ['input', (given) => list.call(given)],
    ['call', (given) => list.call({}, given)],
  ],
  readStream: [
    ['input', (given) => readStream(list, given, async () => 1)],
    ['call', (given) => readStream(list, {}, async () => 1, given)],
  ],
  createOutbox: [
    ['outbox', (given) => createOutbox(given)],
    ['endpoints', (endpoints) => createOutbox({ endpoints })],
    ['list', (given) => createOutbox({ endpoints: { list: given } })],
    ['enqueue', (given) => outbox.enqueue({}, 'list', {}, given)],
    ['list', (given) => outbox.list(given)],
    ['work', (given) => outbox.work(given)],
  ],
  deliverTo: [['deliverTo', (given) => deliverTo(list, given)]],
  pages: [
    ['pages', (given) => pages(list, {}, given).next()],
    ['input', (given) => pages(list, given, { paging: { kind: 'link' } } as never).next()],
    ['paging', (paging) => pages(list, {}, { paging }).next()],
  ],
  file: [['file', (given) => file('', given)]],
  describeTables: [['describeTables', (given) => describeTables([], given)]],
  flatten: [['flatten', (given) => flatten([], given)]],
  flattenElements: [['flattenElements', (given) => flattenElements([] as never, given).next()]],
  readElements: [['readElements', (given) => readElements([] as never, given).next()]],
  readAs: [['readAs', (given) => readAs(list, given)]],
  readTables: [['readTables', (given) => readTables(given)]],
  unflatten: [['unflatten', (given) => unflatten(given)]],
  prepareCall: [['prepareCall', (given) => prepareCall(async () => 1, given)]],
  applyRules: [
    ['applyRules', (given) => applyRules(all as never, [], {}, given)],
    ['row', (row) => applyRules(all as never, [], {}, { row })],
  ],
  rule: [
    ['rule', (given) => rule(list, given)],
    ['set', (set) => rule(list, { into: notes, set })],
  ],
  restCollection: [
    ['restCollection', (given) => restCollection(notes, given)],
    ['list', (given) => restCollection(notes, { list: given })],
    ['definition', (given) => restCollection(given, {})],
  ],
  rowgateCollection: [
    ['rowgateCollection', (given) => rowgateCollection(notes, given)],
    [
      'definition',
      (given) => rowgateCollection(given, { connection: api, application: 'a', collection: 'b' }),
    ],
  ],
  nest: [
    ['nest', (given) => nest(given)],
    ['row', (row) => nest({ row, set: {} })],
    ['set', (set) => nest({ row: {}, set })],
  ],
  send: [['send', (given) => send(all as never, list, given)]],
  sendTogether: [['sendTogether', (given) => sendTogether(all as never, list, given)]],
  jsonSchema: [['schema', (given) => jsonSchema(given)]],
  jsonSchemas: [['definitions', (given) => jsonSchemas(given)]],
  CallError: [['CallError', (given) => new CallError('TIMEOUT', 'list', given)]],
  MatchError: 'is created by the library',
  RuleError: 'is created by the library',
  TablesError: 'is created by the library',
  callErrorCodes: 'is a value',
  ignoredBody: 'has no parameter',
  isCallError: 'takes any value',
  nextLink: 'takes a string',
  outboxTables: 'is a value',
  parseLinks: 'takes a string',
  sample: 'takes any value of a response',
  typed: 'has no parameter',
} satisfies DoorsOf<typeof consumeEntry>
