import { Agent, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  principal,
  text,
} from '../../../src/entries/index.ts'
import {
  isStorageError,
  publishCollection,
  type StorageAdapter,
} from '../../../src/entries/storage.ts'
import { toNodeHandler } from '../../../src/entries/node.ts'
import { send, type Answer } from '../../kit/http-client.ts'
import { visitor, visitors } from '../../kit/visitors.ts'
import { random, type Random } from '../../cache/random.ts'
import type { PooledServer } from './pooled-servers.ts'

// Many more are compared before a release: JOINED_ANSWERS=250000.
const answers = Number(process.env['JOINED_ANSWERS'] ?? 4_000)
const users = 50
const rowCount = 800
const clients = 48

const fields = {
  id: integer(),
  owner: text({ maxLength: 20 }),
  title: text({ maxLength: 20 }),
  secret: text({ readableBy: ['Auditor'], maxLength: 20 }),
  version: integer(),
}
const rows = { equal: { owner: { principal: 'user' } } } as const
const notes = defineCollection({ key: 'id', fields }, { rows })
// A view in which some rows can't be read.
const shares = defineCollection(
  { key: 'id', fields: { ...fields, share: integer() }, table: 'shares', publishes: ['Filter'] },
  { rows },
)

const all = Array.from({ length: rowCount }, (_, id) => ({
  id,
  owner: `u${(id * 7) % users}`,
  title: `t${id % 11}`,
}))

function userOf(index: number): { readonly name: string; readonly isAuditor: boolean } {
  return { name: `u${index}`, isAuditor: index % 5 === 0 }
}

/** Whether an error of the database, or a value that does not fit, keeps a row of the view from being read. */
function isPoisoned(id: number): boolean {
  return id % 16 === 3 || id % 16 === 5
}

const view = `create view shares as select n.*, case
    when n.id % 16 = 3 then (select o.id from notes o where o.id >= n.id)
    when n.id % 16 = 5 then 9007199254740993
    else 1 end as share from notes n`

function openService(storage: StorageAdapter) {
  return createService({
    applications: { app: { collections: { notes, shares } } },
    storage,
    security: visitors,
    report: () => undefined,
    cache: false,
  })
}

/** What clients have seen. */
interface Counts {
  items: number
  /** Rows of others. */
  missing: number
  pages: number
  poisoned: number
  unavailable: number
  writes: number
}

/** A server whose reads are joined. */
export interface JoiningServer extends Pick<PooledServer, 'run' | 'open' | 'killIdle' | 'drop'> {
  /** Whether a read shows every write that another program has committed before. A replica may be late. Default true. */
  readonly showsOthers?: boolean
}

