import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'pg'
import { expect } from 'vitest'
import type { PoolStorageOptions } from '../../../src/storage/pool/options.ts'
import type { StorageAdapter } from '../../../src/entries/storage.ts'
import { mysqlStorage } from '../../../src/entries/mysql.ts'
import { postgresStorage } from '../../../src/entries/postgres.ts'
import * as mysql from '../../kit/mysql.ts'
import * as postgres from '../../kit/postgres.ts'

/** What a server says of itself. */
export interface ServerState {
  readonly isReplica: boolean
  readonly identity: string
}

/** A database of its own, on a server that says of itself what a test wants. */
export interface ChangingServer {
  set(state: Partial<ServerState>): Promise<void>
  /** Whether the server rejects the writes of connections that are opened from now on. */
  rejectWrites(rejects: boolean): void
  open(max: number, options?: PoolStorageOptions): StorageAdapter
  /** Returns how many connections the storages have opened. */
  opened(): number
  /** Ends idle connections of the storages. Default: all. */
  loseConnections(max?: number): Promise<void>
  /** Runs a statement as another process. */
  run(statement: string): Promise<unknown>
  drop(): Promise<void>
}

async function startPostgres(): Promise<ChangingServer> {
  const { name, address, run, drop } = await postgres.testSchema()
  const pools: Pool[] = []
  let rejects = false
  let opened = 0
  await run(`create table server (is_replica boolean, identity text);
    insert into server values (false, '2020-01-01Z');
    create function pg_is_in_recovery() returns boolean language sql as 'select is_replica from ${name}.server';
    create function pg_postmaster_start_time() returns timestamptz language sql
      as 'select identity::timestamptz from ${name}.server'`)
  // Functions of a schema before the catalogue replace those of the server.
  const options = `-c search_path=${name},pg_catalog`
  return {
    run,
    set: async ({ isReplica, identity }) => {
      if (isReplica !== undefined) await run(`update server set is_replica = ${isReplica}`)
      if (identity !== undefined) await run(`update server set identity = '${identity}'`)
    },
    rejectWrites: (value) => {
      rejects = value
    },
    open(max, given) {
      const pool = new Pool({ ...address, max, options, application_name: `${name}_own` })
      pools.push(pool)
      pool.on('connect', (client) => {
        opened++
        if (rejects) void client.query('set default_transaction_read_only = on')
      })
      return postgresStorage(pool, given)
    },
    opened: () => opened,
    async loseConnections(max = 100) {
      const [lost] = await run(`with own as (select pid from pg_stat_activity
          where application_name = '${name}_own' and state = 'idle' order by pid limit ${max})
        select count(pg_terminate_backend(pid, 5000)) as count from own`)
      expect(Number(lost?.['count'])).toBeGreaterThan(0)
      await pause(50)
    },
    async drop() {
      for (const pool of pools) await pool.end()
      await drop()
    },
  }
}

async function startMariadb(): Promise<ChangingServer> {
  const database = await mysql.testDatabase()
  const { run, drop } = database
  let rejects = false
  let opened = 0
  await run(
    'create table server (is_replica int, identity varchar(40))',
    `insert into server values (0, '2020-01-01Z')`,
  )
  return {
    run,
    drop,
    set: async ({ isReplica, identity }) => {
      if (isReplica !== undefined) await run(`update server set is_replica = ${Number(isReplica)}`)
      if (identity !== undefined) await run(`update server set identity = '${identity}'`)
    },
    rejectWrites: (value) => {
      rejects = value
    },
    open(max, given) {
      const pool = database.open({ connectionLimit: max })
      pool.on('connection', (client) => {
        opened++
        if (rejects) void client.query('set session transaction read only')
        const query = client.query.bind(client) as (...values: readonly unknown[]) => unknown
        // The variables of a server are those of every test that runs at the same time.
        const own = (statement: { readonly sql: string }, ...more: readonly unknown[]) => {
          const sql = statement.sql
            .replace('@@global.read_only', '(select is_replica from server)')
            .replace('@@hostname', '(select identity from server)')
          return query({ ...statement, sql }, ...more)
        }
        Object.assign(client, { query: own })
      })
      return mysqlStorage(pool, given)
    },
    opened: () => opened,
    async loseConnections(max = 100) {
      const idle = await run(`select id from information_schema.processlist
        where db = '${database.name}' and id <> connection_id() order by id limit ${max}`)
      expect(idle.length).toBeGreaterThan(0)
      for (const { id } of idle) await run(`kill ${String(id)}`)
      await pause(50)
    },
  }
}

/** The servers that are reached through a pool. `demotesInPlace`: connections stay open when one becomes a replica. */
export const changingServers = [
  {
    name: 'PostgreSQL',
    demotesInPlace: false,
    missing: await postgres.missingServer(),
    start: startPostgres,
  },
  {
    name: 'MariaDB',
    demotesInPlace: true,
    missing: await mysql.missingServer(),
    start: startMariadb,
  },
] as const
