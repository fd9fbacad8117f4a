import { describe, expect, test } from 'vitest'
import { createDeployment } from '../../src/entries/deployment.ts'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  mount,
  openAccess,
  principal,
  text,
} from '../../src/entries/index.ts'
import { startTelemetry } from '../../src/entries/otel.ts'
import { openOrders } from '../consume/outbox/orders-service.ts'
import { respond } from '../consume/server.ts'
import { packageBuilder } from '../kit/builders.ts'
import { ownDatabases, type OwnDatabase } from '../kit/own-databases.ts'
import { afterTest, listenToDiag, openSdk } from './otel-stage.ts'

const orders = defineCollection({ key: 'id', fields: { id: integer(), title: text() } })

function startGauges() {
  const sdk = openSdk()
  const { tracerProvider, meterProvider } = sdk
  const telemetry = startTelemetry({ tracerProvider, meterProvider })
  afterTest(() => telemetry.stop())
  return { sdk, telemetry }
}

test('the deliveries of an outbox are counted by state, and dead ones are among them', async () => {
  const { sdk, telemetry } = startGauges()
  const { service, order, outbox, once, receive } = await openOrders({
    workers: 0,
    attempts: 100,
    receive: (_call, response) => respond(response, { message: 'No such order.' }, 400),
  })
  telemetry.observe(service)
  await order('refused')
  const worker = outbox.work()
  await once('dead')
  receive((_call, response) => respond(response, {}, 503))
  for (const id of ['first', 'second', 'third']) await order(id, 'lane')
  const behind = async () => (await outbox.list({ state: 'behind' })).length
  await expect.poll(behind).toBe(2)
  await worker.stop()
  const state = 'rowgate.delivery.state'
  expect(await sdk.numbers('rowgate.outbox.deliveries')).toEqual([
    [{ [state]: 'behind' }, 2],
    [{ [state]: 'waiting' }, 1],
    [{ [state]: 'sending' }, 0],
    [{ [state]: 'dead' }, 1],
  ])
  expect(await service.workload()).toEqual({
    deliveries: { behind: 2, waiting: 1, sending: 0, dead: 1 },
    builds: null,
  })
})

test('the releases in the build queue are counted by state', async () => {
  const { sdk, telemetry } = startGauges()
  const applications = { sales: { collections: { orders } } }
  const deployment = createDeployment({
    solutions: [{ solutionId: 'shop', name: 'Shop', version: '1.0', applications }],
    environment: { environmentId: 'qa', name: 'QA', url: 'https://qa.example.com/' },
    builder: packageBuilder(),
    workers: 0,
  })
  const service = createService({
    applications: { ...applications, ...deployment.applications },
    storage: memoryStorage(),
    security: openAccess(),
  })
  afterTest(() => service.close())
  telemetry.observe(service, { name: 'shop' })
  const deployer = service.as(principal('deployer', { roles: ['Deployment'] }))
  const queue = deployer.collection('svc-deploy', 'release-queue')
  expect(await queue.insert({ solutionId: 'shop' })).toMatchObject({ rejected: false })
  const own = { 'rowgate.service': 'shop' }
  expect(await sdk.numbers('rowgate.build.releases')).toEqual([
    [{ ...own, 'rowgate.release.state': 'queued' }, 1],
    [{ ...own, 'rowgate.release.state': 'building' }, 0],
  ])
})

describe.each(ownDatabases)('with $name', ({ missing, create }) => {
  const open = async (): Promise<OwnDatabase> => {
    const database = await create()
    afterTest(() => database.drop())
    return database
  }

  test.skipIf(missing !== undefined)('the connections of a pool are counted', async () => {
    const { sdk, telemetry } = startGauges()
    const database = await open()
    const service = createService({
      applications: { sales: { collections: { orders } } },
      storage: database.open({ ensureSchema: true }),
      security: openAccess(),
    })
    afterTest(() => service.close())
    await service.ready()
    telemetry.observe(service)
    const items = service.as(principal('maria')).collection('sales', 'orders')
    const ids = [1, 2, 3, 4, 5]
    await Promise.all(ids.map((id) => items.insert({ id, title: 'one' })))
    const unlock = await database.lock('orders')
    // Inserts and updates would wait for each other instead.
    const deletes = ids.map((id) => items.delete(id))
    const loads = () => service.statistics().connections
    await expect.poll(() => loads()[0]).toMatchObject({ used: 2, idle: 0, max: 2, pending: 3 })
    const [load] = loads()
    const pool = { 'db.client.connection.pool.name': load?.name }
    const state = 'db.client.connection.state'
    expect(await sdk.numbers('db.client.connection.count')).toEqual([
      [{ ...pool, [state]: 'used' }, 2],
      [{ ...pool, [state]: 'idle' }, 0],
    ])
    expect(await sdk.numbers('db.client.connection.max')).toEqual([[pool, 2]])
    expect(await sdk.numbers('db.client.connection.pending_requests')).toEqual([[pool, 3]])
    await unlock()
    await Promise.all(deletes)
    await expect.poll(() => loads()[0]).toMatchObject({ used: 0, idle: 2, pending: 0 })
  })

  test.skipIf(missing !== undefined)('pools of one service have different names', async () => {
    const { sdk, telemetry } = startGauges()
    const [one, other] = [await open(), await open()]
    const service = createService({
      applications: { sales: { collections: { orders, lines: orders } } },
      storage: mount({
        '*': memoryStorage(),
        'sales/orders': one.open({ ensureSchema: true }),
        'sales/lines': other.open({ ensureSchema: true }),
      }),
      security: openAccess(),
    })
    afterTest(() => service.close())
    await service.ready()
    const names = service.statistics().connections.map(({ name }) => name)
    expect(names[1]).toBe(`${names[0]} 2`)
    telemetry.observe(service, { name: 'shop' })
    expect(await sdk.numbers('db.client.connection.max')).toEqual(
      names.map((name) => [{ 'db.client.connection.pool.name': `shop ${name}` }, 2]),
    )
  })
})

test('a service that is closed, and one that cannot be read, do not affect the other metrics', async () => {
  const { sdk, telemetry } = startGauges()
  const told = listenToDiag()
  const { service } = await openOrders({ workers: 0 })
  const broken = {
    statistics: (): never => {
      throw new RangeError('The statistics are broken.')
    },
    workload: () => Promise.reject(new RangeError('The storage is broken.')),
  }
  telemetry.observe(broken)
  let reads = 0
  const end = telemetry.observe({
    statistics: service.statistics,
    workload: () => {
      reads++
      return service.workload()
    },
  })
  expect(await sdk.numbers('rowgate.outbox.deliveries')).toHaveLength(4)
  expect(told).toHaveLength(1)
  await service.close()
  await expect(service.workload()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await sdk.numbers('rowgate.outbox.deliveries')
  // Only what is broken was reported again.
  expect(told).toHaveLength(2)
  expect(reads).toBe(2)
  end()
  telemetry.stop()
  await sdk.numbers('rowgate.outbox.deliveries')
  expect(told).toHaveLength(2)
  expect(reads).toBe(2)
})
