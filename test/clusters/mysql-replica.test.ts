import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'mysql2/promise'
import { describe, expect, test } from 'vitest'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { asRoot } from './kit/as-root.ts'
import { mysqlReplica } from './kit/mysql-replica.ts'
import { describeReplica, type Address } from './kit/replica-cases.ts'
import { servers } from './kit/servers.ts'

// `npm run test:mysql` fetches the packages, and sets it.
const isMissing = process.env['MYSQL_PROGRAM'] === undefined

describe.skipIf(isMissing)('a replica of MySQL for reads', () => {
  const { mysqlPair } = servers()
  const { started, poolOf } = mysqlReplica({
    pair: mysqlPair,
    position: '@@global.gtid_executed',
    wait: 'wait_for_executed_gtid_set',
    pause: 'stop replica sql_thread',
    resume: 'start replica sql_thread',
  })

  const { start, isUsed } = describeReplica(() => started().replicated)

  test('must not be the primary, which must have GTIDs, and has the same database', async () => {
    const { primary, replica, onPrimary } = started()
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
    const { primary, replica, replicated } = started()
    const reads = poolOf(replica)
    const storage = mysqlStorage(poolOf(primary), {
      reads,
      replicaWait: 3_000,
      statementTimeout: 1_000,
    })
    const { title, change } = await start(storage)
    await replicated.pauseReplay()
    await change('late')
    const resumed = pause(1_500).then(replicated.resumeReplay)
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
    const { title } = await start(mysqlStorage(poolOf(started().primary), { reads: poolOf(other) }))
    expect(await title()).toBe('first')
  })
})
