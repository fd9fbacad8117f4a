import type { RowDataPacket } from 'mysql2'
import { createConnection, createPool } from 'mysql2/promise'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mysqlStorage, type MysqlOptions } from '../../src/entries/mysql.ts'
import { asRoot } from './kit/as-root.ts'
import { maxStaleness, startLoad } from './kit/failover-load.ts'
import { missingPackages } from './kit/packages.ts'
import type { Address } from './kit/replica-cases.ts'
import { servers } from './kit/servers.ts'

const missing = missingPackages('mariadb-server', 'galera-4', 'rsync', 'haproxy')

/** What keeps reads from missing a write while the returned node gets new connections, and the other one has old ones. */
const remedies: readonly {
  readonly remedy: string
  readonly options: MysqlOptions
  readonly proxy?: string
}[] = [
  { remedy: 'wsrepSyncWait: 1', options: { wsrepSyncWait: 1 } },
  {
    remedy: 'on-marked-up shutdown-backup-sessions',
    options: {},
    proxy: 'on-marked-up shutdown-backup-sessions',
  },
]

/** Runs a statement, and returns the numbers in the first column of its rows. */
async function numbers({ host, port }: Address, text: string): Promise<readonly number[]> {
  const connection = await createConnection({ host, port, user: 'root', rowsAsArray: true })
  try {
    const [rows] = await connection.query<RowDataPacket[][]>(text)
    return rows.map(([value]) => Number(value))
  } finally {
    await connection.end()
  }
}

/** Returns the port of the server to which a new connection leads. */
const leadsTo = async (address: Address): Promise<number | undefined> =>
  (await numbers(address, 'select @@port'))[0]

/** Returns the connections of the services to a server. */
const connectionsOf = (address: Address): Promise<readonly number[]> =>
  numbers(address, `select id from information_schema.processlist where db = 'test'`)

/** Ends every second connection of the services to a server. */
async function endHalf({ port }: Address): Promise<void> {
  const ids = await connectionsOf({ host: '127.0.0.1', port })
  for (const id of ids.filter((_, index) => index % 2 === 0)) {
    // It may have ended meanwhile.
    await asRoot(port, [`kill ${id}`]).catch(() => undefined)
  }
}

describe.skipIf(missing !== undefined)('services on Galera behind HAProxy', () => {
  const { galera, mysqlProxy } = servers()

  test.each(remedies)(
    'lose nothing and show every write when a node is killed and returns, with $remedy',
    { timeout: 240_000 },
    async ({ remedy, options, proxy }) => {
      const [first, second] = await galera(3)
      if (first === undefined || second === undefined) throw new Error('there are no nodes')
      const { host, port } = await mysqlProxy([first, second], proxy)
      const storages = [1, 2, 3].map(() => {
        const at = { host, port, user: 'root', database: 'test' }
        const pool = createPool({ ...at, connectionLimit: 8, connectTimeout: 2_000 })
        onTestFinished(() => pool.end())
        const limits = { acquireTimeout: 2_000, maxStaleness, ensureSchema: true }
        return mysqlStorage(pool, { ...limits, ...options })
      })
      const load = await startLoad(storages)
      onTestFinished(load.close)
      const nodes = () => Promise.all([first, second].map(connectionsOf))
      const faults = [
        ['killed', async () => first.signal('SIGKILL')],
        [
          'returns',
          async () => {
            await first.restart()
            // New connections, or those that replace others, lead to it.
            await expect.poll(() => leadsTo({ host, port }), { timeout: 20_000 }).toBe(first.port)
            // A pool whose other connections are enough opens none.
            const replaced = async (): Promise<number> => {
              await endHalf(second)
              return (await connectionsOf(first)).length
            }
            if (proxy === undefined)
              await expect.poll(replaced, { interval: 1_000 }).toBeGreaterThan(0)
          },
        ],
      ] as const
      for (const [fault, begin] of faults) {
        const seen = await load.during(begin, 6_000)
        const { firstSuccess, lastFailure = 'none', acknowledged, revoked } = seen
        console.log(
          `Galera, ${remedy}, ${fault}: last 503 after ${lastFailure} ms, first success after ${firstSuccess} ms, ${seen.unavailable} of ${seen.requests} requests 503, ${seen.lost} of ${acknowledged} acknowledged rows lost, ${seen.revokedAccepted} accepted with ${revoked} revoked keys, ${seen.wrong.length} wrong, longest request ${Math.round(seen.longest)} ms`,
        )
        if (fault === 'returns') {
          const [onFirst = 0, onSecond = 0] = (await nodes()).map(({ length }) => length)
          console.log(`Galera, ${remedy}: ${onFirst} and ${onSecond} connections to the nodes`)
          expect([onFirst > 0, onSecond > 0]).toEqual([true, proxy === undefined])
        }
        expect(seen).toMatchObject({ lost: 0, revokedAccepted: 0, wrong: [] })
      }
    },
  )
})
