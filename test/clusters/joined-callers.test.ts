import { Pool } from 'pg'
import { describe } from 'vitest'
import { postgresStorage, type PostgresOptions } from '../../src/entries/postgres.ts'
import { describeJoinedCallers, type JoiningServer } from '../storage/sql/joined-callers.ts'
import { watch } from '../storage/sql/pooled-servers.ts'
import { missingPackages } from './kit/packages.ts'
import type { ServerProgram } from './kit/server-program.ts'
import { servers } from './kit/servers.ts'

const missing = missingPackages('postgresql', 'pgbouncer')

describe.skipIf(missing !== undefined)('PostgreSQL', () => {
  const { postgres, replica, pgBouncer } = servers()

  describe('behind PgBouncer in transaction mode', () => {
    describeJoinedCallers(async () => {
      const primary = await postgres()
      return joiningServer({ primary, through: await pgBouncer(primary) })
    })
  })

  describe('with a replica for reads', () => {
    describeJoinedCallers(async () => {
      const primary = await postgres()
      const copy = await replica(primary, { max_standby_streaming_delay: 0 })
      return joiningServer({ primary, through: primary, copy })
    })
  })
})

interface Topology {
  readonly primary: ServerProgram
  /** Where the storage connects to. */
  readonly through: ServerProgram
  readonly copy?: ServerProgram
}

function joiningServer({ primary, through, copy }: Topology): JoiningServer {
  const pools: Pool[] = []
  const poolTo = ({ host, port }: ServerProgram, max: number): Pool => {
    const pool = new Pool({ host, port, user: 'postgres', database: 'postgres', max })
    // A server may end before the last connection has noticed.
    pool.on('error', () => undefined)
    pools.push(pool)
    return pool
  }
  const admins = [primary, ...(copy === undefined ? [] : [copy])].map((one) => poolTo(one, 1))
  const [admin] = admins as [Pool]
  return {
    showsOthers: copy === undefined,
    run: async (...statements) => (await admin.query<Row>(statements.join('; '))).rows,
    open(max, options: PostgresOptions, sent) {
      const own = poolTo(through, max)
      const reads = copy === undefined ? undefined : poolTo(copy, max)
      if (sent !== undefined)
        for (const pool of [own, reads]) pool?.on('connect', (client) => watch(client, sent))
      return postgresStorage(own, { ...options, ...(reads && { reads }) })
    },
    async killIdle() {
      const killed = await Promise.all(
        admins.map((one) =>
          one.query(`select pg_terminate_backend(pid) from pg_stat_activity
            where backend_type = 'client backend' and state = 'idle' and pid <> pg_backend_pid()`),
        ),
      )
      return killed.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0)
    },
    async drop() {
      for (const pool of pools) await pool.end()
    },
  }
}

type Row = Readonly<Record<string, unknown>>
