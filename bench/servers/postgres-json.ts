import { createServer } from 'node:http'
import { Pool } from 'pg'
import { columns, listed } from '../customer.ts'
import { announce, connectionsOf, tableNames } from './announce.ts'
import { postgresHandler, type PostgresTable } from './postgres-handler.ts'
import { around, itemReply, pageReply } from './replies.ts'

const pool = new Pool(connectionsOf())
const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')
const mark = 'here'

const [beforePage, afterPage] = around(pageReply([mark]), [mark])
const [beforeItem, afterItem] = around(itemReply(mark), mark)
const itemText = (text: string) => beforeItem + text + afterItem

/** Statements as PostgREST writes them: PostgreSQL reads the JSON of a body and writes that of a response. */
function tableOf(table: string): PostgresTable {
  const page = `select coalesce(json_agg(row_to_json(r)), '[]')::text as text from
    (select ${quoted(listed)} from "${table}" order by "customerId" limit $1 offset $2) as r`
  const one = `select row_to_json(r)::text as text from
    (select ${quoted(columns)} from "${table}" where "customerId" = $1) as r`
  const insert = `with r as (insert into "${table}" (${quoted(columns)})
    select ${quoted(columns)} from json_populate_record(null::"${table}", $1::json) returning ${quoted(columns)})
    select row_to_json(r)::text as text from r`
  const run = async (name: string, text: string, values: unknown[]) => {
    const { rows } = await pool.query<{ text: string }>({ name: `${name} ${table}`, text, values })
    return rows[0]?.text
  }
  return {
    page: async (limit, offset) =>
      beforePage + ((await run('page', page, [limit, offset])) ?? '[]') + afterPage,
    async one(key) {
      const text = await run('one', one, [key])
      return text === undefined ? undefined : itemText(text)
    },
    insert: async (row) => itemText((await run('insert', insert, [JSON.stringify(row)])) ?? ''),
  }
}

const tables = new Map(tableNames().map((name) => [name, tableOf(name)]))

announce(createServer(postgresHandler(tables)).listen(0, '127.0.0.1'))
