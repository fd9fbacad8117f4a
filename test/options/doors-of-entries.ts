import type * as clientEntry from '../../src/entries/client.ts'
import type * as conformanceEntry from '../../src/entries/conformance.ts'
import type * as administrationEntry from '../../src/entries/administration.ts'
import type * as deploymentEntry from '../../src/entries/deployment.ts'
import type * as bullmqEntry from '../../src/entries/bullmq.ts'
import type * as pgBossEntry from '../../src/entries/pg-boss.ts'
import type * as consoleEntry from '../../src/entries/console.ts'
import type * as explorerEntry from '../../src/entries/explorer.ts'
import type * as expressEntry from '../../src/entries/express.ts'
import type * as fastifyEntry from '../../src/entries/fastify.ts'
import type * as fetchEntry from '../../src/entries/fetch.ts'
import type * as nodeEntry from '../../src/entries/node.ts'
import type * as testClientEntry from '../../src/entries/testing.ts'
import type * as openapiEntry from '../../src/entries/openapi.ts'
import type * as telemetryEntry from '../../src/entries/otel.ts'
import type * as authServerEntry from '../../src/entries/auth-server.ts'
import type * as securityEntry from '../../src/entries/security.ts'
import { createClient, RequestError, saved } from '../../src/entries/client.ts'
import {
  credentials,
  testBuildQueue,
  testSecurityProvider,
  testStorageAdapter,
} from '../../src/entries/conformance.ts'
import {
  commandBuilder,
  createDeployment,
  definitionBuilder,
  installPackage,
  rollback,
} from '../../src/entries/deployment.ts'
import { administration } from '../../src/entries/administration.ts'
import { pgBossQueue } from '../../src/entries/pg-boss.ts'
import { adminConsole } from '../../src/entries/console.ts'
import { explorer } from '../../src/entries/explorer.ts'
import { toExpressHandler } from '../../src/entries/express.ts'
import { handleBadUrls, rowgateFastify } from '../../src/entries/fastify.ts'
import { toFetchHandler } from '../../src/entries/fetch.ts'
import { serve, toNodeHandler } from '../../src/entries/node.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { createService, memoryStorage } from '../../src/entries/index.ts'
import { openApiDocument, openapi, toYaml } from '../../src/entries/openapi.ts'
import { startTelemetry } from '../../src/entries/otel.ts'
import { authServer } from '../../src/entries/auth-server.ts'
import { apiKeys, exportProvider, httpBasic, importProvider } from '../../src/entries/security.ts'
import { applications, type DoorsOf } from './door.ts'

/** A service with users and keys. */
export const service = createService({
  applications,
  storage: memoryStorage(),
  security: [httpBasic({ name: 'Password' }), apiKeys({ name: 'Key', priority: 2 })],
})
/** A client of the service. */
export const client = createTestClient(service)

/** What the entries of bindings and clients export. */
export const bindingDoors = {
  node: {
    serve: [['serve', (given) => serve(service, given)]],
    toNodeHandler: [
      ['toNodeHandler', (given) => toNodeHandler(service, given)],
      ['forwarded', (forwarded) => toNodeHandler(service, { forwarded })],
    ],
  } satisfies DoorsOf<typeof nodeEntry>,
  express: {
    toExpressHandler: [['toExpressHandler', (given) => toExpressHandler(service, given)]],
  } satisfies DoorsOf<typeof expressEntry>,
  fastify: {
    rowgateFastify: [['rowgateFastify', (given) => rowgateFastify({} as never, given)]],
    handleBadUrls: [['handleBadUrls', (given) => handleBadUrls(service, given)]],
  } satisfies DoorsOf<typeof fastifyEntry>,
  fetch: {
    toFetchHandler: [['toFetchHandler', (given) => toFetchHandler(service, given)]],
  } satisfies DoorsOf<typeof fetchEntry>,
  testing: {
    createTestClient: [
      ['createTestClient', (given) => createTestClient(service, given)],
      ['options of the test client', (given) => client.get('/desk/notes', given)],
      ['options of the test client', (given) => client.post('/desk/notes', {}, given)],
      ['options of the test client', (given) => client.delete('/desk/notes/1', given)],
    ],
  } satisfies DoorsOf<typeof testClientEntry>,
  client: {
    createClient: [['createClient', (given) => createClient(given)]],
    attempt: 'takes a promise',
    saved: [['saved', (given) => saved(given)]],
    RequestError: [['RequestError', (given) => new RequestError('TIMEOUT', 'a', given)]],
    RejectedError: 'is created by the library',
  } satisfies DoorsOf<typeof clientEntry>,
}

