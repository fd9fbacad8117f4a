import fastify from 'fastify'
import { expect, test } from 'vitest'
import { apiKeys, httpBasic } from '../../src/entries/security.ts'
import { authServer } from '../../src/entries/auth-server.ts'
import {
  commandBuilder,
  createDeployment,
  definitionBuilder,
  installPackage,
  rollback,
  type DeploymentOptions,
} from '../../src/entries/deployment.ts'
import { toExpressHandler } from '../../src/entries/express.ts'
import { handleBadUrls, rowgateFastify } from '../../src/entries/fastify.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { serve, toNodeHandler } from '../../src/entries/node.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  mount,
  openAccess,
  principal,
  text,
  type ServiceOptions,
} from '../../src/entries/index.ts'
import { startTelemetry } from '../../src/entries/otel.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'

const notes = defineCollection({
  key: 'noteId',
  fields: { noteId: integer(), title: text() },
})
const applications = { desk: { collections: { notes } } }
const service = () =>
  createService({ applications, storage: memoryStorage(), security: openAccess() })
const solution = { solutionId: 'desk', name: 'Desk', version: '1.0', applications }
const builder = { name: 'none', build: async () => ({ fileName: 'a', bytes: new Uint8Array() }) }
const environment = { environmentId: 'e', name: 'n', url: 'https://example.com' }

interface Factory {
  readonly create: (options: never) => unknown
  readonly required?: object
  readonly optional: readonly string[]
}

/** Every factory with options: those that it needs, and the names of all others. */
const factories: Readonly<Record<string, Factory>> = {
  createService: {
    create: (options: ServiceOptions<typeof applications>) => createService(options),
    required: { applications, storage: memoryStorage(), security: openAccess() },
    optional: [
      ...['users', 'limits', 'brand', 'serviceVersion', 'limitExcess', 'bodyStatus', 'now'],
      ...['maxPageSize', 'bodyLimit', 'handlerTimeout', 'report', 'log', 'cache'],
    ],
  },
  apiKeys: {
    create: apiKeys,
    required: { name: 'API Key' },
    optional: [
      ...['type', 'priority', 'enabled', 'identifier', 'defaultExpiry', 'maxExpiry', 'length'],
      'properties',
    ],
  },
  httpBasic: {
    create: httpBasic,
    optional: [
      ...['name', 'priority', 'enabled', 'realm', 'allowInsecureHttp', 'verify', 'cost'],
      ...['concurrency', 'waiting', 'attempts'],
    ],
  },
  authServer: {
    create: authServer,
    required: {
      issuer: 'https://id.example.com',
      audience: 'desk',
      jwks: 'https://id.example.com/keys',
    },
    optional: [
      ...['name', 'priority', 'enabled', 'algorithms', 'clockTolerance', 'userClaim', 'timeout'],
      ...['rolesClaim', 'attributes', 'requiredClaims', 'maxTokenAge', 'users', 'cooldown'],
      'allowInsecureHttp',
    ],
  },
  createDeployment: {
    create: (options: DeploymentOptions) => createDeployment(options),
    required: { solutions: [solution], builder, environment },
    optional: [
      ...['workers', 'serial', 'queueLimit', 'buildTimeout', 'waitTimeout', 'lease', 'attempts'],
      ...['pollInterval', 'packageLimit', 'snapshotData', 'queue', 'watch', 'now'],
    ],
  },
  commandBuilder: {
    create: commandBuilder,
    required: { command: 'true', file: 'a.zip' },
    optional: ['args', 'env', 'timeout', 'outputLimit', 'fileLimit', 'workingFolder', 'input'],
  },
  definitionBuilder: { create: definitionBuilder, optional: ['files', 'ddl', 'sign'] },
  sqliteStorage: {
    create: (options: object) => void sqliteStorage(':memory:', options).close(),
    optional: ['ensureSchema', 'synchronous', 'busyTimeout', 'scanRows', 'scanQueue', 'driver'],
  },
  toNodeHandler: {
    create: (options: object) => toNodeHandler(service(), options),
    optional: ['prefix', 'trustedProxies', 'forwarded'],
  },
  serve: {
    create: (options: object) => serve(service(), options).then((serving) => serving.close()),
    required: { port: 0 },
    optional: ['prefix', 'trustedProxies', 'forwarded', 'host', 'tls', 'signal', 'health', 'grace'],
  },
  toExpressHandler: {
    create: (options: object) => toExpressHandler(service(), options),
    optional: ['outside'],
  },
  toFetchHandler: {
    create: (options: object) => toFetchHandler(service(), options),
    optional: ['prefix', 'outside', 'peer', 'secure'],
  },
  rowgateFastify: {
    create: async (options: object) => {
      const app = fastify()
      await app.register(rowgateFastify, { service: service(), ...options })
      await app.close()
    },
    optional: ['outside', 'closeService'],
  },
  handleBadUrls: {
    create: (options: object) => handleBadUrls(service(), options),
    optional: ['prefix', 'outside'],
  },
  createTestClient: {
    create: (options: object) => createTestClient(service(), options),
    optional: ['key', 'headers', 'secure', 'peer'],
  },
  principal: {
    create: (options: object) => principal('maria', options),
    optional: ['roles', 'attributes', 'provider', 'keyId'],
  },
  startTelemetry: {
    create: (options: object) => {
      startTelemetry(options).stop()
    },
    optional: ['tracerProvider', 'meterProvider', 'user'],
  },
}

