import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { postgresSchema } from 'rowgate/postgres'
import { columns, indexed } from './customer.ts'
import { rowsOf, type Tables } from './database.ts'
import type { ServerDatabase } from './server-process.ts'
import { salesApplications } from './servers/sales.ts'

/** The server: a URL of a database in which schemas may be created. */
const server = process.env['BENCH_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432/test'

/** Creates a schema with tables as the library creates them, with the rows that the servers on SQLite have in a file. */
export async function createSchema(tables: Tables): Promise<ServerDatabase> {
  const schema = `rowgate_bench_${randomUUID().replaceAll('-', '')}`
  const url = new URL(server)
  url.searchParams.set('options', `-c search_path=${schema}`)
  const pool = new Pool({ connectionString: url.href, max: 1, connectionTimeoutMillis: 5_000 })
  const names = columns.map((name) => `"${name}"`).join(', ')
  const parameters = columns.map((_, index) => `$${index + 1}::text[]`).join(', ')
  await pool.query(`create schema ${schema}`)
  await pool.query(postgresSchema(salesApplications(Object.keys(tables), indexed)))
  for (const [table, count] of Object.entries(tables)) {
    const rows = rowsOf(table, count)
    const lists = columns.map((name) => rows.map((row) => row[name]))
    await pool.query(`insert into "${table}" (${names}) select * from unnest(${parameters})`, lists)
    await pool.query(`analyze "${table}"`)
  }
  return {
    place: url.href,
    async remove() {
      await pool.query(`drop schema ${schema} cascade`)
      await pool.end()
    },
  }
}
