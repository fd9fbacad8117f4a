import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { optionsOf, useOf, type Given } from '../../src/cli/command.ts'
import { packageWith, releases } from '../deployment/install/packages.ts'
import { drivers, openHandle, rowsIn } from '../kit/databases.ts'
import type { SqliteDriver } from '../../src/entries/sqlite.ts'
import { projectWith, start } from './built.ts'

const maxMilliseconds = 120_000
let folder: string
let receiver: Server
let calls = 0

/** A service with a delivery and a build that wait, and workers for both. */
const service = (port: number) => `
import { createService, defineCollection, text } from 'rowgate'
import { connection, createOutbox, deliverTo, endpoint } from 'rowgate/consume'
import { createDeployment, definitionBuilder } from 'rowgate/deployment'
import { openapi } from 'rowgate/openapi'
import { apiKeys } from 'rowgate/security'
import { sqliteStorage } from 'rowgate/sqlite'
const mail = connection({ baseUrl: 'http://127.0.0.1:${port}', allowHttp: true, allowPrivateAddresses: true })
const send = endpoint(mail, { name: 'send', method: 'POST', path: '/send' })
const workers = process.env.WORKERS === 'none' ? 0 : 2
export const outbox = createOutbox({ endpoints: { send: deliverTo(send) }, workers, pollInterval: 10 })
const notes = defineCollection(
  { key: 'id', search: 'indexed', fields: { id: text(), words: text({ search: true }) } },
  { events: { Insert: { after: async (event) => { await outbox.enqueue(event, 'send', { body: {} }) } } } },
)
const applications = { desk: { collections: { notes } } }
export const deployment = createDeployment({
  solutions: [{ solutionId: 'desk', name: 'Desk', version: '1.0', applications: {} }],
  environment: { environmentId: 'env-1', name: 'QA', url: 'https://qa.example.com/' },
  builder: definitionBuilder(),
  workers,
  pollInterval: 10,
})
export const service = createService({
  applications: { ...applications, ...deployment.applications },
  storage: sqliteStorage('data.db', { ensureSchema: true }),
  security: apiKeys({ name: 'API Key', properties: { AllowInsecureHttp: true } }),
  outbox,
  pages: { openapi: openapi({ title: 'Desk' }) },
})
`

const prepare = `
import { system } from 'rowgate'
import { service } from './service.js'
await service.ready()
const desk = service.as(system)
await desk.collection('desk', 'notes').insert({ id: 'a', words: 'one' })
await desk.collection('svc-deploy', 'release-queue').insert({ solutionId: 'desk' })
await service.users.add({ user: 'maria', roles: ['Sales'] })
const { keyId } = await service.keys.create({ user: 'maria' })
console.log(keyId)
if (process.argv[2] === 'kill') process.kill(process.pid, 'SIGKILL')
await service.close()
process.exit(0)
`

beforeAll(async () => {
  receiver = createServer((_, response) => {
    calls++
    response.end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const { port } = receiver.address() as AddressInfo
  folder = await projectWith(service(port))
  await writeFile(join(folder, 'prepare.js'), prepare)
  await writeFile(join(folder, 'notes.json'), definition)
  await writeFile(join(folder, 'package.zip'), await packageWith(releases.first))
  await writeFile(join(folder, 'api.json'), document)
}, maxMilliseconds)
afterAll(async () => {
  receiver.close()
  await rm(folder, { recursive: true, force: true })
})

async function removeData() {
  for (const name of readdirSync(folder).filter((each) => /^(?:data|out)\b/.test(each)))
    await rm(join(folder, name), { recursive: true })
  calls = 0
}

const definition = JSON.stringify({
  desk: { collections: { notes: { key: 'id', fields: { id: { type: 'text' } } } } },
})
const document = JSON.stringify({
  openapi: '3.0.3',
  info: { title: 'Shop', version: '1' },
  paths: {},
})

/** The files of the folder with their contents, without those of the log of SQLite that no row depends on. */
function snapshot(): Readonly<Record<string, string>> {
  const names = readdirSync(folder).filter(
    (name) => name !== 'node_modules' && !name.endsWith('-shm'),
  )
  return Object.fromEntries(
    names
      .filter((name) => existsSync(join(folder, name)))
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      ]),
  )
}

/** Stores a waiting delivery and a queued build, and returns the identifiers that commands need. */
async function prepared(how: 'close' | 'kill') {
  const { default: process } = await import('node:process')
  const { spawnSync } = await import('node:child_process')
  const run = spawnSync(process.execPath, ['prepare.js', how], {
    cwd: folder,
    env: { ...process.env, WORKERS: 'none' },
    encoding: 'utf8',
  })
  const keyId = run.stdout.trim()
  expect(keyId, run.stderr).toMatch(/^[0-9a-f-]{36}$/)
  return keyId
}

function states() {
  const handle = openHandle(drivers[0] as SqliteDriver, join(folder, 'data.db'))
  try {
    return {
      deliveries: rowsIn(handle, 'SELECT state, attempt FROM rowgate_deliveries'),
      releases: rowsIn(handle, 'SELECT status, attempt FROM rowgate_releases'),
    }
  } finally {
    handle.close()
  }
}

