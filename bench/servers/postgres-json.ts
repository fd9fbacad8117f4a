import { createServer } from 'node:http'
import { Pool } from 'pg'
import { columns, listed } from '../customer.ts'
import { announce, connectionsOf, tableNames } from './announce.ts'
import { poolHandler, type PoolTable } from './pool-handler.ts'
import { updatesOf, type NamedStatement } from './postgres-statements.ts'
import { around, itemReply, pageReply } from './replies.ts'

const pool = new Pool(connectionsOf())
const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')
const mark = 'here'

const [beforePage, afterPage] = around(pageReply([mark]), [mark])
const [beforeItem, afterItem] = around(itemReply(mark), mark)

async function run({ name, text }: NamedStatement, values: unknown[]): Promise<string | undefined> {
  const { rows } = await pool.query<{ text: string }>({ name, text, values })
  return rows[0]?.text
}

async function pageText(statement: NamedStatement, values: unknown[]): Promise<string> {
  return beforePage + ((await run(statement, values)) ?? '[]') + afterPage
}

async function itemText(statement: NamedStatement, values: unknown[]): Promise<string | undefined> {
  const text = await run(statement, values)
  return text === undefined ? undefined : beforeItem + text + afterItem
}

/** Statements as PostgREST writes them: PostgreSQL reads the JSON of a body and writes that of a response. */
function tableOf(table: string): PoolTable {
  const pageOf = (name: string, rest: string): NamedStatement => ({
    name: `${name} ${table}`,
    text: `select coalesce(json_agg(row_to_json(r)), '[]')::text as text from
      (select ${quoted(listed)} from "${table}" ${rest}) as r`,
  })
  const page = pageOf('page', 'order by "customerId" limit $1 offset $2')
  const filtered = pageOf(
    'filtered',
    'where "address" = $1 order by "customerId" limit $2 offset $3',
  )
  const one = {
    name: `one ${table}`,
    text: `select row_to_json(r)::text as text from
      (select ${quoted(columns)} from "${table}" where "customerId" = $1) as r`,
  }
  const insert = {
    name: `insert ${table}`,
    text: `with r as (insert into "${table}" (${quoted(columns)})
      select ${quoted(columns)} from json_populate_record(null::"${table}", $1::json) returning ${quoted(columns)})
      select row_to_json(r)::text as text from r`,
  }
  const updateOf = updatesOf(table, `row_to_json("${table}")::text as text`)
  return {
    page: (limit, offset) => pageText(page, [limit, offset]),
    filtered: (address, limit, offset) => pageText(filtered, [address, limit, offset]),
    one: (key) => itemText(one, [key]),
    insert: async (row) => (await itemText(insert, [JSON.stringify(row)])) ?? '',
    update(key, changes) {
      const names = Object.keys(changes)
      if (names.length === 0) return itemText(one, [key])
      return itemText(updateOf(names), [key, ...Object.values(changes)])
    },
  }
}

const tables = new Map(tableNames().map((name) => [name, tableOf(name)]))

announce(createServer(poolHandler(tables)).listen(0, '127.0.0.1'))
