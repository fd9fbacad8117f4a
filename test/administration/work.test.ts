import { describe, expect, test } from 'vitest'
import { administration } from '../../src/entries/administration.ts'
import { createOutbox, deliverTo } from '../../src/entries/consume.ts'
import { createDeployment } from '../../src/entries/deployment.ts'
import { defineCollection, text } from '../../src/entries/index.ts'
import { createTestClient } from '../../src/entries/testing.ts'
import { shippingEndpoint } from '../consume/outbox/shipping.ts'
import { respond, startServer } from '../consume/server.ts'
import { environment, solutions } from '../deployment/solutions.ts'
import { plainKeys } from '../kit/keys.ts'
import { openService } from '../kit/stage.ts'
import { openStorage, type Storage } from '../kit/storages.ts'
import { entriesOf, everywhere, itemOf, itemsOf } from './administered.ts'

/** A service whose first builds fail and whose first calls are rejected. */
async function openWork(on: Storage) {
  const state = { isBroken: true }
  const server = await startServer((request, response) => {
    request.resume()
    if (!state.isBroken) {
      respond(response, { order: 'o1', tracking: 'T1' })
      return
    }
    response.writeHead(422, { 'Content-Type': 'application/json' })
    response.end('{"problem":"no such street"}')
  })
  const outbox = createOutbox({
    endpoints: { ship: deliverTo(shippingEndpoint(server.url)) },
    pollInterval: 20,
  })
  const deployment = createDeployment({
    solutions,
    environment,
    pollInterval: 20,
    builder: {
      name: 'test',
      build: async ({ log }) => {
        log('line one')
        if (state.isBroken) throw new Error('The compiler stopped.')
        return { fileName: 'a.zip', bytes: Buffer.from('a') }
      },
    },
  })
  const orders = defineCollection(
    { key: 'orderId', fields: { orderId: text() } },
    {
      events: {
        Insert: {
          after: async (event) => {
            await outbox.enqueue(event, 'ship', { body: { order: event.item.orderId } })
          },
        },
      },
    },
  )
  const admin = administration({
    deployment,
    outboxes: { main: outbox },
    roles: { auditor: 'Auditor' },
  })
  const { service } = openService({
    applications: {
      shop: { collections: { orders } },
      ...deployment.applications,
      ...admin.applications,
    },
    storage: openStorage(on),
    security: plainKeys(),
    outbox,
  })
  await service.ready()
  const client = async (user: string, ...roles: readonly string[]) => {
    await service.users.add({ user, roles })
    return createTestClient(service, { key: (await service.keys.create({ user })).key })
  }
  const ada = await client('ada', 'Administrator', 'Deployment')
  return { service, ada, eve: await client('eve', 'Auditor'), state, close: () => server.close() }
}

describe.each(everywhere)('work of administration on $name', (on) => {
  test('a failed build is shown with its reason and log, and one that succeeds', async () => {
    const { ada, eve, state, close } = await openWork(on)
    expect(itemsOf(await ada.get('/svc-admin/solutions'))).toMatchObject([
      { solutionId: 'northwind', name: 'Northwind Traders', version: '7.1' },
      { solutionId: 'plain', releaseNotes: null, releaseDate: null },
    ])
    const queue = async () =>
      itemOf(await ada.post('/svc-deploy/release-queue', { solutionId: 'plain' }))
    const statusOf = async (id: unknown) =>
      itemOf(await eve.get(`/svc-admin/builds/${String(id)}`))['status']
    const failed = (await queue())['releaseId']
    await expect.poll(() => statusOf(failed)).toBe('failed')
    const shown = itemOf(await eve.get(`/svc-admin/builds/${String(failed)}`))
    expect(shown).toMatchObject({ solutionId: 'plain', fileName: null, snapshot: false })
    expect(shown['error']).toEqual(expect.any(String))
    expect(shown['log']).toContain('line one')
    state.isBroken = false
    const built = (await queue())['releaseId']
    await expect.poll(() => statusOf(built)).toBe('built')
    const list = itemsOf(await ada.get('/svc-admin/builds?$limit=5'))
    expect(list.map(({ releaseId }) => releaseId)).toEqual([built, failed])
    expect(list[0]).not.toHaveProperty('log')
    const broken = itemsOf(await ada.get('/svc-admin/builds?status=failed&solutionId=plain'))
    expect(broken).toHaveLength(1)
    expect(itemOf(await ada.get('/svc-admin/me'))).toMatchObject({ environment: 'QA' })
    await close()
  })

  test('a dead delivery is read, retried and dropped', async () => {
    const { ada, eve, state, close } = await openWork(on)
    for (const orderId of ['o1', 'o2']) itemOf(await ada.post('/shop/orders', { orderId }))
    const dead = async () => itemsOf(await eve.get('/svc-admin/deliveries?state=dead&$sort=id'))
    await expect.poll(async () => (await dead()).length).toBe(2)
    const [first, second] = (await dead()).map(({ id }) => String(id))
    const path = `/svc-admin/deliveries/${String(first)}`
    expect(itemOf(await ada.get(path))).toMatchObject({
      ...{ outbox: 'main', endpoint: 'ship', lane: null, state: 'dead', idempotencyKey: first },
      ...{ input: { body: { order: 'o1' } }, response: { status: 422, isKept: false } },
    })
    expect(itemOf(await eve.get(path))).not.toHaveProperty('input')
    expect((await eve.post(path, { state: 'waiting' })).status).toBe(403)
    expect(itemOf(await ada.get('/svc-admin/statistics'))).toMatchObject({
      deliveries: { main: { behind: 0, waiting: 0, sending: 0, dead: 2 } },
      builds: { queued: 0, building: 0 },
      connections: expect.any(Array) as unknown,
      isDurable: on.name !== 'memory',
    })
    expect(entriesOf(await ada.post(path, { state: 'dead' }))).toEqual([
      'error state: Set the state waiting to retry the delivery.',
    ])
    state.isBroken = false
    expect(itemOf(await ada.post(path, { state: 'waiting' }))).toMatchObject({ id: first })
    const stateOf = async () => itemOf(await ada.get(path))['state']
    await expect.poll(stateOf).toBe('delivered')
    expect(entriesOf(await ada.post(path, { state: 'waiting' }))).toEqual([
      'error state: Only a dead or waiting delivery can be retried.',
    ])
    expect(entriesOf(await ada.delete(path))).toEqual([
      'error -: A delivery that is being sent or was delivered cannot be dropped.',
    ])
    const other = `/svc-admin/deliveries/${String(second)}`
    expect(itemOf(await ada.delete(other))).toMatchObject({ id: second, state: 'dead' })
    expect((await ada.delete(other)).status).toBe(404)
    expect(itemsOf(await ada.get('/svc-admin/deliveries?outbox=main&$q=SHIP'))).toHaveLength(1)
    expect((await ada.get('/svc-admin/deliveries?outbox=other')).status).toBe(200)
    await close()
  })

  test('problems of storage are listed', async () => {
    const { ada, close } = await openWork(on)
    expect(itemsOf(await ada.get('/svc-admin/problems'))).toEqual([])
    await close()
  })
})
