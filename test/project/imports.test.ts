import { expect, test } from 'vitest'
import { filesBelow, importsOf, neighboursOf, runTimeImportsOf } from './tree.ts'

const ground = [
  'builtin',
  'errors',
  'messages',
  'maybe-promise',
  'runtime',
  'checks',
  'workload',
  'observation/reports',
  'observation/channels',
  'observation/open-transaction',
]
const core = [...ground, 'protocol', 'definition', 'request']
const ports = ['storage/adapter', 'storage/homes', 'storage/problem', 'storage/read-only-opening']
const aroundService = [
  'administered',
  'authenticate',
  'failure',
  'options',
  'publication',
  'in-process',
  'lifecycle',
  'service-part',
]

/**
 * Who may import whom. A file directly in src counts as a folder with its name, without `.ts`. A folder may import
 * itself and what is listed here: whole folders, folders in them, or single files. A folder in a folder may have a row of
 * its own, which then holds for its files. No adapter, provider or binding imports another one: storage, security, http
 * and the like meet only in service.ts and handle.ts.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  builtin: [],
  errors: ['checks', 'messages/message'],
  messages: ['checks'],
  observation: core,
  checks: ['runtime'],
  workload: [],
  'maybe-promise': ['runtime'],
  runtime: [],
  protocol: ['errors', 'messages'],
  definition: [
    'errors',
    'messages',
    'checks',
    'maybe-promise',
    'observation/reports',
    'protocol',
    'runtime',
  ],
  request: [
    'builtin',
    'errors',
    'messages',
    'maybe-promise',
    'runtime',
    'checks',
    'protocol',
    'definition',
  ],
  cache: [...core, 'storage/adapter'],
  events: [...core, 'storage/adapter', 'work/repeat-conflicts'],
  'command-use': [],
  'keep-latest': [],
  // The port, and the reads and writes of the library's own tables.
  storage: core,
  'storage/layers': [...core, ...ports],
  'storage/inspection': [...core, ...ports],
  'storage/write-lock': [...core, ...ports],
  'storage/memory': [...core, ...ports, 'storage/layers', 'storage/write-lock'],
  'storage/mount': [
    ...core,
    ...ports,
    'storage/held-transaction',
    'storage/inspection',
    'storage/layers',
  ],
  'storage/sql': [
    ...core,
    ...ports,
    'keep-latest',
    'schema',
    'storage/pool/connection',
    'storage/pool/failure',
  ],
  'storage/sqlite': [
    ...core,
    ...ports,
    'command-use',
    'keep-latest',
    'schema',
    'storage/layers/self-checking',
    'storage/sql',
    'storage/write-lock',
  ],
  'storage/pool': [
    ...core,
    ...ports,
    'schema',
    'storage/held-transaction',
    'storage/layers',
    'storage/sql',
  ],
  'storage/postgres': [...core, ...ports, 'keep-latest', 'schema', 'storage/pool', 'storage/sql'],
  'storage/mysql': [...core, ...ports, 'schema', 'storage/pool', 'storage/sql'],
  'bounded-bytes': [],
  'runtime-fetch': [],
  security: [
    ...core,
    'bounded-bytes',
    'keep-latest',
    'runtime-fetch',
    'storage/adapter',
    'storage/fitting-rows',
    'storage/table',
  ],
  http: core,
  otel: ['errors', 'checks', 'workload', 'observation/channels', 'protocol/names', 'runtime'],
  consume: [
    ...core,
    'bounded-bytes',
    'work',
    'events/saves/in-sequence',
    'events/units/join-transaction',
    'in-process',
    'service-part',
    'storage/adapter',
    'storage/fitting-rows',
    'storage/table',
  ],
  work: [
    'builtin',
    'runtime',
    'keep-latest',
    'definition/published',
    'storage/adapter',
    'storage/fitting-rows',
    'storage/table',
  ],
  idempotency: [
    ...core,
    'events/units/unit',
    'failure',
    'keep-latest',
    'service-part',
    'storage/adapter',
    'storage/fitting-rows',
    'storage/homes',
    'storage/table',
    'work',
  ],
  openapi: [...core, 'keep-latest', 'pages/page', 'publication', 'security/provider'],
  pages: [...core, 'security/provider'],
  explorer: ['checks', 'pages/asset', 'pages/page', 'pages/sign-in-methods'],
  console: ['checks', 'openapi/page', 'pages/asset', 'pages/page', 'pages/sign-in-methods'],
  // What browsers load imports nothing of the service.
  'console/app': [],
  client: [...core, 'in-process', 'runtime-fetch', 'service'],
  schema: [
    ...core,
    'consume/openapi/typescript-text',
    'storage/adapter',
    'storage/inspection',
    'storage/mysql',
    'storage/pool',
    'storage/postgres',
    'storage/problem',
    'storage/sql',
    'storage/sqlite',
  ],
  cli: [
    ...core,
    'administration/administration',
    'client',
    'command-use',
    'console/admin-console',
    'schema',
    'consume/openapi/document',
    'consume/openapi/describe-endpoint',
    'consume/openapi/import-openapi',
    'consume/outbox/delivery',
    'consume/tables/describe-tables',
    'consume/tables/table-description',
    'consume/tables/tables-error',
    'deployment/install/changes',
    'deployment/install/install-package',
    'deployment/install/rollback',
    'deployment/package/sha256',
    'deployment/queue',
    'explorer/explorer',
    'http/serve',
    'openapi',
    'pages/page',
    'security/keys/api-key',
    'security/keys/key-store',
    'security/users/user-store',
    'service',
    'storage',
  ],
  deployment: [
    ...core,
    'events/units/storage-calls',
    'service-part',
    'storage/adapter',
    'storage/fitting-rows',
    'storage/table',
    'work',
  ],
  administration: [
    ...core,
    'consume/outbox',
    'deployment/collections',
    'deployment/deployment',
    'events/units/storage-calls',
    'security',
    'service-part',
    'storage/adapter',
    'storage/fitting-rows',
    'storage/problem',
    'storage/table',
  ],
  conformance: [...core, 'storage/adapter', 'security/provider', 'deployment/queue'],
  failure: [
    'errors',
    'messages/message',
    'observation/reports',
    'maybe-promise',
    'storage/adapter',
  ],
  'service-part': [
    ...core,
    'cache/response-cache',
    'in-process',
    'security/limiter',
    'security/secure',
    'storage/adapter',
    'storage/problem',
  ],
  options: [
    ...core,
    'cache/response-cache',
    'pages/page',
    'service-part',
    'observation',
    'storage/adapter',
    'security/check',
    'security/provider',
    'security/limiter',
    'security/users/user-store',
  ],
  authenticate: [
    ...core,
    'events/units/budget',
    'failure',
    'http/own-request',
    'http/write',
    'lifecycle',
    'security/gate',
  ],
  administered: [
    ...core,
    'cache/response-cache',
    'options',
    'publication',
    'security/secure',
    'service-part',
    'storage/adapter',
    'storage/inspection',
  ],
  publication: core,
  lifecycle: ['errors', 'maybe-promise', 'runtime'],
  'in-process': [...core, 'events', 'publication'],
  handle: [
    ...core,
    'cache',
    'observation',
    'events',
    'idempotency',
    'pages/pages',
    'security',
    'http',
    ...aroundService,
  ],
  assemble: [
    ...core,
    'cache',
    'command-use',
    'events',
    'idempotency',
    'pages',
    'security',
    'http',
    'storage/adapter',
    'storage/layers',
    'work/repeat-conflicts',
    'handle',
    ...aroundService,
  ],
  service: [
    ...core,
    'assemble',
    'cache/response-cache',
    'observation',
    'pages/page',
    'security',
    'storage/inspection',
    'storage/problem',
    'handle',
    ...aroundService,
  ],
  entries: [
    ...core,
    'administration',
    'cache',
    'client',
    'conformance',
    'console',
    'consume',
    'deployment',
    'events',
    'explorer',
    'http',
    'idempotency',
    'observation',
    'openapi',
    'otel',
    'pages/page',
    'security',
    'service',
    'storage',
    'work',
    ...aroundService,
  ],
}

const files = [...filesBelow('src', '.ts'), ...filesBelow('src', '.tsx')]
const edges = files.flatMap((from) => neighboursOf(from).map((to) => ({ from, to })))

function placeOf(path: string): string {
  return path.replace(/^src\//, '').replace(/\.tsx?$/, '')
}

function folderOf(path: string): string {
  return placeOf(path).split('/')[0] ?? ''
}

/** Returns the row of a file: that of the folder in its folder, if there is one. */
function rowOf(path: string): string {
  const inner = placeOf(path).split('/').slice(0, -1).slice(0, 2).join('/')
  return Object.hasOwn(mayImport, inner) ? inner : folderOf(path)
}

