import type { Pool } from 'mysql2/promise'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { startProxy } from '../kit/proxy.ts'
import { describeFailover } from './kit/failover-cases.ts'
import { maxStaleness, startLoad } from './kit/failover-load.ts'
import { missingPackages } from './kit/packages.ts'
import { mysqlReplica } from './kit/mysql-replica.ts'
import { describeReplica, type Address } from './kit/replica-cases.ts'
import { servers } from './kit/servers.ts'

const missing = missingPackages('mariadb-server')

describe.skipIf(missing !== undefined)('a replica of MariaDB for reads', () => {
  const { started, poolOf } = mysqlReplica({
    pair: servers().mariadbPair,
    position: '@@global.gtid_binlog_pos',
    wait: 'master_gtid_wait',
    pause: 'stop slave sql_thread',
    resume: 'start slave sql_thread',
  })

  describeReplica(() => started().replicated)
  describeFailover(() => ({
    ...started().replicated,
    primary: started().primary,
    storage: (at, options) => mysqlStorage(poolOf(at), options),
  }))

  test('must not be the primary, which must have a binary log, and has the same database', async () => {
    const { primary, replica } = started()
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

  // The last one: the replica does not follow the primary after it.
  test('is written by a service of the primary once it is promoted by hand, and nothing is lost', async () => {
    const { primary, replica, onPrimary, replicated } = started()
    const address = await startProxy(primary)
    onTestFinished(() => address.stop())
    const storages = [1, 2].map(() =>
      mysqlStorage(poolOf(address), { ensureSchema: true, acquireTimeout: 2_000, maxStaleness }),
    )
    const load = await startLoad(storages)
    onTestFinished(load.close)
    const onReplica = poolOf(replica, { connectionLimit: 1 })
    const seen = await load.during(async () => {
      address.silence()
      await onPrimary.query('flush tables with read lock')
      await onPrimary.query('set global read_only = 1')
      await replicated.caughtUp()
      for (const statement of ['stop slave', 'reset slave all', 'set global read_only = 0'])
        await onReplica.query(statement)
      address.lead(replica)
      address.reset()
      address.admit()
    })
    console.log(
      `promoted by hand: last 503 after ${seen.lastFailure} ms, ${seen.lost} of ${seen.acknowledged} acknowledged rows lost, ${seen.revokedAccepted} accepted with ${seen.revoked} revoked keys`,
    )
    expect(seen).toMatchObject({ lost: 0, revokedAccepted: 0, wrong: [] })
    await onPrimary.query('unlock tables')
  })
})
