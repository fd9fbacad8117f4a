import type { RequestListener, ServerResponse } from 'node:http'
import { readBody, send } from './node-http-handler.ts'
import { errorReply, failedReply, limitOf, offsetOf } from './replies.ts'
import { failuresOf } from './rules.ts'
import type { Changes } from './store.ts'

const prefix = '/rest/v1/sales/'

/** What a handler on PostgreSQL does with a table. Each method returns the text of a response. */
export interface PostgresTable {
  page(limit: number, offset: number): Promise<string>
  /** Undefined: there is no such row. */
  one(key: string): Promise<string | undefined>
  insert(row: Changes): Promise<string>
}

function sendText(response: ServerResponse, text: string): void {
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
}

async function read(response: ServerResponse, table: PostgresTable, key?: string, search = '') {
  if (key !== undefined) {
    const text = await table.one(decodeURIComponent(key))
    if (text === undefined) send(response, 404, errorReply(404, 'Not found.'))
    else sendText(response, text)
    return
  }
  const query = search === '' ? undefined : new URLSearchParams(search)
  const [limit, offset] = [limitOf(query?.get('$limit')), offsetOf(query?.get('$offset'))]
  sendText(response, await table.page(limit, offset))
}

async function insert(response: ServerResponse, table: PostgresTable, text: string) {
  const body = JSON.parse(text) as Changes
  const failures = failuresOf(body, true)
  if (failures.length > 0) send(response, 400, failedReply(body, failures))
  else sendText(response, await table.insert(body))
}

/** The application in `node:http` on PostgreSQL. */
export function postgresHandler(tables: ReadonlyMap<string, PostgresTable>): RequestListener {
  return (request, response) => {
    const [path = '', search] = (request.url ?? '').split('?')
    const [name = '', key] = path.slice(prefix.length).split('/')
    const table = path.startsWith(prefix) ? tables.get(name) : undefined
    if (!table) return send(response, 404, errorReply(404, 'Not found.'))
    const failed = (error: unknown) => send(response, 500, errorReply(500, String(error)))
    if (request.method === 'GET') void read(response, table, key, search).catch(failed)
    else readBody(request, (text) => void insert(response, table, text).catch(failed))
  }
}
