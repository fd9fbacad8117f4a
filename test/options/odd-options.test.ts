import { expect, test } from 'vitest'
import {
  applyRules,
  connection,
  createOutbox,
  deliverTo,
  endpoint,
} from '../../src/consume/index.ts'
import {
  flatten,
  pages,
  prepareCall,
  readElements,
  restCollection,
} from '../../src/consume/index.ts'
import { rowgateCollection, rule } from '../../src/consume/index.ts'
import {
  commandBuilder,
  createDeployment,
  definitionBuilder,
  installPackage,
  rollback,
} from '../../src/deployment/index.ts'
import { explorer } from '../../src/explorer/explorer.ts'
import { toExpressHandler } from '../../src/http/express.ts'
import { handleBadUrls } from '../../src/http/fastify.ts'
import { toFetchHandler } from '../../src/http/fetch.ts'
import { serve, toNodeHandler } from '../../src/http/node.ts'
import { createTestClient } from '../../src/http/test-client.ts'
import {
  createService,
  defineCollection,
  field,
  integer,
  memoryStorage,
  mount,
  openAccess,
  principal,
  rule as validation,
  system,
  text,
  withBehaviour,
  withCode,
  type ApplicationDefinitions,
} from '../../src/index.ts'
import { openapi } from '../../src/openapi/page.ts'
import { startTelemetry } from '../../src/otel/telemetry.ts'
import { authServer } from '../../src/security/auth-server/auth-server.ts'
import { apiKeys, httpBasic } from '../../src/security/index.ts'
import { mysqlStorage } from '../../src/storage/mysql.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { oddObjects } from '../kit/odd-objects.ts'

const fields = { id: integer(), title: text() } as const
const notes = defineCollection({ key: 'id', fields })
const applications = { desk: { collections: { notes } } }
const service = createService({
  applications,
  storage: memoryStorage(),
  security: [httpBasic({ name: 'Password' }), apiKeys({ name: 'Key', priority: 2 })],
})
const api = connection({ baseUrl: 'https://example.com' })
const list = endpoint(api, { name: 'list', path: '/notes', query: { page: 'integer' } })
const outbox = createOutbox({ endpoints: { list: { endpoint: list } } })
const pool = {} as never
const all = service.as(system)

/** Every function that takes options, and other objects of application code that describe something. */
const doors: Readonly<Record<string, (given: never) => unknown>> = {
  createService: (given) => createService(given),
  'createService({ limits })': (limits) =>
    createService({ applications, storage: memoryStorage(), security: openAccess(), limits }),
  'createService({ cache })': (cache) =>
    createService({ applications, storage: memoryStorage(), security: openAccess(), cache }),
  sqliteStorage: (given) => sqliteStorage(':memory:', given),
  postgresStorage: (given) => postgresStorage(pool, given),
  mysqlStorage: (given) => mysqlStorage(pool, given),
  mount,
  apiKeys,
  'apiKeys({ properties })': (properties) => apiKeys({ name: 'Key', properties }),
  httpBasic,
  'httpBasic({ cost })': (cost) => httpBasic({ name: 'Password', cost }),
  authServer,
  principal: (given) => principal('maria', given),
  'service.as': (given) => service.as(given),
  'users.add': (given) => service.users.add(given),
  'users.ensure': (given) => service.users.ensure(given),
  'users.add({ attributes })': (attributes) => service.users.add({ user: 'maria', attributes }),
  'users.change': (given) => service.users.change('maria', given),
  'keys.create': (given) => service.keys.create(given),
  'keys.ensure': (given) => service.keys.ensure(given),
  'keys.list': (given) => service.keys.list(given),
  'keys.rotate': (given) => service.keys.rotate('key', given),
  'keys.revoke': (given) => service.keys.revoke(given),
  'keys.audit': (given) => service.keys.audit(given),
  createDeployment,
  definitionBuilder,
  commandBuilder,
  installPackage: (given) => installPackage(new Uint8Array(), given),
  rollback: (given) => rollback('none', given),
  toNodeHandler: (given) => toNodeHandler(service, given),
  'toNodeHandler({ forwarded })': (forwarded) => toNodeHandler(service, { forwarded }),
  toExpressHandler: (given) => toExpressHandler(service, given),
  toFetchHandler: (given) => toFetchHandler(service, given),
  handleBadUrls: (given) => handleBadUrls(service, given),
  serve: (given) => serve(service, given),
  createTestClient: (given) => createTestClient(service, given),
  'get of a test client': (given) => createTestClient(service).get('/desk/notes', given),
  explorer,
  openapi,
  startTelemetry,
  connection,
  'connection({ authentication })': (authentication) =>
    connection({ baseUrl: 'https://example.com', authentication }),
  'connection({ headers })': (headers) => connection({ baseUrl: 'https://example.com', headers }),
  endpoint: (given) => endpoint(api, given),
  'endpoint({ query })': (query) => endpoint(api, { name: 'a', path: '/a', query }),
  createOutbox,
  'createOutbox({ endpoints })': (endpoints) => createOutbox({ endpoints }),
  'createOutbox({ endpoints: { list } })': (given) => createOutbox({ endpoints: { list: given } }),
  deliverTo: (given) => deliverTo(list, given),
  'outbox.enqueue': (given) => outbox.enqueue({}, 'list', {}, given),
  'outbox.list': (given) => outbox.list(given),
  'outbox.work': (given) => outbox.work(given),
  pages: (given) => pages(list, {}, given).next(),
  flatten: (given) => flatten([], given),
  readElements: (given) => readElements([] as never, given).next(),
  prepareCall: (given) => prepareCall(async () => 1, given),
  applyRules: (given) => applyRules(all as never, [], {}, given),
  rule: (given) => rule(list, given),
  'rule({ set })': (set) => rule(list, { into: notes, set }),
  restCollection: (given) => restCollection(notes, given),
  'restCollection({ list })': (given) => restCollection(notes, { list: given }),
  rowgateCollection: (given) => rowgateCollection(notes, given),
  'defineCollection(data)': (given) => defineCollection(given),
  'defineCollection(data, behaviour)': (given) => defineCollection({ fields }, given),
  withBehaviour: (given) => withBehaviour(notes, given),
  withCode: (given) => withCode(applications, given),
  'withCode(_, { desk })': (desk) => withCode(applications, { desk }),
  'withCode(_, { desk: { notes } })': (given) => withCode(applications, { desk: { notes: given } }),
  'rule.error': (given) => validation.error('a', given),
  'rule.warning': (given) => validation.warning('a', given),
  'rule.information': (given) => validation.information('a', given),
  ...Object.fromEntries(
    Object.entries(field)
      .filter(([, builder]) => typeof builder === 'function' && builder.name !== 'fieldOf')
      .map(([name, builder]) => [`field.${name}`, builder as (given: never) => unknown]),
  ),
}

