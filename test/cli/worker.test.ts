import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { lineOf } from '../../src/cli/worker.ts'
import { createDeployment, type Deployment } from '../../src/entries/deployment.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { createService, defineCollection, text } from '../../src/entries/index.ts'
import { apiKeys } from '../../src/entries/security.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { packageBuilder } from '../kit/builders.ts'
import { projectWith, start, type Started } from './built.ts'

const maxMilliseconds = 60_000
let folder: string

const service = `
import { createService, defineCollection, text } from 'rowgate'
import { createDeployment, definitionBuilder } from 'rowgate/deployment'
import { apiKeys } from 'rowgate/security'
import { sqliteStorage } from 'rowgate/sqlite'
const countries = defineCollection({ key: 'code', fields: { code: text() } })
const applications = { sales: { collections: { countries } } }
const endless = { name: 'endless', build: () => new Promise(() => {}) }
export const deployment = createDeployment({
  solutions: [{ solutionId: 'shop', name: 'Shop', version: '1.0', applications }],
  environment: { environmentId: 'env-1', name: 'QA', url: 'https://qa.example.com/' },
  builder: process.env.ENDLESS ? endless : definitionBuilder(),
  workers: 0,
  pollInterval: 50,
})
export const service = createService({
  applications: { ...applications, ...deployment.applications },
  storage: sqliteStorage('data.db', { ensureSchema: true }),
  security: apiKeys({ name: 'API Key' }),
})
`

beforeAll(async () => {
  folder = await projectWith(service)
}, maxMilliseconds)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A service on the same database that leaves its builds to others. */
async function openQueue() {
  const countries = defineCollection({ key: 'code', fields: { code: text() } })
  const applications = { sales: { collections: { countries } } }
  const deployment: Deployment = createDeployment({
    solutions: [{ solutionId: 'shop', name: 'Shop', version: '1.0', applications }],
    environment: { environmentId: 'env-1', name: 'QA', url: 'https://qa.example.com/' },
    builder: packageBuilder(),
    workers: 0,
  })
  const queueing = createService({
    applications: { ...applications, ...deployment.applications },
    storage: sqliteStorage(join(folder, 'data.db'), { ensureSchema: true, busyTimeout: 5_000 }),
    security: apiKeys({ name: 'API Key' }),
  })
  onTestFinished(() => queueing.close())
  await queueing.ready()
  if ((await queueing.users.get('deployer')) === undefined)
    await queueing.users.add({ user: 'deployer', roles: ['Deployment'] })
  const { key } = await queueing.keys.create({ user: 'deployer' })
  const client = createTestClient(queueing, { key })
  const path = '/svc-deploy/release-queue'
  return {
    queue: async () => {
      const { body } = await client.post(path, { solutionId: 'shop' })
      return String((body.item as Record<string, unknown>)['releaseId'])
    },
    state: async (releaseId: string) =>
      ((await client.get(`${path}/${releaseId}`)).body.item as Record<string, unknown>)['status'],
  }
}

function startWorker(
  environment: Readonly<Record<string, string>> = {},
  ...line: string[]
): Started {
  const started = start(folder, ['worker', ...line], { environment })
  onTestFinished(() => void started.child.kill('SIGKILL'))
  return started
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'a worker builds what others have queued, until %s',
  async (signal) => {
    const { queue, state } = await openQueue()
    const ids = [await queue(), await queue()]
    const { child, ended, said } = startWorker({}, '--concurrency', '2')
    for (const id of ids)
      await expect.poll(() => state(id), { timeout: 30_000, interval: 50 }).toBe('built')
    const late = await queue()
    await expect.poll(() => state(late), { timeout: 30_000, interval: 50 }).toBe('built')
    child.kill(signal)
    const { code, output } = await ended
    expect([code, output], said()).toEqual([0, ''])
    expect(said()).toContain('Building queued releases, 2 builds at a time.\n')
    expect(said()).toContain(`${late} started\n`)
    expect(said()).toContain(`${late} built\n`)
    expect(said()).toMatch(/Stopping: unfinished work is returned to its queue\.\n$/)
  },
  maxMilliseconds,
)

test(
  'a stopped worker returns its builds to the queue',
  async () => {
    const { queue, state } = await openQueue()
    const id = await queue()
    const { child, ended, said } = startWorker({ ENDLESS: 'yes' })
    await expect.poll(() => state(id), { timeout: 30_000, interval: 50 }).toBe('building')
    child.kill('SIGTERM')
    expect((await ended).code, said()).toBe(0)
    expect(await state(id)).toBe('queued')
  },
  maxMilliseconds,
)

test.each([
  ['0', 2, 'whole number of jobs, 1 to 64'],
  ['65', 2, 'whole number of jobs, 1 to 64'],
  ['two', 2, 'whole number of jobs, 1 to 64'],
])(
  '--concurrency %s is wrong usage',
  async (concurrency, code, message) => {
    const run = await startWorker({}, '--concurrency', concurrency).ended
    expect(run).toMatchObject({ code, output: '' })
    expect(run.messages).toContain(message)
  },
  maxMilliseconds,
)

test.each([
  [{ type: 'started', releaseId: 'r' }, 'r started'],
  [{ type: 'ended', releaseId: 'r', status: 'built' }, 'r built'],
  [{ type: 'failed', releaseId: 'r', error: new Error('no\nluck') }, 'r failed: no luck'],
  [{ type: 'lost', releaseId: 'r' }, 'r lost its worker'],
  [{ type: 'unreachable', error: new Error('away') }, 'storage could not be reached: away'],
  [{ type: 'line', releaseId: 'r' }, undefined],
  [{ type: 'progress', releaseId: 'r' }, undefined],
])('of the news %j people read: %s', (news, line) => {
  expect(lineOf(news)).toBe(line)
})