function isAllowed(from: string, to: string): boolean {
  const allowed = mayImport[rowOf(from)] ?? []
  return (
    rowOf(from) === rowOf(to) || allowed.some((place) => `${placeOf(to)}/`.startsWith(`${place}/`))
  )
}

/** The first way found from each file back to itself. */
function cyclesOf(paths: readonly string[]): readonly string[] {
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '))
    } else if (!done.has(path)) {
      for (const next of neighboursOf(path).filter((to) => paths.includes(to)))
        visit(next, [...trail, path])
      done.add(path)
    }
  }
  for (const path of paths) visit(path, [])
  return cycles
}

test('every folder of src has a row in the table', () => {
  expect(files.map(folderOf).filter((folder) => !Object.hasOwn(mayImport, folder))).toEqual([])
})

test('every import follows the table', () => {
  const strays = edges.filter(({ from, to }) => !isAllowed(from, to))
  expect(strays.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
})

test('every relative import names a file of src, with its ending', () => {
  const lost = edges.filter(({ to }) => !files.includes(to))
  expect(lost.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
})

test('the client imports types of the service only: a browser loads none of its code', () => {
  // Neither of the two files imports anything.
  const own = /^\.\/|^\.\.\/(?:runtime-fetch|checks\/plain-object)\.ts$/
  const client = files.filter((path) => folderOf(path) === 'client')
  const strays = client.flatMap((path) =>
    runTimeImportsOf(path).filter((specifier) => !own.test(specifier)),
  )
  expect(strays).toEqual([])
})

test('no file imports the package by its own name', () => {
  const selves = files.filter((file) => importsOf(file).some((name) => /^rowgate(\/|$)/.test(name)))
  expect(selves).toEqual([])
})

test('no file imports itself by a detour', () => {
  expect(cyclesOf(files)).toEqual([])
})
