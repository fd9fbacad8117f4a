import { system } from '../../src/entries/index.ts'
import { buildNow, queueReleases } from './build-roles.ts'
import type { Client } from './client.ts'
import { changeRoles, outliveKeys, rotateKeys } from './key-roles.ts'
import { keepNotes, listNone, walkNotes } from './note-roles.ts'
import { promise } from './violation.ts'

/** What a client does until the simulation ends. */
export type Role = (client: Client) => Promise<void>

interface InProcess {
  collection(application: string, name: string): { insert(values: object): Promise<unknown> }
}

export const lanes = ['a', 'b', 'c']
export const gauges = ['g1', 'g2']

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
  lea: outliveKeys,
  max: addMarks,
  ned: buildNow,
  pia: buildNow,
  rob: countUp,
  sam: listNone,
  zoe: rotateKeys,
}

/** The clients of quiet simulations, in which callers are remembered for long; the last one until its keys expire. */
export const quietRoles: readonly (readonly string[])[] = [
  ['ivy', 'jon', 'lea', 'sam', 'zoe'],
  ['lea'],
]

const rolesOfUsers: Readonly<Record<string, readonly string[]>> = {
  gus: ['Auditor'],
  hal: ['Deployment'],
  kim: ['Deployment'],
  ned: ['Deployment'],
  pia: ['Deployment'],
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
    const body = { lane: client.owner.random.pick(client.world.lanes), nonce }
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

/** Adds rows that no code of the application sees: each request is sent once. */
function addMarks(client: Client): Promise<void> {
  return client.actUntilEnd(async () => {
    const nonce = client.nonce()
    const { status } = await client.once({ method: 'POST', path: '/bank/marks', body: { nonce } })
    const isStored = client.world.checks.hasMark(nonce)
    promise(status !== 200 || isStored, 'An acknowledged write does not exist.', { nonce })
  })
}
