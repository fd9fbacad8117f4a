import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise'
import { Client } from 'pg'
import { root } from '../../.ci/entries.ts'
import { address as mysqlAddress } from '../kit/mysql.ts'
import { address } from '../kit/postgres.ts'

/** A database of a server, used without this library. */
export interface ForeignDatabase {
  readonly name: string
  readonly url: string
  /** Runs SQL and returns the first column of each row, as the server writes it. */
  query(sql: string): Promise<readonly string[]>
  drop(): Promise<void>
}

function databaseName(): string {
  return `rowgate_${randomUUID().replaceAll('-', '')}`
}

function dumpFile(dump: string): string {
  return join(root, `test/introspection/dumps/${dump}.sql`)
}

/** Restores a dump into a new PostgreSQL database: with psql if there is one, else with the driver. */
export async function restorePostgres(dump: string): Promise<ForeignDatabase> {
  const name = databaseName()
  await withClient('postgres', (client) => client.query(`create database ${name}`))
  const file = dumpFile(dump)
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

function hasProgram(name: string): boolean {
  try {
    execFileSync(name, ['--version'], { stdio: 'pipe' })
    return true
  } catch {
    return false
  }
}

const hasPsql = hasProgram('psql')

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

/**
 * Restores dumps into a new database of MariaDB or MySQL: with the program of the server if there is one, else with the
 * driver.
 */
export async function restoreMysql(...dumps: readonly string[]): Promise<ForeignDatabase> {
  const name = databaseName()
  await withConnection(undefined, (connection) => connection.query(`create database ${name}`))
  for (const dump of dumps) {
    const script = readFileSync(dumpFile(dump), 'utf8')
    if (hasMysqlProgram) mysql(name, [], script)
    else await withConnection(name, (connection) => connection.query(script))
  }
  const { host, port, user, password } = mysqlAddress
  return {
    name,
    url: `mysql://${user}:${encodeURIComponent(password)}@${host}:${port}/${name}`,
    query: async (sql) => {
      const inUtc = `set time_zone = '+00:00'`
      if (hasMysqlProgram)
        return mysql(name, ['-e', `${inUtc}; ${sql}`], '')
          .split('\n')
          .filter((line) => line !== '')
      return withConnection(name, async (connection) => {
        await connection.query(inUtc)
        const [rows] = await connection.query<RowDataPacket[][]>({ sql, rowsAsArray: true })
        return rows.map(([value]) => String(value))
      })
    },
    drop: () =>
      withConnection(undefined, async (connection) => {
        await connection.query(`drop database ${name}`)
      }),
  }
}

// `npm run test:mysql` sets it to the one of MySQL.
const mysqlProgram = process.env['MYSQL_PROGRAM'] ?? 'mariadb'

function mysql(database: string, line: readonly string[], input: string): string {
  const { host, port, user, password } = mysqlAddress
  const settings = ['--no-defaults', '-h', host, '-P', String(port), '-u', user]
  const form = ['--default-character-set=utf8mb4', '--batch', '--raw', '--skip-column-names']
  return execFileSync(mysqlProgram, [...settings, ...form, ...line, database], {
    encoding: 'utf8',
    input,
    env: { ...process.env, MYSQL_PWD: password },
  })
}

const hasMysqlProgram = hasProgram(mysqlProgram)

async function withConnection<Result>(
  database: string | undefined,
  work: (connection: Connection) => Promise<Result>,
): Promise<Result> {
  const own = database === undefined ? {} : { database }
  const settings = { charset: 'utf8mb4_bin', jsonStrings: true, multipleStatements: true }
  const connection = await createConnection({ ...mysqlAddress, ...own, ...settings })
  try {
    return await work(connection)
  } finally {
    await connection.end()
  }
}
