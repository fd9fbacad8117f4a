import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { Pool } from 'pg'
import { createService, defineCollection, integer, text } from 'rowgate'
import { createDeployment, type BuildEvent, type Deployment } from 'rowgate/deployment'
import { toNodeHandler } from 'rowgate/node'
import { postgresStorage } from 'rowgate/postgres'
import { apiKeys } from 'rowgate/security'
import { sqliteStorage } from 'rowgate/sqlite'
import type { StorageAdapter } from 'rowgate/storage'
import { countExecutedFiles, type ExecutedFiles } from './executed-files.ts'

const customers = defineCollection({
  key: 'id',
  fields: { id: integer(), name: text({ required: true }), city: text() },
})
const orders = defineCollection({
  key: 'id',
  fields: { id: integer(), customer: integer({ references: 'customers' }) },
})
const applications = { sales: { collections: { customers, orders } } }
const openDeployment = (watch: (event: BuildEvent) => void): Deployment =>
  createDeployment({
    watch,
    solutions: [{ solutionId: 'shop', name: 'Shop', version: '1.0', applications }],
    environment: { environmentId: 'test', name: 'Test', url: 'https://test.example.com/' },
    builder: {
      name: 'test',
      build: () => Promise.resolve({ fileName: 'shop.zip', bytes: Buffer.from('shop') }),
    },
  })

/**
 * Prints how long the paths of requests through `src` are, in frames and files. With the variable PATHS, it lists these.
 */
