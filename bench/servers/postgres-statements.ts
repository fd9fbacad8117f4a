import type { Pool } from 'pg'
import { columns, listed } from '../customer.ts'
import type { PostgresTable } from './postgres-handler.ts'
import { itemReply, pageReply } from './replies.ts'

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')

function tableOf(pool: Pool, table: string): PostgresTable {
  const parameters = columns.map((_, index) => `$${index + 1}`).join(', ')
  const page = `select ${quoted(listed)} from "${table}" order by "customerId" limit $1 offset $2`
  const one = `select ${quoted(columns)} from "${table}" where "customerId" = $1`
  const insert = `insert into "${table}" (${quoted(columns)}) values (${parameters}) returning ${quoted(columns)}`
  const run = async (name: string, text: string, values: unknown[]) =>
    (await pool.query({ name: `${name} ${table}`, text, values })).rows as unknown[]
  return {
    page: async (limit, offset) =>
      JSON.stringify(pageReply(await run('page', page, [limit, offset]))),
    async one(key) {
      const [row] = await run('one', one, [key])
      return row === undefined ? undefined : JSON.stringify(itemReply(row))
    },
    async insert(row) {
      const values = columns.map((name) => row[name] ?? null)
      const [stored] = await run('insert', insert, values)
      return JSON.stringify(itemReply(stored))
    },
  }
}

/** What a handler by hand does with tables. Its statements have names: each connection parses and plans them once. */
export function statementTables(
  pool: Pool,
  tables: readonly string[],
): ReadonlyMap<string, PostgresTable> {
  return new Map(tables.map((table) => [table, tableOf(pool, table)]))
}
