import { once } from 'node:events'
import { appendFileSync, existsSync, writeSync } from 'node:fs'
import { createDeployment, type Builder } from '../../src/entries/deployment.ts'
import { deploymentCollections } from '../../src/deployment/collections.ts'
import { createService, openAccess, principal } from '../../src/entries/index.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { schemaPool } from '../kit/postgres.ts'
import { killingStorage } from './killing-storage.ts'
import { packageOf } from '../kit/builders.ts'
import { applications, environment, solutions } from './solutions.ts'
import type { ProcessOrder } from './processes.ts'

// A process of its own with a service: it works the queue until its input ends, or does one build and
// ends, unless it has killed itself before. It prints what becomes of it, one word and its value a line.
const order = JSON.parse(process.argv[2] ?? '') as ProcessOrder
const say = (word: string, value: unknown): void => {
  writeSync(1, `${word} ${String(value)}\n`)
}

let isArmed = false
let marks = 0
const mark = (point: string): void => {
  if (!isArmed) return
  marks += 1
  if (marks === order.killAt) {
    say('killed', point)
    process.kill(process.pid, 'SIGKILL')
  }
}

const builder: Builder = {
  name: 'process',
  build: async (job) => {
    mark('build begins')
    appendFileSync(order.log, `${job.releaseId} ${job.attempt} ${order.name}\n`)
    say('building', job.releaseId)
    while (order.until !== undefined && !existsSync(order.until)) {
      if (order.blocks === true) block()
      else await pause()
    }
    mark('build ends')
    return packageOf(job)
  },
}

const { database } = order
const storage =
  'sqlite' in database
    ? sqliteStorage(database.sqlite, { ensureSchema: true })
    : postgresStorage(schemaPool(database.postgres), { ensureSchema: true })
const deployment = createDeployment({
  solutions,
  environment,
  builder,
  workers: order.build === 'release' ? 0 : 1,
  lease: order.lease,
  pollInterval: order.build === undefined ? 20 : 60_000,
  watch: (news) => {
    if (news.type === 'lost') say('lost', news.releaseId)
  },
  ...(order.clock !== undefined && { now: () => new Date(Date.now() + (order.clock ?? 0)) }),
})
const service = createService({
  applications: { ...applications, ...deployment.applications },
  storage: killingStorage(storage, mark),
  security: openAccess(),
})
await service.ready()
say('ready', process.pid)
if (order.build === undefined) {
  process.stdin.resume()
  await once(process.stdin, 'end')
} else {
  await pause()
  isArmed = true
  const deployer = service.as(principal('deployer', { roles: ['Deployment'] }))
  const { insert } = deployer.collection('svc-deploy', order.build)
  const answer = await insert({ solutionId: 'northwind', snapshot: true })
  say('accepted', 'item' in answer ? (answer.item as { releaseId: string }).releaseId : 'nothing')
  while (!(await isQuiet())) await pause()
  isArmed = false
  say('marks', marks)
}
await service.close()

async function isQuiet(): Promise<boolean> {
  const page = { conditions: [], search: null, sort: [], limit: 10, offset: 0, count: false }
  const { rows } = await storage.filter(deploymentCollections.releases, {
    ...page,
    select: ['status'],
  })
  return rows.every(({ status }) => status === 'built' || status === 'failed')
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 10))
}

/** Keeps the event loop from running. */
function block(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
}
