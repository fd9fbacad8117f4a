import { createClient } from '../../src/entries/client.ts'
import { system } from '../../src/entries/index.ts'
import type { Door } from './door.ts'
import { api, list, outbox } from './doors-of-consume.ts'
import { client, service } from './doors-of-entries.ts'

const { users, keys } = service
const all = service.as(system)
const other = createClient<never>({
  url: 'https://example.com',
  fetch: async () => {
    throw new Error('A request was sent.')
  },
})
const { releases } = other
const collection = other.collection('desk' as never, 'notes' as never) as unknown as Readonly<
  Record<string, (...given: unknown[]) => unknown>
>

/** The file of tests that covers a method. */
export interface CoveredBy {
  readonly file: string
}
const inEvents: CoveredBy = { file: 'test/events/odd-objects.test.ts' }
const inClient: CoveredBy = { file: 'test/client/odd-objects.test.ts' }
const inConsume: CoveredBy = { file: 'test/consume/odd-objects.test.ts' }

/** Objects that the library returns, and the doors of each of their methods. */
export const methodDoors: Readonly<
  Record<
    string,
    {
      readonly of: object
      readonly methods: Readonly<Record<string, readonly Door[] | string | CoveredBy>>
    }
  >
> = {
  service: {
    of: service,
    methods: {
      as: [['principal', (given) => service.as(given)]],
      authenticate: [['authenticate', (given) => service.authenticate({} as never, given)]],
      inspect: 'takes a function',
      withoutCredentials: 'takes a string',
      handle: 'takes what a binding reads',
      serves: 'takes a string',
      reportUnsent: 'takes what a binding reads',
      close: 'has no parameter',
      ready: 'has no parameter',
      statistics: 'has no parameter',
      workload: 'has no parameter',
    },
  },
  'service.users': {
    of: users,
    methods: {
      add: [
        ['users.add', (given) => users.add(given)],
        ['attributes', (attributes) => users.add({ user: 'maria', attributes })],
        ['users.add', (by) => users.add({ user: 'maria' }, by)],
      ],
      ensure: [
        ['users.ensure', (given) => users.ensure(given)],
        ['users.ensure', (by) => users.ensure({ user: 'maria' }, by)],
      ],
      change: [
        ['users.change', (given) => users.change('maria', given)],
        ['users.change', (by) => users.change('maria', {}, by)],
      ],
      find: 'takes a string',
      get: 'takes a string',
      list: [['users.list', (given) => users.list(given)]],
      remove: [['users.remove', (by) => users.remove('maria', by)]],
      audit: [['users.audit', (given) => users.audit(given)]],
    },
  },
  'service.keys': {
    of: keys,
    methods: {
      create: [
        ['keys.create', (given) => keys.create(given)],
        ['keys.create', (by) => keys.create({ user: 'maria' }, by)],
      ],
      ensure: [
        ['keys.ensure', (given) => keys.ensure(given)],
        ['keys.ensure', (by) => keys.ensure({ user: 'maria', key: undefined }, by)],
      ],
      list: [['keys.list', (given) => keys.list(given)]],
      change: [
        ['keys.change', (given) => keys.change('key', given)],
        ['keys.change', (by) => keys.change('key', {}, by)],
      ],
      rotate: [
        ['keys.rotate', (given) => keys.rotate('key', given)],
        ['keys.rotate', (by) => keys.rotate('key', {}, by)],
      ],
      revoke: [
        ['keys.revoke', (given) => keys.revoke(given)],
        ['keys.revoke', (by) => keys.revoke('key', by)],
      ],
      audit: [['keys.audit', (given) => keys.audit(given)]],
    },
  },
  'service.as()': { of: all, methods: { collection: 'takes strings', transaction: inEvents } },
  'a collection': {
    of: all.collection('desk', 'notes'),
    methods: {
      filter: inEvents,
      count: inEvents,
      exists: inEvents,
      get: inEvents,
      insert: inEvents,
      update: inEvents,
      delete: inEvents,
      insertMany: inEvents,
      updateMany: inEvents,
      deleteMany: inEvents,
      invoke: inEvents,
      change: inEvents,
      new: 'has no parameter',
    },
  },
  'a test client': {
    of: client,
    methods: {
      get: [['options of the test client', (given) => client.get('/desk/notes', given)]],
      post: [['options of the test client', (given) => client.post('/desk/notes', {}, given)]],
      delete: [['options of the test client', (given) => client.delete('/desk/notes/1', given)]],
    },
  },
  'a client': { of: other, methods: { collection: 'takes strings' } },
  'a collection of a client': {
    of: other.collection('desk' as never, 'notes' as never),
    methods: {
      filter: inClient,
      pages: inClient,
      items: inClient,
      count: inClient,
      exists: inClient,
      get: inClient,
      getTagged: inClient,
      insert: inClient,
      update: inClient,
      delete: inClient,
      confirm: [
        ['confirm', (given) => collection['confirm']?.(given)],
        ['confirm', (given) => collection['confirm']?.({}, given)],
      ],
    },
  },
  'releases of a client': {
    of: other.releases,
    methods: {
      queue: inClient,
      list: [['list', (given) => releases.list('s', given)]],
      get: [['get', (given) => releases.get('r', given)]],
      state: [['state', (given) => releases.state('r', given)]],
      wait: [
        ['The release', (given) => releases.wait(given)],
        ['wait', (given) => releases.wait({ releaseId: 'r' } as never, given)],
      ],
      buildAndWait: [
        ['The request', (given) => releases.buildAndWait(given)],
        ['buildAndWait', (given) => releases.buildAndWait({} as never, given)],
      ],
    },
  },
  'a connection': {
    of: api,
    methods: {
      exchange: 'takes what an endpoint makes of an input',
      stream: 'takes what an endpoint makes of an input',
      close: 'has no parameter',
    },
  },
  'an endpoint': { of: list, methods: { call: inConsume } },
  'an outbox': {
    of: outbox,
    methods: {
      enqueue: [['enqueue', (given) => outbox.enqueue({}, 'list', {}, given)]],
      get: 'takes a string',
      list: [['list', (given) => outbox.list(given)]],
      work: [['work', (given) => outbox.work(given)]],
      retry: 'takes a string',
      drop: 'takes a string',
    },
  },
}
