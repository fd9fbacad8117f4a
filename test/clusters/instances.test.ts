import { randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createService, system } from '../../src/entries/index.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { balance } from '../deployment/checker.ts'
import { packageBuilder } from '../kit/builders.ts'
import { send } from '../kit/http-client.ts'
import { plainKeys } from '../kit/keys.ts'
import { missingServer as missingMariadb, testDatabase } from '../kit/mysql.ts'
import { missingServer, testSchema } from '../kit/postgres.ts'
import type { Running } from '../kit/programs.ts'
import { startProxy } from '../kit/proxy.ts'
import { missingRedis } from '../kit/redis.ts'
import { applications, deploymentOf } from './instances/applications.ts'
import { instances, type InstanceDatabase } from './instances/instance.ts'
import { counterIds, startLoad, type Tally } from './instances/load.ts'

/** A database that several instances share. */
interface SharedDatabase {
  readonly name: string
  readonly missing: string | undefined
  open(): Promise<{
    readonly address: { readonly host: string; readonly port: number }
    /** The database for an instance that reaches the server at an address. */
    readonly at: (address: { readonly host: string; readonly port: number }) => InstanceDatabase
    /** A direct connection. */
    readonly storage: StorageAdapter
    readonly remove: () => Promise<void>
  }>
}

const postgres: SharedDatabase = {
  name: 'PostgreSQL',
  missing: await missingServer(),
  open: async () => {
    const schema = await testSchema()
    const { user, database } = schema.address
    return {
      address: schema.address,
      at: ({ host, port }) => ({
        kind: 'postgres',
        host,
        port,
        user,
        database,
        schema: schema.name,
      }),
      storage: postgresStorage(schema.open(4), { ensureSchema: true }),
      remove: () => schema.drop(),
    }
  },
}

const mariadb: SharedDatabase = {
  name: 'MariaDB',
  missing: await missingMariadb(),
  open: async () => {
    const database = await testDatabase()
    const { user, password } = database.address
    return {
      address: database.address,
      at: ({ host, port }) => {
        const server = { host, port, user, password, database: database.name }
        return { kind: 'mysql', ...server }
      },
      storage: mysqlStorage(database.open({ connectionLimit: 4 }), { ensureSchema: true }),
      remove: () => database.drop(),
    }
  },
}

const { start, folder } = instances()
const redis = await missingRedis()
const runMilliseconds = Number(process.env['INSTANCES_MILLISECONDS'] ?? 12_000)
const lease = 3_000
// The default of maxStaleness.
const bound = 1_000
const points = 40

describe.each([postgres, mariadb])('three instances on $name', ({ missing, open }) => {
  test.skipIf((missing ?? redis) !== undefined)(
    'lose nothing while one is killed and connections are cut',
    { timeout: 120_000 + runMilliseconds },
    async () => {
      const { storage, at, network } = await opened(open)
      const { service, keys } = await setUp(storage)
      const log = join(folder(), 'log')
      const limited = { keyId: keys.limited.keyId, points, prefix: `rowgate-${randomUUID()}` }
      const run: { readonly program: Running; readonly port: number }[] = []
      const begin = async (name: string): Promise<void> => {
        const program = start({ name, database: at(network), log, lease, limited })
        run.push({ program, port: Number(await program.said('port')) })
      }
      await Promise.all(['first', 'second', 'third'].map(begin))
      const all = [...run]
      const ports = () => run.map(({ port }) => port)

      const load = startLoad({ clients: 24, ports, key: keys.load.key })
      let [cut, isStarting] = [0, false]
      const cutting = setInterval(() => {
        if (!isStarting) cut += network.reset(10)
      }, 150)
      await pause(runMilliseconds / 3)
      const [killed] = run.splice(1, 1)
      killed?.program.signal('SIGKILL')
      expect(await killed?.program.ended).toBe('SIGKILL')
      await pause(runMilliseconds / 3)
      // A service that can't read its tables at start ends; a process monitor would start it again.
      isStarting = true
      await begin('fourth')
      isStarting = false
      const probe = startProbe(ports(), keys.revoked.key)
      await pause(runMilliseconds / 6)
      await expect.poll(probe.accepted, { timeout: 30_000 }).toBeGreaterThan(0)
      await service.keys.revoke(keys.revoked.keyId)
      const revokedAt = performance.now()
      await pause(runMilliseconds / 6)
      clearInterval(cutting)
      const [probes, tally] = [await probe.stop(), await load.stop()]
      const allowed = await countAllowed(ports(), keys.limited.key)

      const accepted = tally.releases
      const built = async () => (await balance(storage, { accepted, log })).lost
      await expect.poll(built, { timeout: 60_000, interval: 500 }).toEqual([])
      const { releases, doubled } = await balance(storage, { accepted, log })
      const lost = [...(await lostEntries(service, tally)), ...(await lostSteps(service, tally))]
      const accepting = probes.filter(({ status }) => status === 200)
      const late = accepting.filter(({ sent }) => sent > revokedAt + bound)
      const { responses, acknowledged, wrong } = tally
      const counts = {
        ...{ responses, acknowledged, lost: lost.length, wrong: wrong.length, cut },
        ...{ accepted: accepted.length, built: releases.length, doubled: doubled.length },
        ...{ accepting: accepting.length, rejecting: probes.length - accepting.length, allowed },
      }
      console.log(`three instances: ${JSON.stringify(counts)}`)
      const faults = all.concat(run).flatMap(({ program }) => program.all('fault'))
      expect({ lost, wrong, doubled, late, faults }).toEqual({
        ...{ lost: [], wrong: [], doubled: [], late: [], faults: [] },
      })
      expect(allowed).toBe(points)
      expect(acknowledged).toBeGreaterThan(0)
    },
  )
})

