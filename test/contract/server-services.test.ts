import { Agent } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  text,
  type Observation,
} from '../../src/entries/index.ts'
import { send, type Answer } from '../kit/http-client.ts'
import { expectError, itemIn, itemsIn } from '../kit/expectations.ts'
import { mountings, type Mount } from './server-mounts.ts'
import { expectQuietProcess } from './server-quiet.ts'
import { newKey, plainKeys, withKey } from '../kit/keys.ts'
import { bindings, cells, type Host } from '../kit/cells.ts'
import { localStorages } from '../kit/storages.ts'

const fields = { noteId: integer(), words: text() }
const path = '/rest/v1/desk/notes'

expectQuietProcess()

describe.each(cells)('services in one process on $name', ({ binding, storage }) => {
  const ends: (() => unknown)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
  })

  /** Two services with the same names and nothing else in common; the second one requires authentication. */
  function openBoth() {
    // Each on a storage of its own, and of another kind.
    const kinds = [storage, ...localStorages.filter((other) => other !== storage)]
    const [own = storage, others = own] = kinds
    const [first, second] = [own.open(), others.open()]
    const reports: Observation[] = []
    const report = (one: Observation): void => {
      if (one.type !== 'forbidden') reports.push(one)
    }
    const open = createService({
      applications: {
        desk: { collections: { notes: defineCollection({ key: 'noteId', fields }) } },
      },
      storage: first.storage,
      security: openAccess(),
      report,
    })
    const staffed = createService({
      applications: {
        desk: {
          collections: { notes: defineCollection({ key: 'noteId', fields, roles: ['Staff'] }) },
        },
      },
      storage: second.storage,
      security: plainKeys(),
      brand: 'acme',
      serviceVersion: '7.1',
      report,
    })
    ends.push(first.remove, second.remove, open.close, staffed.close)
    return { open, staffed, reports }
  }

  /** A client of a host. */
  function clientOf({ port, close }: Host) {
    const agent = new Agent({ keepAlive: true })
    ends.push(close, () => agent.destroy())
    const ask = (method: string, target: string, more: object = {}): Promise<Answer> =>
      send(port, agent, { method, target, ...more })
    return {
      get: (target: string, headers = {}) => ask('GET', target, { headers }),
      post: (target: string, item: object, headers = {}) =>
        ask('POST', target, {
          headers: { 'Content-Type': 'application/json', ...headers },
          body: JSON.stringify(item),
        }),
    }
  }

  async function startMounts(mounts: readonly Mount[]) {
    const mounting = mountings.get(binding.name)
    if (mounting === undefined) throw new Error(`${binding.name} has no row in the mountings.`)
    return clientOf(await mounting(mounts))
  }

  test('on one server can be mounted several times, and are independent', async () => {
    const { open, staffed, reports } = openBoth()
    await staffed.users.add({ user: 'sam', roles: ['Staff'] })
    const [staff, guest] = [
      withKey((await newKey(staffed, { user: 'sam' })).key),
      withKey((await newKey(staffed, { user: 'guest' })).key),
    ]
    const client = await startMounts([
      { prefix: '/one/again', service: open },
      { prefix: '/one', service: open },
      { prefix: '/two', service: staffed },
      { prefix: '/uno', service: open },
      { prefix: '/zwei', service: staffed },
    ])
    const saved = await client.post(`/one${path}`, { noteId: 1, words: 'open' })
    expect(itemIn(saved)).toEqual({ noteId: 1, words: 'open' })
    expect(saved.headers).toMatchObject({ 'x-svc-version': '4.54' })
    expect(saved.headers).not.toHaveProperty('x-acme-version')
    for (const prefix of ['/one', '/one/again', '/uno']) {
      expect(itemsIn(await client.get(prefix + path, staff))).toEqual([
        { noteId: 1, words: 'open' },
      ])
    }
    for (const prefix of ['/two', '/zwei']) {
      const unknown = await client.get(prefix + path)
      expectError(unknown, 401)
      expect(unknown.headers).toMatchObject({ 'x-acme-version': '7.1' })
      expectError(await client.get(prefix + path, guest), 403)
      expect(itemsIn(await client.get(prefix + path, staff))).toEqual([])
    }
    expect(reports.splice(0)).toMatchObject([{ reason: 'missing' }, { reason: 'missing' }])

    const numbers = Array.from({ length: 20 }, (_, index) => 100 + index)
    await Promise.all(
      numbers.flatMap((noteId) => [
        client.post(`/uno${path}`, { noteId, words: 'open' }).then(itemIn),
        client.post(`/zwei${path}`, { noteId, words: 'staffed' }, staff).then(itemIn),
      ]),
    )
    const wordsAt = async (prefix: string, headers = {}) =>
      itemsIn(await client.get(`${prefix}${path}?$limit=100`, headers)).map(({ words }) => words)
    expect(await wordsAt('/one')).toEqual([1, ...numbers].map(() => 'open'))
    expect(await wordsAt('/two', staff)).toEqual(numbers.map(() => 'staffed'))

    await open.close()
    for (const prefix of ['/one', '/one/again', '/uno']) {
      expectError(await client.get(prefix + path), 503)
    }
    expect(await wordsAt('/two', staff)).toHaveLength(20)
    expect(reports).toEqual([])
  })

  test('on servers of two kinds are independent', async () => {
    const { open, staffed, reports } = openBoth()
    const other = bindings[(bindings.indexOf(binding) + 1) % bindings.length] ?? binding
    const [first, second] = [await binding.start(open), await other.start(staffed)]
    const [one, two] = [clientOf(first), clientOf(second)]
    itemIn(await one.post(path, { noteId: 1 }))
    expectError(await two.get(path), 401)
    expect(reports.splice(0)).toMatchObject([{ reason: 'missing' }])
    await staffed.users.add({ user: 'maria', roles: ['Staff'] })
    const staff = withKey((await newKey(staffed)).key)
    expect(itemsIn(await two.get(path, staff))).toEqual([])
    await first.close()
    await open.close()
    itemIn(await two.post(path, { noteId: 2 }, staff))
    expect(itemsIn(await two.get(path, staff))).toEqual([{ noteId: 2, words: null }])
    expect(reports).toEqual([])
  })

  test('and one service on several servers has one storage', async () => {
    const { open } = openBoth()
    const clients = await Promise.all(
      bindings.map(async ({ start }) => clientOf(await start(open))),
    )
    await Promise.all(clients.map((client, noteId) => client.post(path, { noteId }).then(itemIn)))
    for (const client of clients)
      expect(itemsIn(await client.get(path))).toHaveLength(bindings.length)
    await open.close()
    for (const client of clients) expectError(await client.get(path), 503)
  })
})