function deliveryId(): string {
  const handle = openHandle(drivers[0] as SqliteDriver, join(folder, 'data.db'))
  try {
    const [row] = rowsIn(handle, 'SELECT id FROM rowgate_deliveries')
    return String((row as { readonly id: unknown }).id)
  } finally {
    handle.close()
  }
}

const waiting = {
  deliveries: [{ state: 'waiting', attempt: 0 }],
  releases: [{ status: 'queued', attempt: 0 }],
}

const reading: readonly string[] = [
  'keys list',
  'keys audit',
  'users list',
  'users roles maria',
  'check',
  'openapi',
  'outbox list',
  'outbox show <delivery>',
  'introspect data.db',
  'schema diff notes.json --storage data.db',
  'install package.zip --folder out --dry-run',
  'completion bash',
]

describe.each(['close', 'kill'] as const)('after a service that ended with %s', (how) => {
  let before: ReturnType<typeof snapshot>
  let delivery: string
  beforeAll(async () => {
    await prepared(how)
    delivery = deliveryId()
    before = snapshot()
  }, maxMilliseconds)
  test.each(reading)(
    'rowgate %s writes nothing, sends nothing and builds nothing',
    async (line) => {
      const words = line.replace('<delivery>', delivery).split(' ')
      const { code, messages, output } = await start(folder, words).ended
      expect(code, messages).toBe(0)
      expect(output).not.toBe('')
      expect(snapshot()).toEqual(before)
      expect(calls).toBe(0)
    },
    maxMilliseconds,
  )
  afterAll(removeData)
})

describe('a command on data of its own', () => {
  afterEach(removeData)
  test.each(['keys list', 'keys audit', 'users list', 'check', 'openapi', 'outbox list'])(
    'rowgate %s creates no database',
    async (line) => {
      const before = snapshot()
      const { code, messages } = await start(folder, line.split(' ')).ended
      expect(code, messages).toBe(0)
      expect(snapshot()).toEqual(before)
    },
    maxMilliseconds,
  )

  test.each([
    'keys create --user maria',
    'keys revoke <keyId>',
    'keys rotate <keyId>',
    'users add nino',
    'users roles maria --add Office',
    'users update maria --attribute region=South',
    'users disable maria',
    'users enable maria',
    'users password maria --none',
    'users remove maria',
  ])(
    'rowgate %s writes, but sends and builds nothing',
    async (line) => {
      const keyId = await prepared('close')
      const { code, messages } = await start(folder, line.replace('<keyId>', keyId).split(' '))
        .ended
      expect(code, messages).toBe(0)
      expect(states()).toEqual(waiting)
      expect(calls).toBe(0)
    },
    maxMilliseconds,
  )

  test(
    'rowgate worker sends and builds',
    async () => {
      await prepared('close')
      const { child, ended, said } = start(folder, ['worker'])
      await expect.poll(() => calls, { timeout: 60_000 }).toBe(1)
      await expect.poll(() => said(), { timeout: 60_000 }).toMatch(/ built\n/)
      child.kill('SIGTERM')
      expect((await ended).code).toBe(0)
      expect(states()).toMatchObject({
        deliveries: [{ state: 'delivered' }],
        releases: [{ status: 'built' }],
      })
    },
    maxMilliseconds,
  )

  test(
    'a module that writes while it is loaded fails a command that only reads',
    async () => {
      await writeFile(
        join(folder, 'out.js'),
        `import { service } from './service.js'
await service.users.ensure({ user: 'seeded' })
export { service }
`,
      )
      const run = (...line: string[]) => start(folder, [...line, '--service', 'out.js']).ended
      const rejected = await run('users', 'list')
      expect(rejected).toMatchObject({ code: 1, output: '' })
      expect(rejected.messages).toContain('A command that only reads has opened the service')
      expect((await run('users', 'add', 'maria')).code).toBe(0)
      expect(await run('users', 'list')).toMatchObject({ code: 0 })
    },
    maxMilliseconds,
  )
})

test('each command states whether it only reads', () => {
  const given: Given = { argument: 'x', one: () => undefined, all: () => [], has: () => false }
  const writing = commands.filter((command) => useOf(command, given) === 'write')
  expect(writing.map(({ name }) => name)).toEqual([
    ...['init', 'serve', 'schema apply', 'keys create', 'keys revoke', 'keys rotate'],
    ...[
      'users add',
      'users disable',
      'users enable',
      'users update',
      'users password',
      'users remove',
    ],
    ...['outbox retry', 'outbox drop', 'worker', 'release build', 'install', 'rollback'],
  ])
  const deciding = commands.filter(({ isReading }) => typeof isReading === 'function')
  for (const command of deciding) {
    const all: Given = {
      ...given,
      has: (name) => optionsOf(command).some((each) => each.name === name),
    }
    expect([useOf(command, given), useOf(command, all)].toSorted()).toEqual(['read', 'write'])
  }
})
