import type { Pool, ResultSetHeader, RowDataPacket } from 'mysql2/promise'
import { columns, listed } from '../customer.ts'
import type { PoolTable } from './pool-handler.ts'
import { itemReply, pageReply } from './replies.ts'

type Value = string | number | null

const quoted = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')

function tableOf(pool: Pool, table: string): PoolTable {
  const select = `select ${quoted(listed)} from \`${table}\``
  const page = `${select} order by \`customerId\` limit ? offset ?`
  const filtered = `${select} where \`address\` = ? order by \`customerId\` limit ? offset ?`
  const one = `select ${quoted(columns)} from \`${table}\` where \`customerId\` = ?`
  const insert = `insert into \`${table}\` (${quoted(columns)}) values (${columns.map(() => '?').join(', ')})`
  const updates = new Map<string, string>()

  function updateOf(names: readonly string[]): string {
    const shape = names.join()
    const known = updates.get(shape)
    if (known !== undefined) return known
    const assignments = names.map((name) => `\`${name}\` = ?`).join(', ')
    const text = `update \`${table}\` set ${assignments} where \`customerId\` = ?`
    updates.set(shape, text)
    return text
  }

  async function pageText(text: string, values: Value[]): Promise<string> {
    const [rows] = await pool.execute<RowDataPacket[]>(text, values)
    return JSON.stringify(pageReply(rows))
  }

  async function itemText(key: string): Promise<string | undefined> {
    const [[row]] = await pool.execute<RowDataPacket[]>(one, [key])
    return row === undefined ? undefined : JSON.stringify(itemReply(row))
  }

  return {
    page: (limit, offset) => pageText(page, [limit, offset]),
    filtered: (address, limit, offset) => pageText(filtered, [address, limit, offset]),
    one: itemText,
    async insert(row) {
      const values = columns.map((name) => row[name] ?? null)
      await pool.execute(insert, values)
      const stored = Object.fromEntries(columns.map((name, index) => [name, values[index]]))
      return JSON.stringify(itemReply(stored))
    },
    async update(key, changes) {
      const names = Object.keys(changes)
      if (names.length > 0) {
        const values = [...Object.values(changes), key]
        // The driver counts the rows that are found, whether or not they change.
        const [{ affectedRows }] = await pool.execute<ResultSetHeader>(updateOf(names), values)
        if (affectedRows === 0) return undefined
      }
      // MariaDB has no UPDATE with RETURNING.
      return itemText(key)
    },
  }
}

/** What a handler by hand does with tables. Its statements are executed: each connection prepares them once. */
export function executedTables(
  pool: Pool,
  tables: readonly string[],
): ReadonlyMap<string, PoolTable> {
  return new Map(tables.map((table) => [table, tableOf(pool, table)]))
}
