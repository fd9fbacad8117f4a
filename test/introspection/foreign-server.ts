import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { root } from '../../.ci/entries.ts'
import { address } from '../kit/postgres.ts'

/** A database of a server, used without this library. */
export interface ForeignDatabase {
  readonly name: string
  readonly url: string
  /** Runs SQL and returns the first column of each row, as the server writes it. */
  query(sql: string): Promise<readonly string[]>
  drop(): Promise<void>
}

/** Restores a dump into a new PostgreSQL database: with psql if there is one, else with the driver. */
export async function restorePostgres(dump: string): Promise<ForeignDatabase> {
  const name = `rowgate_${randomUUID().replaceAll('-', '')}`
  await withClient('postgres', (client) => client.query(`create database ${name}`))
  const file = join(root, `test/introspection/dumps/${dump}.sql`)
  if (hasPsql) psql(name, ['-q', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f', file])
  else await withClient(name, (client) => client.query(readFileSync(file, 'utf8')))
  const { host, port, user } = address
  return {
    name,
    url: `postgres://${user}@${host}:${port}/${name}`,
    query: async (sql) => {
      if (hasPsql)
        return psql(name, ['-qAt', '-c', sql])
          .split('\n')
          .filter((line) => line !== '')
      return withClient(name, async (client) => {
        await client.query(settings)
        const { rows } = await client.query<[string]>({ text: sql, rowMode: 'array' as const })
        return rows.map(([value]) => (typeof value === 'string' ? value : JSON.stringify(value)))
      })
    },
    drop: () =>
      withClient('postgres', async (client) => {
        await client.query(`drop database ${name} with (force)`)
      }),
  }
}

const settings = `set timezone = 'UTC'; set intervalstyle = 'iso_8601'`

function psql(database: string, line: readonly string[]): string {
  return execFileSync('psql', ['-X', ...line], {
    encoding: 'utf8',
    stdio: 'pipe',
    env: {
      ...process.env,
      PGHOST: address.host,
      PGPORT: String(address.port),
      PGUSER: address.user,
      PGDATABASE: database,
      PGOPTIONS: '-c timezone=UTC -c intervalstyle=iso_8601',
    },
  })
}

const hasPsql = ((): boolean => {
  try {
    execFileSync('psql', ['--version'], { stdio: 'pipe' })
    return true
  } catch {
    return false
  }
})()

async function withClient<Result>(
  database: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ ...address, database })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