/** Objects of any names, which may be modules that are imported as a whole: their members are accessors. */
const records = [
  'connection({ headers })',
  'endpoint({ query })',
  'createOutbox({ endpoints })',
  'rule({ set })',
]
const isOfMembers = /symbol|not enumerable|accessor|can be awaited/

/** Doors whose own messages say what they need instead. */
const described = ['service.as', 'keys.revoke', 'users.add({ attributes })']

async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    await call()
    return undefined
  } catch (error) {
    return error
  }
}

test.each(Object.entries(doors))('%s takes plain objects only', async (name, call) => {
  for (const [what, given, found] of oddObjects) {
    if (records.includes(name) && isOfMembers.test(what)) continue
    const failure = await failureOf(() => call(given as never))
    expect(failure, `${name} of ${what}`).toBeInstanceOf(TypeError)
    if (described.includes(name)) continue
    expect(String(failure)).toContain(found.replace(/\.$/, ''))
  }
})

/** Where a definition has objects. */
const parts: Readonly<Record<string, (given: never) => unknown>> = {
  applications: (given) => given,
  application: (desk) => ({ desk }),
  collections: (collections) => ({ desk: { collections } }),
  collection: (given) => ({ desk: { collections: { notes: given } } }),
  fields: (given) => inNotes({ fields: given }),
  'a field': (title) => inNotes({ fields: { ...fields, title } }),
  rows: (rows) => inNotes({ rows }),
  'rows.equal': (equal) => inNotes({ rows: { equal } }),
  'rows.where': (where) => inNotes({ rows: { where } }),
  'a condition': (title) => inNotes({ rows: { where: { title } } }),
  'a group': (given) => inNotes({ rows: { where: { or: [{ id: 1 }, given] } } }),
  events: (events) => inNotes({ events }),
  handlers: (given) => inNotes({ events: { Insert: given } }),
  serve: (given) => inNotes({ serve: given }),
  'user-defined events': (userDefinedEvents) => inNotes({ userDefinedEvents }),
  'a validation': (given) => inNotes({ validations: [given] }),
  pageSize: (pageSize) => inNotes({ pageSize }),
  eventRoles: (eventRoles) => inNotes({ eventRoles }),
  computed: (given) => inNotes({ computed: given }),
  'a computed field': (given) =>
    inNotes({ computed: { label: { field: given, needs: ['id'], compute: () => 1 } } }),
}
const inNotes = (part: object) => ({ desk: { collections: { notes: { ...notes, ...part } } } })

test.each(Object.entries(parts))('%s of a definition are plain objects', async (name, part) => {
  for (const [what, given, found] of oddObjects) {
    if (isOfMembers.test(what)) continue
    const failure = await failureOf(() =>
      createService({
        applications: part(given as never) as ApplicationDefinitions,
        storage: memoryStorage(),
        security: openAccess(),
      }),
    )
    expect(failure, `${name} of ${what}`).toBeInstanceOf(TypeError)
    expect(String(failure)).toContain(found.replace(/\.$/, ''))
  }
})
