import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { deploymentCollections } from '../../src/deployment/collections.ts'
import type { Builder } from '../../src/entries/deployment.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { gatedBuilder, packageBuilder, textOf } from '../kit/builders.ts'
import { missingServer, testSchema } from '../kit/postgres.ts'
import { allRows } from '../kit/storages.ts'
import { balance } from './checker.ts'
import { buildsIn, processes, type ProcessOrder } from './processes.ts'
import { openDeployment } from './deployment-service.ts'

const { start, folder } = processes()
const { buildLocks } = deploymentCollections

/** A database for several processes. */
interface SharedDatabase {
  readonly name: string
  open(directory: string): Promise<{
    readonly storage: StorageAdapter
    readonly database: ProcessOrder['database']
  }>
}

const sqlite: SharedDatabase = {
  name: 'SQLite',
  open: (directory) => {
    const file = join(directory, 'data.db')
    const storage = sqliteStorage(file, { ensureSchema: true })
    return Promise.resolve({ storage, database: { sqlite: file } })
  },
}

const postgres: SharedDatabase = {
  name: 'PostgreSQL',
  open: async () => {
    const schema = await testSchema()
    onTestFinished(() => schema.drop())
    const storage = postgresStorage(schema.open(5), { ensureSchema: true })
    return { storage, database: { postgres: schema.name } }
  },
}

const databases = (await missingServer()) === undefined ? [sqlite, postgres] : [sqlite]

/** A service of this process that leaves its builds to others, on a database that they share. */
async function shared(lease: number, builder: Builder = packageBuilder(), on = sqlite) {
  const directory = folder()
  const log = join(directory, 'log')
  const { storage, database } = await on.open(directory)
  const { ask, deployment } = await openDeployment({ storage, workers: 0, lease, builder })
  const order = (name: string) => ({ name, database, log, lease })
  return { directory, log, storage, ask, deployment, order }
}

test.each(databases)(
  'two processes on one $name database build 200 releases once each',
  { timeout: 150_000 },
  async (on) => {
    const { directory, log, storage, ask, order } = await shared(5_000, packageBuilder(), on)
    const accepted: string[] = []
    for (let count = 0; count < 4; count += 1) {
      const asked = await Promise.all(Array.from({ length: 50 }, () => ask.queue()))
      accepted.push(...asked.map(({ releaseId }) => String(releaseId)))
    }
    // Neither of them builds all of the releases before the other one has started.
    const until = join(directory, 'go')
    const both = ['one', 'two'].map((name) => start({ ...order(name), until }))
    for (const one of both) await one.said('building')
    writeFileSync(until, '')
    const built = async () => {
      const { releases } = await balance(storage, { accepted, log })
      return releases.filter(({ status }) => status === 'built').length
    }
    await expect.poll(built, { timeout: 120_000 }).toBe(200)
    const { releases, lost, doubled } = await balance(storage, { accepted, log })
    expect({ lost, doubled }).toEqual({ lost: [], doubled: [] })
    expect(releases.every(({ attempt }) => attempt === 1)).toBe(true)
    const builders = [...buildsIn(log).values()].map((attempts) => attempts.join())
    expect(new Set(builders)).toEqual(new Set(['1 one', '1 two']))
    for (const one of both) expect(await one.stop()).toBe(0)
    // The queue has one lock; builds that are not serial need none.
    expect(await allRows(storage, buildLocks)).toEqual([{ solutionId: '*', version: 200 }])
  },
)

test('a process that was stopped beyond its lease changes nothing when it continues', async () => {
  const { directory, log, storage, ask, order } = await shared(300)
  const until = join(directory, 'go')
  const stopped = start({ ...order('stopped'), until })
  await stopped.said('ready')
  const { releaseId } = await ask.queue()
  await stopped.said('building')
  stopped.signal('SIGSTOP')
  const other = start(order('other'))
  await ask.once(releaseId, 'built')
  expect(other.all('lost')).toEqual([releaseId])
  writeFileSync(until, '')
  stopped.signal('SIGCONT')
  const next = await ask.queue()
  await ask.once(next['releaseId'], 'built')
  expect(await stopped.stop()).toBe(0)
  const release = await ask.release(releaseId)
  expect(textOf(release['file'])).toBe(`${String(releaseId)} 2`)
  expect(buildsIn(log).get(String(releaseId))).toEqual(['1 stopped', '2 other'])
  const accepted = [releaseId, next['releaseId']].map(String)
  expect(await balance(storage, { accepted, log })).toMatchObject({ lost: [], doubled: [] })
  expect(await other.stop()).toBe(0)
})

test('a process whose event loop is blocked beyond its lease loses its build', async () => {
  const builder = gatedBuilder()
  const { directory, log, storage, ask, order, deployment } = await shared(200, builder)
  const until = join(directory, 'go')
  const blocked = start({ ...order('blocked'), until, blocks: true })
  await blocked.said('ready')
  const { releaseId } = await ask.queue()
  await blocked.said('building')
  const other = deployment.work()
  const { job, finish } = await builder.next()
  writeFileSync(until, '')
  expect(await blocked.stop()).toBe(0)
  // What it has built comes while the other one still builds.
  expect(await ask.release(releaseId)).toMatchObject({ status: 'building', file: null })
  finish()
  await ask.once(releaseId, 'built')
  expect(job).toMatchObject({ releaseId, attempt: 2 })
  expect(textOf((await ask.release(releaseId))['file'])).toBe(`${String(releaseId)} 2`)
  const accepted = [String(releaseId)]
  expect(await balance(storage, { accepted, log })).toMatchObject({ lost: [], doubled: [] })
  await other.stop()
})

test('clocks that differ by minutes take no build away', async () => {
  const { directory, log, storage, ask, order } = await shared(1_000)
  const until = join(directory, 'go')
  const early = start({ ...order('early'), until, clock: -300_000 })
  const late = start({ ...order('late'), until, clock: 300_000 })
  await Promise.all([early.said('ready'), late.said('ready')])
  const asked = [await ask.queue(), await ask.queue()].map(({ releaseId }) => String(releaseId))
  await Promise.all([early.said('building'), late.said('building')])
  // Some leases long each of them sees the other's build.
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  writeFileSync(until, '')
  for (const releaseId of asked) await ask.once(releaseId, 'built')
  const { releases, lost, doubled } = await balance(storage, { accepted: asked, log })
  expect({ lost, doubled }).toEqual({ lost: [], doubled: [] })
  expect(releases.map((release) => [release.attempt, release.lost])).toEqual([
    [1, 0],
    [1, 0],
  ])
  expect([...early.all('lost'), ...late.all('lost')]).toEqual([])
  await Promise.all([early.stop(), late.stop()])
})

test('processes that die over a release again and again make it fail, and others continue', async () => {
  const { directory, storage, ask, order, log } = await shared(150)
  const until = join(directory, 'go')
  const { releaseId } = await ask.queue()
  for (const name of ['one', 'two', 'three']) {
    const one = start({ ...order(name), until })
    await one.said('building')
    one.signal('SIGKILL')
    expect(await one.ended).toBe('SIGKILL')
  }
  const last = start(order('last'))
  await ask.once(releaseId, 'failed')
  const { releases } = await balance(storage, { accepted: [], log })
  expect(releases).toMatchObject([
    { attempt: 3, error: '3 workers stopped responding during this build.' },
  ])
  const next = await ask.queue()
  await ask.once(next['releaseId'], 'built')
  expect(await last.stop()).toBe(0)
})