async function created(factory: Factory, options: object): Promise<unknown> {
  return factory.create({ ...factory.required, ...options } as never)
}

test.each(Object.entries(factories))('%s takes undefined for absent', async (_name, factory) => {
  const all = Object.fromEntries(factory.optional.map((option) => [option, undefined]))
  await created(factory, all)
  for (const option of factory.optional) await created(factory, { [option]: undefined })
})

test.each(Object.entries(factories))('%s names an unknown option', async (_name, factory) => {
  const [known = ''] = factory.optional
  const misspelt = `${known}s`
  const creating = created(factory, { [misspelt]: undefined }).then(
    () => undefined,
    (error: unknown) => error as Error,
  )
  const error = await creating
  expect(error).toBeInstanceOf(TypeError)
  expect(error?.message).toContain(misspelt)
  expect(error?.message).toContain(`did you mean ${known}?`)
})

const packageCalls: readonly (readonly [string, (options: object) => Promise<unknown>])[] = [
  [
    'installPackage',
    async (options) => installPackage(new Uint8Array(), { folder: 'none', ...options }),
  ],
  ['rollback', async (options) => rollback('none', options)],
]

test.each(packageCalls)('%s names an unknown option and accepts undefined', async (_name, call) => {
  await expect(call({ nows: 1 })).rejects.toThrow('nows: is not an option; did you mean now?')
  await expect(call({ now: undefined })).rejects.not.toThrow(TypeError)
})

test('limits and times keep their defaults when they are undefined', async () => {
  const slow = defineCollection(
    { key: 'noteId', fields: { noteId: integer(), title: text() } },
    {
      events: {
        Insert: { before: async () => undefined, after: undefined },
        Update: undefined,
      } as never,
    },
  )
  const limited = createService({
    applications: { desk: { collections: { notes: slow } } },
    storage: memoryStorage(),
    security: openAccess(),
    ...({ bodyLimit: undefined, handlerTimeout: undefined, maxPageSize: undefined } as object),
  })
  const client = createTestClient(limited, { ...({ headers: { Accept: undefined } } as object) })
  const large = await client.post('/desk/notes', { noteId: 1, title: 'x'.repeat(1024 * 1024) })
  expect(large.status).toBe(413)
  expect((await client.post('/desk/notes', { noteId: 1 })).status).toBe(200)
  expect((await client.get('/desk/notes', { query: { $limit: 101 } })).status).toBe(200)
  await limited.close()
})

test('behaviour that is undefined keeps the row rule of the data', async () => {
  const ownNotes = defineCollection(
    {
      key: 'noteId',
      fields: { noteId: integer(), title: text() },
      rows: { equal: { title: 'mine' } },
    },
    { ...({ rows: undefined, validations: undefined } as object) },
  )
  const guarded = createService({
    applications: { desk: { collections: { notes: ownNotes } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  const client = createTestClient(guarded)
  expect((await client.post('/desk/notes', { noteId: 1, title: 'theirs' })).status).toBe(403)
  await guarded.close()
})

test('a rule whose check is undefined is checked by its schema', async () => {
  const schema = {
    '~standard': { version: 1, validate: () => ({ issues: [{ message: 'No.' }] }) },
  } as const
  const ruled = defineCollection({
    key: 'noteId',
    fields: { noteId: integer() },
    validations: [
      { name: 'never', severity: 'error', field: 'noteId', check: undefined, schema } as never,
    ],
  })
  const checked = createService({
    applications: { desk: { collections: { notes: ruled } } },
    storage: memoryStorage(),
    security: openAccess(),
  })
  const reply = await createTestClient(checked).post('/desk/notes', { noteId: 1 })
  expect(reply.body.validations).toMatchObject([{ field: 'noteId', message: 'No.' }])
  await checked.close()
})

test('a storage that is undefined is not mounted', () => {
  const storages = { '*': memoryStorage(), desk: undefined as never }
  expect(mount(storages).name).toBe('mount(memory)')
})
