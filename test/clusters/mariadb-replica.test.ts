import type { Pool } from 'mysql2/promise'
import { describe, expect, test } from 'vitest'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { describeFailover } from './kit/failover-cases.ts'
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
})
