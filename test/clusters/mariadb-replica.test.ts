import { createPool, type Pool, type PoolOptions } from 'mysql2/promise'
import type { RowDataPacket } from 'mysql2'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mysqlStorage } from '../../src/storage/mysql.ts'
import { missingPackages } from './kit/packages.ts'
import { describeReplica, type Address, type ReplicatedServers } from './kit/replica-cases.ts'
import type { ServerProgram } from './kit/server-program.ts'
import { servers } from './kit/servers.ts'

const missing = missingPackages('mariadb-server')

describe.skipIf(missing !== undefined)('a replica of MariaDB for reads', () => {
  const { mariadbPair } = servers()
  const pools: Pool[] = []
  let primary: ServerProgram
  let replica: ServerProgram
  let onPrimary: Pool
  let onReplica: Pool

  function poolOf({ host, port }: Address, settings: PoolOptions = {}): Pool {
    const at = { host, port, user: 'root', database: 'test' }
    const pool = createPool({ ...at, connectionLimit: 5, ...settings })
    pools.push(pool)
    return pool
  }

  beforeAll(async () => {
    ;[primary, replica] = await mariadbPair()
    onPrimary = poolOf(primary, { connectionLimit: 1 })
    onReplica = poolOf(replica, { connectionLimit: 1 })
    await onPrimary.query(`create table notes (id bigint primary key, title text)`)
  })
  afterAll(async () => {
    for (const pool of pools) await pool.end()
  })

  const replicated = (): ReplicatedServers => ({
    replica,
    storage(reads, options, used) {
      const pool = reads && poolOf(reads)
      if (used !== undefined) pool?.on('acquire', used)
      return mysqlStorage(poolOf(primary), { ...options, ...(pool && { reads: pool }) })
    },
    run: (statement) => onPrimary.query(statement),
    async caughtUp() {
      const [[at]] = await onPrimary.query<RowDataPacket[]>(
        'select @@global.gtid_binlog_pos as position',
      )
      const [[found]] = await onReplica.query<RowDataPacket[]>(
        'select master_gtid_wait(?, 20) as late',
        [at?.['position']],
      )
      expect(found).toEqual({ late: 0 })
    },
    pauseReplay: () => onReplica.query('stop slave sql_thread'),
    resumeReplay: () => onReplica.query('start slave sql_thread'),
  })

  describeReplica(replicated)

  test('must not be the primary, which must have a binary log, and has the same database', async () => {
    const found = (to: Address, reads: Pool) => mysqlStorage(poolOf(to), { reads }).open([])
    await expect(found(primary, poolOf(primary))).rejects.toThrow(
      'has the server_id of the primary',
    )
    await expect(found(replica, poolOf(primary))).rejects.toThrow('the primary has no binary log')
    const elsewhere = poolOf(replica, { database: 'mysql' })
    await expect(found(primary, elsewhere)).rejects.toThrow('its database must be test, not mysql')
    const unknown = poolOf(replica, { database: 'absent' })
    await expect(found(primary, unknown)).rejects.toThrow("Unknown database 'absent'")
  })
})
