import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { columns, required } from './customer.ts'
import { rowsOf, type Tables } from './database.ts'
import type { ServerDatabase } from './server-process.ts'

/** The server: a URL of a database in which schemas may be created. */
const server = process.env['BENCH_POSTGRES'] ?? 'postgres://postgres@127.0.0.1:5432/test'

/** Creates a schema with tables, as the servers on SQLite have them in a file. */
export async function createSchema(tables: Tables): Promise<ServerDatabase> {
  const schema = `rowgate_bench_${randomUUID().replaceAll('-', '')}`
  const url = new URL(server)
  url.searchParams.set('options', `-c search_path=${schema}`)
  const pool = new Pool({ connectionString: url.href, max: 1, connectionTimeoutMillis: 5_000 })
  const names = columns.map((name) => `"${name}"`)
  const definitions = columns.map((name, index) => {
    const mandatory = (required as readonly string[]).includes(name) ? ' not null' : ''
    const key = name === 'customerId' ? ' primary key' : ''
    return `${names[index]} text collate "C"${mandatory}${key}`
  })
  await pool.query(`create schema ${schema}`)
  for (const [table, count] of Object.entries(tables)) {
    await pool.query(`create table "${table}" (${definitions.join(', ')})`)
    const rows = rowsOf(table, count)
    const lists = columns.map((name) => rows.map((row) => row[name]))
    const parameters = columns.map((_, index) => `$${index + 1}::text[]`)
    await pool.query(
      `insert into "${table}" (${names.join(', ')}) select * from unnest(${parameters.join(', ')})`,
      lists,
    )
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