/** Registers the tests of reads that many callers share on a server. */
export function describeJoinedCallers(start: () => Promise<JoiningServer>): void {
  describe('joined reads of callers with rights', () => {
    let server: JoiningServer
    let service: ReturnType<typeof openService>
    let port: number
    let close: () => void
    const agent = new Agent({ keepAlive: true, maxSockets: clients })
    const sent: string[] = []
    // The versions that were written, and those that reads must show, by the identifier of the row.
    const written = new Map<number, number>()
    const committed = new Map<number, number>()

    beforeAll(async () => {
      server = await start()
      const tables = server.open(1, { ensureSchema: true })
      await tables.open([publishCollection('app', 'notes', notes)])
      await tables.close()
      for (const { id, owner, title } of all)
        await server.run(`insert into notes values (${id}, '${owner}', '${title}', 's${id}', 0)`)
      await server.run(view)
      service = openService(server.open(4, {}, (statement) => sent.push(statement)))
      await service.ready()
      const http = createServer(toNodeHandler(service))
      await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
      port = (http.address() as AddressInfo).port
      close = () => {
        http.close()
        http.closeAllConnections()
      }
    })
    afterAll(async () => {
      close()
      agent.destroy()
      await service.close()
      await server.drop()
    })

    const get = (user: ReturnType<typeof userOf>, target: string): Promise<Answer> =>
      send(port, agent, {
        method: 'GET',
        target: `/rest/v1/app/${target}`,
        headers: visitor(user.name, user.isAuditor ? { roles: 'Auditor' } : {}),
      })

    /** Checks an item of a response: it is a row of the caller, with the fields of the caller, and not stale. */
    function checkItem(
      item: Readonly<Record<string, unknown>>,
      user: ReturnType<typeof userOf>,
      bounds: ReadonlyMap<number, number>,
    ): void {
      const id = item['id'] as number
      expect(item['owner']).toBe(user.name)
      expect(item['title']).toBe(all[id]?.title)
      expect(item['secret']).toBe(user.isAuditor ? `s${id}` : undefined)
      expect(item['version']).toBeGreaterThanOrEqual(bounds.get(id) ?? 0)
    }

    async function readItem(from: Random, counts: Counts): Promise<void> {
      const user = userOf(from.below(users))
      // Half of the requests are for rows of the caller.
      const own = all.filter(({ owner }) => owner === user.name)
      const { id, owner } = from.one(from.one([own, all]))
      const table = from.one(['shares', 'notes', 'notes'])
      const bounds = new Map(committed)
      const { status, body } = await get(user, `${table}/${id}`)
      if (status === 503) counts.unavailable++
      else if (owner !== user.name) {
        counts.missing++
        expect(status).toBe(404)
      } else if (table === 'shares' && isPoisoned(id)) {
        counts.poisoned++
        expect(status).toBe(500)
      } else {
        counts.items++
        expect({ id, status }).toEqual({ id, status: 200 })
        expect(body.item?.['id']).toBe(id)
        checkItem(body.item ?? {}, user, bounds)
      }
    }

    async function readPage(from: Random, counts: Counts): Promise<void> {
      const user = userOf(from.below(users))
      const [limit, offset] = [1 + from.below(5), from.below(3)]
      const title = from.one([undefined, `t${from.below(11)}`])
      const bounds = new Map(committed)
      const filter = title === undefined ? '' : `&title=${title}`
      const target = `notes?$limit=${limit}&$offset=${offset}&$sort=-id&$count=true${filter}`
      const { status, body } = await get(user, target)
      if (status === 503) {
        counts.unavailable++
        return
      }
      counts.pages++
      const expected = all
        .filter((row) => row.owner === user.name && (title === undefined || row.title === title))
        .map(({ id }) => id)
        .toReversed()
      expect(status).toBe(200)
      expect(body.items?.map(({ id }) => id)).toEqual(expected.slice(offset, offset + limit))
      expect(body.count).toBe(expected.length)
      for (const item of body.items ?? []) checkItem(item, user, bounds)
    }

    /** Changes rows of the service, or of another program, until it is stopped. Each writer has rows of its own. */
    async function write(by: 'service' | 'other program', counts: Counts, isOver: () => boolean) {
      const from = random(by === 'service' ? 1 : 2)
      while (!isOver()) {
        const id = from.below(rowCount / 2) * 2 + (by === 'service' ? 0 : 1)
        const version = (written.get(id) ?? 0) + 1
        if (by === 'service') {
          const { collection } = service.as(principal(all[id]?.owner ?? ''))
          const saved = await collection('app', 'notes')
            .update(id, { version })
            .catch(ifUnavailable)
          if (saved === undefined) continue
          expect(saved.rejected).toBe(false)
        } else if (!(await isWritten(`update notes set version = ${version} where id = ${id}`)))
          continue
        written.set(id, version)
        if (by === 'service' || server.showsOthers !== false) committed.set(id, version)
        counts.writes++
      }
    }

    /** Runs a statement of the other program. Its connection may be one that was killed. */
    const isWritten = (statement: string): Promise<boolean> =>
      server.run(statement).then(
        () => true,
        () => false,
      )

    test(
      'are their own, whatever else waits, fails or is killed',
      { timeout: 60_000 + answers * 10 },
      async () => {
        const counts = { items: 0, missing: 0, pages: 0, poisoned: 0, unavailable: 0, writes: 0 }
        const responses = (): number =>
          counts.items + counts.missing + counts.pages + counts.poisoned
        sent.length = 0
        const reads = (): number => sent.filter((each) => /^\(?select/.test(each)).length
        const isOver = (): boolean => responses() >= answers
        const readers = Array.from({ length: clients }, async (_, client) => {
          const from = random(client + 3)
          while (!isOver()) await from.one([readItem, readItem, readPage])(from, counts)
        })
        const killer = async (): Promise<void> => {
          let killed = 0
          while (!isOver()) {
            await new Promise((resolve) => setTimeout(resolve, 5))
            // Not after a time, in which a busy machine makes few responses.
            if (responses() - killed < 100) continue
            killed = responses()
            await server.killIdle().catch(() => 0)
          }
        }
        await Promise.all([
          ...readers,
          write('service', counts, isOver),
          write('other program', counts, isOver),
          killer(),
        ])
        if (process.env['JOINED_ANSWERS'] !== undefined)
          console.log({ ...counts, statements: reads() })
        expect(
          Math.min(counts.items, counts.missing, counts.pages, counts.poisoned),
        ).toBeGreaterThan(answers / 200)
        expect(counts.writes).toBeGreaterThan(10)
        expect(counts.unavailable).toBeLessThan(responses() / 20)
        expect(reads()).toBeLessThan(responses())
      },
    )
  })
}

function ifUnavailable(error: unknown): undefined {
  if (!isStorageError(error) || error.kind !== 'unavailable') throw error
}