/** What the entries of security providers and published cases export. */
export const securityDoors = {
  security: {
    apiKeys: [
      ['apiKeys', (given) => apiKeys(given)],
      ['properties', (properties) => apiKeys({ name: 'Key', properties })],
    ],
    httpBasic: [
      ['httpBasic', (given) => httpBasic(given)],
      ['cost', (cost) => httpBasic({ name: 'Password', cost })],
    ],
    importProvider: [['importProvider', (given) => importProvider(given)]],
    exportProvider: [['exportProvider', (record) => exportProvider({ record } as never)]],
    securityApplications: 'is a value',
  } satisfies DoorsOf<typeof securityEntry>,
  authServer: {
    authServer: [['authServer', (given) => authServer(given)]],
  } satisfies DoorsOf<typeof authServerEntry>,
  conformance: {
    credentials: [
      ['credentials', (given) => credentials(given)],
      ['headers', (headers) => credentials({ headers })],
    ],
    testStorageAdapter: [['testStorageAdapter', (given) => testStorageAdapter(given)]],
    testSecurityProvider: [['testSecurityProvider', (given) => testSecurityProvider(given)]],
    testBuildQueue: [['testBuildQueue', (given) => testBuildQueue(given)]],
  } satisfies DoorsOf<typeof conformanceEntry>,
}

/** What the entries of releases export. */
export const deploymentDoors = {
  administration: {
    administration: [
      ['administration', (given) => administration(given)],
      ['roles', (roles) => administration({ roles })],
    ],
  } satisfies DoorsOf<typeof administrationEntry>,
  deployment: {
    createDeployment: [['deployment', (given) => createDeployment(given)]],
    definitionBuilder: [['definitionBuilder', (given) => definitionBuilder(given)]],
    commandBuilder: [['commandBuilder', (given) => commandBuilder(given)]],
    installPackage: [['installPackage', (given) => installPackage(new Uint8Array(), given)]],
    rollback: [['rollback', (given) => rollback('none', given)]],
    BuildError: 'takes strings',
    InstallError: 'is created by the library',
    PackageError: 'is created by the library',
    deploymentTables: 'is a value',
    installedApplications: 'takes a folder',
  } satisfies DoorsOf<typeof deploymentEntry>,
  pgBoss: {
    pgBossQueue: [['pgBossQueue', (given) => pgBossQueue({} as never, given)]],
  } satisfies DoorsOf<typeof pgBossEntry>,
  bullmq: {
    bullmqQueue: 'takes a queue of BullMQ and a function',
  } satisfies DoorsOf<typeof bullmqEntry>,
}

/** What the entries of pages and traces export. */
export const pageDoors = {
  openapi: {
    openApiDocument: [
      ['openApiDocument', (given) => openApiDocument(service, given)],
      [
        'openApiDocument',
        (given) => openApiDocument(given, { application: 'desk', title: 'Desk' }),
      ],
    ],
    openapi: [['openapi', (given) => openapi(given)]],
    toYaml: [['toYaml', (given) => toYaml(given)]],
  } satisfies DoorsOf<typeof openapiEntry>,
  console: {
    adminConsole: [['adminConsole', (given) => adminConsole(given)]],
  } satisfies DoorsOf<typeof consoleEntry>,
  explorer: {
    explorer: [['explorer', (given) => explorer(given)]],
  } satisfies DoorsOf<typeof explorerEntry>,
  otel: {
    startTelemetry: [['startTelemetry', (given) => startTelemetry(given)]],
  } satisfies DoorsOf<typeof telemetryEntry>,
}
