import { expect, test } from 'vitest'
import { filesBelow, importsOf, neighboursOf } from './tree.ts'

const ground = ['errors', 'observation', 'maybe-promise', 'tracing']
const core = [...ground, 'protocol', 'definition', 'request']
const aroundService = [
  'failure',
  'print-failures',
  'options',
  'publication',
  'in-process',
  'watch',
  'lifecycle',
]

/**
 * Who may import whom. A room is a folder of src, or a file directly in it without `.ts`; it may
 * import itself and what stands here: whole rooms, or single files of a room. No edge imports
 * another edge: storage, security, http and what is like them meet in service.ts and handle.ts only.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  observation: ['maybe-promise'],
  'maybe-promise': [],
  tracing: ['maybe-promise'],
  protocol: ['errors'],
  definition: ['errors', 'observation', 'protocol'],
  request: ['errors', 'observation', 'protocol', 'definition'],
  events: [...core, 'storage/adapter'],
  storage: core,
  security: [...core, 'storage/adapter'],
  http: core,
  otel: ['errors', 'tracing', 'protocol/names', 'definition/options'],
  consume: core,
  openapi: core,
  client: ['errors', 'protocol', 'definition'],
  cli: [
    ...core,
    'client',
    'deployment/install/changes',
    'deployment/install/install-package',
    'deployment/install/rollback',
    'deployment/package/sha256',
    'deployment/queue',
    'security/keys/key-store',
    'security/users/user-store',
    'storage/adapter',
    'storage/sqlite',
  ],
  deployment: [...core, 'storage/adapter', 'storage/checked'],
  conformance: [...core, 'storage/adapter', 'security/provider', 'deployment/queue'],
  failure: ['errors', 'observation', 'maybe-promise', 'storage/adapter'],
  'print-failures': ['observation'],
  options: [
    ...core,
    'print-failures',
    'watch',
    'storage/adapter',
    'security/check',
    'security/provider',
    'security/limiter',
    'security/users/user-store',
  ],
  publication: core,
  watch: core,
  lifecycle: ['errors', 'maybe-promise'],
  'in-process': [...core, 'events', 'publication'],
  handle: [...core, 'events', 'security', 'http', ...aroundService],
  service: [
    ...core,
    'events',
    'security',
    'http',
    'storage/checked',
    'storage/open-once',
    'storage/traced',
    'handle',
    ...aroundService,
  ],
  index: [...core, 'events', 'storage', 'security', 'http', 'service', ...aroundService],
}

const files = filesBelow('src', '.ts')
const edges = files.flatMap((from) => neighboursOf(from).map((to) => ({ from, to })))

function placeOf(path: string): string {
  return path.replace(/^src\//, '').replace(/\.ts$/, '')
}

function roomOf(path: string): string {
  return placeOf(path).split('/')[0] ?? ''
}

function isAllowed(from: string, to: string): boolean {
  const allowed = mayImport[roomOf(from)] ?? []
  return (
    roomOf(from) === roomOf(to) || allowed.includes(roomOf(to)) || allowed.includes(placeOf(to))
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

test('every room of src has a row in the table', () => {
  expect(files.map(roomOf).filter((room) => !Object.hasOwn(mayImport, room))).toEqual([])
})

test('every import follows the table', () => {
  const strays = edges.filter(({ from, to }) => !isAllowed(from, to))
  expect(strays.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
})

test('every relative import names a file of src, with its ending', () => {
  const lost = edges.filter(({ to }) => !files.includes(to))
  expect(lost.map(({ from, to }) => `${from} imports ${to}`)).toEqual([])
})

test('no file imports the package by its own name', () => {
  const selves = files.filter((file) => importsOf(file).some((name) => /^rowgate(\/|$)/.test(name)))
  expect(selves).toEqual([])
})

test('no file imports itself by a detour', () => {
  expect(cyclesOf(files)).toEqual([])
})
