import { setTimeout as pause } from 'node:timers/promises'
import { createPool, type Pool, type PoolOptions } from 'mysql2/promise'
import type { RowDataPacket } from 'mysql2'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mysqlStorage } from '../../src/storage/mysql.ts'
import { asRoot } from './kit/as-root.ts'
import { describeReplica, type Address, type ReplicatedServers } from './kit/replica-cases.ts'
import type { ServerProgram } from './kit/server-program.ts'
import { servers } from './kit/servers.ts'

// `npm run test:mysql` fetches the packages, and sets it.
const isMissing = process.env['MYSQL_PROGRAM'] === undefined

describe.skipIf(isMissing)('a replica of MySQL for reads', () => {
  const { mysqlPair } = servers()
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
    ;[primary, replica] = await mysqlPair()
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
        'select @@global.gtid_executed as position',
      )
      const [[found]] = await onReplica.query<RowDataPacket[]>(
        'select wait_for_executed_gtid_set(?, 20) as late',
        [at?.['position']],
      )
      expect(found).toEqual({ late: 0 })
    },
    pauseReplay: () => onReplica.query('stop replica sql_thread'),
    resumeReplay: () => onReplica.query('start replica sql_thread'),
  })

  const { start, isUsed } = describeReplica(replicated)

  test('must not be the primary, which must have GTIDs, and has the same database', async () => {
    const found = (to: Address, reads: Pool) => mysqlStorage(poolOf(to), { reads }).open([])
    await expect(found(primary, poolOf(primary))).rejects.toThrow(
      'has the server_uuid of the primary',
    )
    const elsewhere = poolOf(replica, { database: 'mysql' })
    await expect(found(primary, elsewhere)).rejects.toThrow('its database must be test, not mysql')
    const unknown = poolOf(replica, { database: 'absent' })
    await expect(found(primary, unknown)).rejects.toThrow("Unknown database 'absent'")
    await onPrimary.query('set global gtid_mode = on_permissive')
    await expect(found(primary, poolOf(replica))).rejects.toThrow(
      'must have a binary log and gtid_mode',
    )
    await onPrimary.query('set global gtid_mode = on')
  })

  test('may take longer than other statements to catch up', async () => {
    const reads = poolOf(replica)
    const storage = mysqlStorage(poolOf(primary), {
      reads,
      replicaWait: 3_000,
      statementTimeout: 1_000,
    })
    const { title, change } = await start(storage)
    await onReplica.query('stop replica sql_thread')
    await change('late')
    const resumed = pause(1_500).then(() => onReplica.query('start replica sql_thread'))
    expect(await title()).toBe('late')
    await resumed
    await isUsed(title)
  })

  test('is not read if it is one of another primary', async () => {
    const [other] = await mysqlPair()
    await asRoot(other.port, [
      'create table test.notes (id bigint primary key, title text)',
      `insert into test.notes values (1, 'other')`,
    ])
    const { title } = await start(mysqlStorage(poolOf(primary), { reads: poolOf(other) }))
    expect(await title()).toBe('first')
  })
})
