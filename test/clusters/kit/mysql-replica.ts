import { createPool, type Pool, type PoolOptions } from 'mysql2/promise'
import type { RowDataPacket } from 'mysql2'
import { afterAll, beforeAll, expect } from 'vitest'
import { mysqlStorage } from '../../../src/entries/mysql.ts'
import type { Address, ReplicatedServers } from './replica-cases.ts'
import type { ServerProgram } from './server-program.ts'

/** How MariaDB and MySQL are asked and told the same of replication. */
export interface ReplicationText {
  /** Starts a primary and its replica. */
  pair(): Promise<readonly [primary: ServerProgram, replica: ServerProgram]>
  /** The expression of what the primary has written. */
  readonly position: string
  /** The function that waits for it on the replica. */
  readonly wait: string
  readonly pause: string
  readonly resume: string
}

/** A primary with a table of notes, and its replica, once the tests run. */
export interface MysqlReplica {
  readonly primary: ServerProgram
  readonly replica: ServerProgram
  readonly onPrimary: Pool
  readonly replicated: ReplicatedServers
}

/** Starts the servers for the tests of a suite. The pools are ended after them. */
export function mysqlReplica(text: ReplicationText): {
  readonly started: () => MysqlReplica
  readonly poolOf: (address: Address, settings?: PoolOptions) => Pool
} {
  const pools: Pool[] = []
  let started: MysqlReplica

  function poolOf({ host, port }: Address, settings: PoolOptions = {}): Pool {
    const at = { host, port, user: 'root', database: 'test' }
    const pool = createPool({ ...at, connectionLimit: 5, ...settings })
    pools.push(pool)
    return pool
  }

  beforeAll(async () => {
    const [primary, replica] = await text.pair()
    const onPrimary = poolOf(primary, { connectionLimit: 1 })
    const onReplica = poolOf(replica, { connectionLimit: 1 })
    await onPrimary.query(`create table notes (id bigint primary key, title text)`)
    started = {
      ...{ primary, replica, onPrimary },
      replicated: {
        replica,
        storage(reads, options, used) {
          const pool = reads && poolOf(reads)
          if (used !== undefined) pool?.on('acquire', used)
          return mysqlStorage(poolOf(primary), { ...options, ...(pool && { reads: pool }) })
        },
        run: (statement) => onPrimary.query(statement),
        async caughtUp() {
          const [[at]] = await onPrimary.query<RowDataPacket[]>(
            `select ${text.position} as position`,
          )
          const [[found]] = await onReplica.query<RowDataPacket[]>(
            `select ${text.wait}(?, 20) as late`,
            [at?.['position']],
          )
          expect(found).toEqual({ late: 0 })
        },
        pauseReplay: () => onReplica.query(text.pause),
        resumeReplay: () => onReplica.query(text.resume),
      },
    }
  })
  afterAll(async () => {
    for (const pool of pools) await pool.end()
  })

  return { started: () => started, poolOf }
}