/** Opens a database with a proxy before it. */
async function opened(open: SharedDatabase['open']) {
  const database = await open()
  onTestFinished(database.remove)
  const network = await startProxy(database.address)
  onTestFinished(() => network.stop())
  return { ...database, network }
}

/** Creates the tables, the keys and the counters. */
async function setUp(storage: StorageAdapter) {
  const { applications: own } = deploymentOf(packageBuilder(), { lease, workers: 0 })
  const service = createService({
    applications: { ...applications, ...own },
    storage,
    security: plainKeys(),
  })
  onTestFinished(() => service.close())
  await service.ready()
  await service.users.add({ user: 'client', roles: ['Deployment'] })
  const create = () => service.keys.create({ user: 'client' })
  const keys = { load: await create(), revoked: await create(), limited: await create() }
  const counters = service.as(system).collection('app', 'counters')
  for (const counterId of counterIds) await counters.insert({ counterId, balance: 0 })
  return { service, keys }
}

type OwnService = Awaited<ReturnType<typeof setUp>>['service']

/** The entries whose stored state no client can explain. */
async function lostEntries(service: OwnService, { ledgers }: Tally): Promise<readonly string[]> {
  const entries = service.as(system).collection('app', 'entries')
  const lost: string[] = []
  for (const own of ledgers) {
    for (const entryId of own.entryIds) {
      const stored = (await entries.filter({ entryId })).items[0]?.balance ?? null
      const states = own.statesOf(entryId)
      if (!states.includes(stored)) lost.push(`${entryId}: ${stored}, not ${states.join(' or ')}`)
    }
  }
  return lost
}

/** The counters that have less than was acknowledged, or more than was sent. */
async function lostSteps(service: OwnService, { counters }: Tally): Promise<readonly string[]> {
  const { items } = await service.as(system).collection('app', 'counters').filter()
  return items.flatMap(({ counterId, balance: stored }) => {
    const { added, unknown } = counters.get(counterId) ?? { added: 0, unknown: 0 }
    const isExplained = (stored ?? 0) >= added && (stored ?? 0) <= added + unknown
    return isExplained ? [] : [`${counterId}: ${stored}, not ${added} to ${added + unknown}`]
  })
}

/** Requests every instance with a key, until it is stopped. */
function startProbe(ports: readonly number[], key: string) {
  const agent = new Agent({ keepAlive: true })
  const state = { isStopped: false }
  const probes: { readonly sent: number; readonly status: number }[] = []
  const headers = { 'X-API-Key': key }
  const running = ports.map(async (port) => {
    while (!state.isStopped) {
      const sent = performance.now()
      const request = { method: 'GET', target: '/rest/v1/app/counters', headers }
      probes.push({ sent, status: (await send(port, agent, request)).status })
    }
  })
  return {
    accepted: () => probes.filter(({ status }) => status === 200).length,
    stop: async () => {
      state.isStopped = true
      await Promise.all(running)
      agent.destroy()
      return probes.filter(({ status }) => status !== 503)
    },
  }
}

/** Returns how many requests of a limited key are accepted by all instances together. */
async function countAllowed(ports: readonly number[], key: string): Promise<number> {
  const agent = new Agent({ keepAlive: true })
  const request = { method: 'GET', target: '/rest/v1/app/counters', headers: { 'X-API-Key': key } }
  const statuses: number[] = []
  for (let count = 0; count < 20; count++) {
    const answers = await Promise.all(ports.map((port) => send(port, agent, request)))
    statuses.push(...answers.map(({ status }) => status))
  }
  agent.destroy()
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
  return statuses.filter((status) => status === 200).length
}
