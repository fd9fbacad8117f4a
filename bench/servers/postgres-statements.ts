import type { Pool } from 'pg'
import { columns, listed } from '../customer.ts'
import type { PoolTable } from './pool-handler.ts'
import { itemReply, pageReply } from './replies.ts'

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')

/** A statement with the name under which each connection keeps it. */
export interface NamedStatement {
  name: string
  text: string
}

/** Returns a function that returns the statement of an update of some columns. `returning`: what it ends with. */
export function updatesOf(
  table: string,
  returning: string,
): (names: readonly string[]) => NamedStatement {
  const statements = new Map<string, NamedStatement>()
  return (names) => {
    const shape = names.join()
    const known = statements.get(shape)
    if (known !== undefined) return known
    const assignments = names.map((name, index) => `"${name}" = $${index + 2}`).join(', ')
    const text = `update "${table}" set ${assignments} where "customerId" = $1 returning ${returning}`
    // PostgreSQL cuts names after 63 characters, so the names of the columns are not part of it.
    const statement = { name: `update ${statements.size} ${table}`, text }
    statements.set(shape, statement)
    return statement
  }
}

function tableOf(pool: Pool, table: string): PoolTable {
  const parameters = columns.map((_, index) => `$${index + 1}`).join(', ')
  const select = `select ${quoted(listed)} from "${table}"`
  const page = {
    name: `page ${table}`,
    text: `${select} order by "customerId" limit $1 offset $2`,
  }
  const filtered = {
    name: `filtered ${table}`,
    text: `${select} where "address" = $1 order by "customerId" limit $2 offset $3`,
  }
  const one = {
    name: `one ${table}`,
    text: `select ${quoted(columns)} from "${table}" where "customerId" = $1`,
  }
  const insert = {
    name: `insert ${table}`,
    text: `insert into "${table}" (${quoted(columns)}) values (${parameters}) returning ${quoted(columns)}`,
  }
  const updateOf = updatesOf(table, quoted(columns))
  const run = async ({ name, text }: NamedStatement, values: unknown[]) =>
    (await pool.query({ name, text, values })).rows as unknown[]
  const pageText = async (statement: NamedStatement, values: unknown[]) =>
    JSON.stringify(pageReply(await run(statement, values)))
  const itemText = async (statement: NamedStatement, values: unknown[]) => {
    const [row] = await run(statement, values)
    return row === undefined ? undefined : JSON.stringify(itemReply(row))
  }
  return {
    page: (limit, offset) => pageText(page, [limit, offset]),
    filtered: (address, limit, offset) => pageText(filtered, [address, limit, offset]),
    one: (key) => itemText(one, [key]),
    async insert(row) {
      const values = columns.map((name) => row[name] ?? null)
      const [stored] = await run(insert, values)
      return JSON.stringify(itemReply(stored))
    },
    update(key, changes) {
      const names = Object.keys(changes)
      if (names.length === 0) return itemText(one, [key])
      return itemText(updateOf(names), [key, ...Object.values(changes)])
    },
  }
}

/** What a handler by hand does with tables. Its statements have names: each connection parses and plans them once. */
export function statementTables(
  pool: Pool,
  tables: readonly string[],
): ReadonlyMap<string, PoolTable> {
  return new Map(tables.map((table) => [table, tableOf(pool, table)]))
}
