import type { StorageAdapter } from '../../../src/entries/storage.ts'
import { mysqlStorage } from '../../../src/entries/mysql.ts'
import { postgresStorage } from '../../../src/entries/postgres.ts'
import * as mysql from '../../kit/mysql.ts'
import * as postgres from '../../kit/postgres.ts'

type Row = Readonly<Record<string, unknown>>

/** A database of its own, whose storages have pools of their own. */
export interface PooledServer {
  run(...statements: readonly string[]): Promise<readonly Row[]>
  /** Removes every row. */
  clear(): Promise<void>
  drop(): Promise<void>
  /** Opens a storage with some connections. Calls `sent` with each statement that is sent to the server. */
  open(
    max: number,
    options: {
      readonly acquireTimeout?: number
      readonly lockTimeout?: number
      readonly ensureSchema?: boolean
    },
    sent?: (text: string) => void,
  ): StorageAdapter
  /** Opens a storage whose option `reads` is another pool to the same server. */
  openWithReads(max: number): StorageAdapter
  /** Returns a function that opens storages of one pool. */
  openAgain(max: number): () => StorageAdapter
  /** Runs statements on a connection of its own. Returns a function that undoes them. */
  hold(...statements: readonly string[]): Promise<() => Promise<void>>
  /** Ends the connections whose insert waits for a lock, and returns their number. */
  killWaiting(): Promise<number>
  /** Ends the idle connections of the storages, and returns their number. */
  killIdle(): Promise<number>
}

/** A connection of a pool. */
export interface Sender {
  query(query: { readonly text?: string; readonly sql?: string }, done: unknown): unknown
}

/** Calls `sent` with each statement of a connection. */
export function watch(client: Sender, sent: (text: string) => void): void {
  const query = client.query.bind(client)
  client.query = (given, done) => {
    sent(given.text ?? given.sql ?? '')
    return query(given, done)
  }
}

/** The servers that are reached through a pool. */
export const pooledServers = [
  {
    name: 'PostgreSQL',
    missing: await postgres.missingServer(),
    /** The statements that lock a table until they are undone. */
    lock: (table: string): readonly string[] => ['begin', `lock table ${table}`],
    async start(): Promise<PooledServer> {
      const { name, open, run, clear, drop } = await postgres.testSchema()
      return {
        clear,
        drop,
        run: (...statements) => run(statements.join('; ')),
        open(max, options, sent) {
          const pool = open(max)
          if (sent) pool.on('connect', (client) => watch(client as unknown as Sender, sent))
          return postgresStorage(pool, options)
        },
        openWithReads: (max) => postgresStorage(open(max), { reads: open(max) }),
        openAgain(max) {
          const pool = open(max)
          return () => postgresStorage(pool)
        },
        async hold(...statements) {
          const client = await open(1).connect()
          await client.query(statements.join('; '))
          return async () => {
            await client.query('rollback')
            client.release()
          }
        },
        killWaiting: async () =>
          (
            await run(`select pg_terminate_backend(pid) from pg_stat_activity
              where application_name like '${name}%' and wait_event_type = 'Lock'`)
          ).length,
        killIdle: async () =>
          (
            await run(`select pg_terminate_backend(pid) from pg_stat_activity
              where application_name like '${name}%' and state = 'idle'`)
          ).length,
      }
    },
  },
  {
    name: 'MariaDB',
    missing: await mysql.missingServer(),
    lock: (table: string): readonly string[] => [`lock tables ${table} write`],
    async start(): Promise<PooledServer> {
      const { name, open, run, clear, drop } = await mysql.testDatabase()
      return {
        clear,
        drop,
        run: (...statements) => run(`use ${name}`, ...statements),
        open(max, options, sent) {
          const { pool } = open({ connectionLimit: max })
          if (sent) pool.on('connection', (client) => watch(client, sent))
          return mysqlStorage(pool, options)
        },
        openWithReads(max) {
          const [primary, reads] = [open({ connectionLimit: max }), open({ connectionLimit: max })]
          return mysqlStorage(primary, { reads })
        },
        openAgain(max) {
          const pool = open({ connectionLimit: max })
          return () => mysqlStorage(pool)
        },
        async hold(...statements) {
          const client = await open({ connectionLimit: 1 }).getConnection()
          for (const statement of statements) await client.query(statement)
          return async () => {
            await client.query('rollback')
            await client.query('unlock tables')
            client.release()
          }
        },
        async killWaiting() {
          const waiting = await run(`select id from information_schema.processlist
            where db = '${name}' and info like 'insert%'`)
          for (const { id } of waiting) await run(`kill ${String(id)}`)
          return waiting.length
        },
        async killIdle() {
          const idle = await run(`select id from information_schema.processlist
            where db = '${name}' and command = 'Sleep' and id <> connection_id()`)
          for (const { id } of idle) await run(`kill ${String(id)}`)
          return idle.length
        },
      }
    },
  },
] as const