export async function measurePaths(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rowgate-paths-'))
  try {
    const handle = new Database(join(folder, 'paths.db'))
    const [frames, read] = await withLine(
      sqliteStorage(handle, { ensureSchema: true }),
      async (line) => [await saveFrames(handle, line), await readFiles(line)] as const,
    )
    handle.close()
    return [
      ...frames,
      read,
      await postgresInsert(),
      await buildFiles(join(folder, 'builds.db')),
    ].join('\n')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Sends requests to a service over HTTP, with the key of a user. */
interface Line {
  get(path: string): Promise<unknown>
  post(path: string, body: object): Promise<unknown>
  /** Resolves when the next build has ended. */
  built(): Promise<void>
}

async function withLine<Result>(
  storage: StorageAdapter,
  work: (line: Line) => Promise<Result>,
): Promise<Result> {
  const waiting: (() => void)[] = []
  const deployment = openDeployment(({ type }) => {
    if (type === 'ended') waiting.shift()?.()
  })
  const service = createService({
    applications: { ...applications, ...deployment.applications },
    storage,
    security: apiKeys({ name: 'API Key', properties: { AllowInsecureHttp: true } }),
    report: (report) => {
      throw new Error(`Unexpected report: ${JSON.stringify(report)}`)
    },
  })
  await service.ready()
  await service.users.add({ user: 'maria', roles: ['Deployment'] })
  const { key } = await service.keys.create({ user: 'maria' })
  const server = createServer(toNodeHandler(service))
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const send = async (path: string, options: RequestInit = {}): Promise<unknown> => {
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' }
    const reply = await fetch(`http://127.0.0.1:${port}/rest/v1${path}`, { ...options, headers })
    const body: unknown = await reply.json()
    if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${JSON.stringify(body)}`)
    return body
  }
  try {
    return await work({
      get: (path) => send(path),
      post: (path, body) => send(path, { method: 'POST', body: JSON.stringify(body) }),
      built: () => new Promise((done) => void waiting.push(done)),
    })
  } finally {
    server.closeAllConnections()
    server.close()
    await service.close()
  }
}

let lastId = 0

/** Returns new rows of customers and orders. */
function insertOf(line: Line): () => Promise<void> {
  return async () => {
    const id = ++lastId
    await line.post('/sales/customers', { id, name: `Customer ${id}`, city: null })
    await line.post('/sales/orders', { id, customer: id })
  }
}

type Statement = Readonly<Record<'run' | 'get' | 'all', (...values: unknown[]) => unknown>>

/** Returns the deepest chain of frames in `src` at which the driver runs the statement of a save. */
async function saveFrames(handle: Database.Database, line: Line): Promise<readonly string[]> {
  const prototype = Object.getPrototypeOf(handle.prepare('select 1')) as Record<
    keyof Statement,
    Statement['run']
  >
  const methods = ['run', 'get', 'all'] as const
  const original = Object.fromEntries(methods.map((name) => [name, prototype[name]]))
  const limit = Error.stackTraceLimit
  const insert = insertOf(line)
  await insert()
  let deepest: readonly string[] = []
  Error.stackTraceLimit = Infinity
  for (const name of methods) {
    prototype[name] = function (this: { readonly source: string }, ...values) {
      if (/^\s*(?:insert|update|delete|replace)\b/i.test(this.source)) {
        const frames = framesOf(new Error().stack)
        if (frames.length > deepest.length) deepest = frames
      }
      return original[name]?.apply(this, values)
    }
  }
  try {
    await insert()
    await line.post(`/sales/customers/${lastId}`, { id: lastId, name: 'Other', city: 'Oslo' })
  } finally {
    Error.stackTraceLimit = limit
    for (const name of methods) prototype[name] = original[name] as Statement['run']
  }
  const files = new Set(deepest.map((frame) => /src\/[^:)?]+/.exec(frame)?.[0]))
  const waiting = deepest.filter((frame) => /at (?:async )?when[A-Z]\w* \(/.test(frame))
  return [
    `frames of a save on SQLite: ${deepest.length} in ${files.size} files, ${waiting.length} of them whenX`,
    ...(process.env['PATHS'] === undefined ? [] : deepest.map((frame) => `  ${frame.trim()}`)),
  ]
}

function framesOf(stack = ''): readonly string[] {
  return stack.split('\n').filter((line) => /\/src\/[^:]+\.ts/.test(line))
}

async function filesOf(
  title: string,
  count: (executed: ExecutedFiles) => Promise<readonly string[]>,
): Promise<string> {
  const executed = await countExecutedFiles()
  try {
    const files = await count(executed)
    const listed = process.env['PATHS'] === undefined ? '' : `\n  ${files.join(' ')}`
    return `${title}: ${files.length}${listed}`
  } finally {
    await executed.end()
  }
}

async function readFiles(line: Line): Promise<string> {
  const read = (): Promise<unknown> => line.get('/sales/customers?city=Oslo&$sort=-name&$limit=5')
  await read()
  return filesOf('files run by the second identical GET', ({ during }) => during(read))
}

async function postgresInsert(): Promise<string> {
  const title = 'files run by a saved insert on PostgreSQL'
  const schema = `paths_${randomUUID().replaceAll('-', '')}`
  const pool = new Pool({
    host: process.env['PGHOST'] ?? '127.0.0.1',
    port: Number(process.env['PGPORT'] ?? 5432),
    user: process.env['PGUSER'] ?? 'postgres',
    database: process.env['PGDATABASE'] ?? 'test',
    connectionTimeoutMillis: 2_000,
    options: `-c search_path=${schema}`,
  })
  try {
    await pool.query(`create schema ${schema}`)
  } catch (error) {
    await pool.end()
    return `${title}: not measured (${String(error)})`
  }
  try {
    return await withLine(postgresStorage(pool, { ensureSchema: true }), async (line) => {
      const insert = insertOf(line)
      await insert()
      await insert()
      return filesOf(title, ({ during }) =>
        during(() => line.post('/sales/customers', { id: ++lastId, name: 'New', city: null })),
      )
    })
  } finally {
    await pool.query(`set client_min_messages = warning; drop schema ${schema} cascade`)
    await pool.end()
  }
}

/** Returns the files that a queued build runs: the request, its claim, the builder, and the release that it stores. */
function buildFiles(file: string): Promise<string> {
  return withLine(sqliteStorage(file, { ensureSchema: true }), async (line) => {
    const build = async (): Promise<void> => {
      const done = line.built()
      await line.post('/svc-deploy/release-queue', { solutionId: 'shop' })
      await done
    }
    await build()
    return filesOf('files run by one build', ({ during }) => during(build))
  })
}
