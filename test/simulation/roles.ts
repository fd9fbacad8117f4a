import { system } from '../../src/entries/index.ts'
import type { Client } from './client.ts'
import { changeRoles, rotateKeys } from './key-roles.ts'
import { keepNotes, walkNotes } from './note-roles.ts'
import { promise } from './violation.ts'

/** What a client does until the simulation ends. */
export type Role = (client: Client) => Promise<void>

interface InProcess {
  collection(application: string, name: string): { insert(values: object): Promise<unknown> }
}

const lanes = ['a', 'b', 'c']
const gauges = ['g1', 'g2']

/** The clients by name. Each is a user with a key. */
export const roles: Readonly<Record<string, Role>> = {
  ada: keepNotes,
  bob: keepNotes,
  cleo: addEntries,
  dan: addEntries,
  eve: countUp,
  fay: countUp,
  gus: walkNotes,
  hal: queueReleases,
  kim: queueReleases,
  ivy: rotateKeys,
  jon: changeRoles,
}

const rolesOfUsers: Readonly<Record<string, readonly string[]>> = {
  gus: ['Auditor'],
  hal: ['Deployment'],
  kim: ['Deployment'],
  jon: ['Reader'],
}

/** Stores users, keys and rows, before there are faults. */
export async function prepare(admin: Client): Promise<void> {
  const { world } = admin
  world.choices.isCalm = true
  for (const user of Object.keys(roles)) {
    await admin.inProcess('adds a user', ({ service }) =>
      service.users.ensure({ user, roles: rolesOfUsers[user] ?? [] }),
    )
    const { result } = await admin.inProcess('creates a key', ({ service }) =>
      service.keys.create({ user }),
    )
    world.keys.set(user, result.key)
  }
  await admin.inProcess('stores rows', async ({ service }) => {
    const all = service.as(system) as unknown as InProcess
    const insert = (name: string, values: object) => all.collection('bank', name).insert(values)
    for (const lane of lanes) await insert('totals', { lane, count: 0 })
    for (const gaugeId of gauges) await insert('gauges', { gaugeId, value: 0 })
    await insert('reports', { reportId: 'r', words: 'for readers' })
  })
  // Replicas have them by then.
  await admin.sleep(2_000)
  world.choices.isCalm = false
}

/** Adds entries, whose handler writes a total and enqueues a delivery. */
function addEntries(client: Client): Promise<void> {
  return client.actUntilEnd(async () => {
    const nonce = client.nonce()
    const body = { lane: client.owner.random.pick(lanes), nonce }
    const request = { method: 'POST', path: '/bank/entries', body } as const
    // Without a key it is sent once, so that it may have no effect.
    const isKeyed = client.owner.random.chance(0.7)
    const { status, body: reply } = isKeyed
      ? await client.definitely(request, [200])
      : await client.once(request)
    if (status !== 200) return
    const { item } = reply as { item: { nonce: string } }
    promise(item.nonce === nonce, 'A response belongs to another request.', { nonce, reply })
    const { checks } = client.world
    promise(checks.hasEntry(nonce), 'An acknowledged write does not exist.', { nonce })
  })
}

/** Reads a gauge and adds 1 to it, unless another client was faster. */
function countUp(client: Client): Promise<void> {
  return client.actUntilEnd(async () => {
    const path = `/bank/gauges/${client.owner.random.pick(gauges)}`
    const read = await client.definitely({ method: 'GET', path }, [200])
    const { value } = (read.body as { item: { value: number } }).item
    const written = await client.definitely(
      {
        method: 'POST',
        path,
        body: { value: value + 1 },
        headers: { 'if-match': String(read.headers['ETag']), 'idempotency-key': client.nonce() },
      },
      [200, 412],
    )
    if (written.status === 412) return
    const [row] = client.world.database
      .rows('gauges')
      .filter(({ gaugeId }) => path.endsWith(String(gaugeId)))
    promise(Number(row?.['value']) > value, 'An acknowledged write does not exist.', { row, value })
  })
}

/** Queues builds, and reads their state. */
function queueReleases(client: Client): Promise<void> {
  return client.actUntilEnd(async () => {
    const body = { solutionId: 's', version: client.nonce() }
    const reply = await client.definitely(
      { method: 'POST', path: '/svc-deploy/release-queue', body },
      [200, 409],
    )
    const releases = client.world.database
      .rows('rowgate_releases')
      .filter(({ version }) => version === body.version)
    promise(releases.length <= 1, 'A request with an idempotency key has two effects.', releases)
    // 409: the effect of the request is not known.
    const isKnown = reply.status === 200
    promise(!isKnown || releases.length === 1, 'An acknowledged write does not exist.', reply)
    await client.sleep(client.owner.random.between(10, 1_500))
  })
}
