import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createService, defineCollection, integer, principal, text } from 'rowgate'
import { createDeployment, definitionBuilder, type Builder } from 'rowgate/deployment'
import { toNodeHandler } from 'rowgate/node'
import { sqliteStorage } from 'rowgate/sqlite'
import { createTestClient } from 'rowgate/testing'
import { databaseFile } from './announce.ts'

/** What this program measures, once for each process. */
export type BuildFigures =
  | { what: 'latency'; milliseconds: number[] }
  | { what: 'rate'; workers: number; perSecond: number }
  | { what: 'build-memory' | 'answer-memory'; packageMegabytes: number; megabytes: number }

const notes = defineCollection({ key: 'id', fields: { id: integer(), words: text() } })
const applications = { desk: { collections: { notes } } }
const order = { solutionId: 'desk', releaseNotes: 'measured' }

function open(workers: number, builder: Builder = definitionBuilder()) {
  const deployment = createDeployment({
    solutions: [{ solutionId: 'desk', name: 'Desk', version: '1.0', applications }],
    environment: { environmentId: 'bench', name: 'Bench', url: 'http://localhost' },
    builder,
    workers,
    queueLimit: 100_000,
    maxOpenReleases: 100_000,
  })
  const pipeline = principal('pipeline', { roles: ['Deployment'] })
  const service = createService({
    applications: { ...applications, ...deployment.applications },
    storage: sqliteStorage(databaseFile(), { ensureSchema: true }),
    security: { name: 'pipeline', anyone: pipeline },
  })
  const client = createTestClient(service)
  async function queue(): Promise<string> {
    const { body } = await client.post('/svc-deploy/release-queue', order)
    const releaseId = body.item?.['releaseId']
    if (typeof releaseId === 'string') return releaseId
    throw new Error(`A release was not queued: ${JSON.stringify(body)}`)
  }
  async function built(releaseId: string): Promise<void> {
    for (;;) {
      const { body } = await client.get(`/svc-deploy/release-queue/${releaseId}`)
      if (body.item?.['status'] === 'built') return
      if (body.item?.['status'] === 'failed') throw new Error('A build has failed.')
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  async function list(): Promise<string> {
    const { body } = await client.get('/svc-deploy/release?solutionId=desk')
    return String(body.items?.[0]?.['releaseId'])
  }
  return { service, queue, built, list }
}

async function latency(count: number): Promise<BuildFigures> {
  const { service, queue, built } = open(1)
  const milliseconds: number[] = []
  for (let turn = 0; turn < count; turn++) {
    const begun = performance.now()
    await built(await queue())
    milliseconds.push(performance.now() - begun)
  }
  await service.close()
  return { what: 'latency', milliseconds }
}

async function rate(workers: number, count: number): Promise<BuildFigures> {
  const { service, queue, built } = open(workers)
  await built(await queue())
  const begun = performance.now()
  const releases = await Promise.all(Array.from({ length: count }, queue))
  for (const releaseId of releases) await built(releaseId)
  const perSecond = (1000 * count) / (performance.now() - begun)
  await service.close()
  return { what: 'rate', workers, perSecond }
}

/** The most memory that work takes beyond what the process has before it. */
async function peakOf(work: () => Promise<void>): Promise<number> {
  const base = process.memoryUsage.rss()
  let peak = base
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 2)
  await work()
  clearInterval(watch)
  return Math.round((peak - base) / 1024 / 1024)
}

async function buildMemory(packageMegabytes: number): Promise<BuildFigures> {
  const bytes = packageMegabytes * 1024 * 1024
  const { service, queue, built } = open(1, {
    name: 'random',
    build: async () => ({ fileName: 'random.bin', bytes: randomBytes(bytes) }),
  })
  const megabytes = await peakOf(async () => built(await queue()))
  await service.close()
  return { what: 'build-memory', packageMegabytes, megabytes }
}

/** Answers with the package that another process has built in the same database. */
async function answerMemory(packageMegabytes: number): Promise<BuildFigures> {
  const { service, list } = open(0)
  const releaseId = await list()
  const server = createServer(toNodeHandler(service)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const megabytes = await peakOf(async () => {
    const path = `/rest/v1/svc-deploy/release/${releaseId}`
    const asked = get({ port, host: '127.0.0.1', path })
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    let length = 0
    for await (const chunk of answer) length += (chunk as Buffer).length
    if (length < packageMegabytes * 1024 * 1024) throw new Error('It did not arrive whole.')
  })
  server.close()
  await service.close()
  return { what: 'answer-memory', packageMegabytes, megabytes }
}

const [, , , what = '', amount = '1'] = process.argv
const measures: Record<string, () => Promise<BuildFigures>> = {
  latency: () => latency(50),
  rate: () => rate(Number(amount), 300),
  'build-memory': () => buildMemory(Number(amount)),
  'answer-memory': () => answerMemory(Number(amount)),
}
process.send?.(await measures[what]?.())
