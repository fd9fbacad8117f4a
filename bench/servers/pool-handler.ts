import type { RequestListener, ServerResponse } from 'node:http'
import { readBody, send } from './node-http-handler.ts'
import { errorReply, failedReply, limitOf, offsetOf } from './replies.ts'
import { failuresOf } from './rules.ts'
import type { Changes } from './store.ts'

const prefix = '/rest/v1/sales/'

/** What a handler on a database behind a pool does with a table. Each method returns the text of a response. */
export interface PoolTable {
  page(limit: number, offset: number): Promise<string>
  /** Of the rows with an address. */
  filtered(address: string, limit: number, offset: number): Promise<string>
  /** Undefined: there is no such row. */
  one(key: string): Promise<string | undefined>
  insert(row: Changes): Promise<string>
  /** Undefined: there is no such row. */
  update(key: string, changes: Changes): Promise<string | undefined>
}

function sendText(response: ServerResponse, text: string): void {
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
}

function sendItem(response: ServerResponse, text: string | undefined): void {
  if (text === undefined) send(response, 404, errorReply(404, 'Not found.'))
  else sendText(response, text)
}

async function read(response: ServerResponse, table: PoolTable, key?: string, search = '') {
  if (key !== undefined) return sendItem(response, await table.one(decodeURIComponent(key)))
  if (search === '') return sendText(response, await table.page(10, 0))
  const query = new URLSearchParams(search)
  const limit = limitOf(query.get('$limit'))
  const offset = offsetOf(query.get('$offset'))
  const address = query.get('address')
  const text = address === null ? table.page(limit, offset) : table.filtered(address, limit, offset)
  sendText(response, await text)
}

async function write(response: ServerResponse, table: PoolTable, text: string, key?: string) {
  const body = JSON.parse(text) as Changes
  const failures = failuresOf(body, key === undefined)
  if (failures.length > 0) send(response, 400, failedReply(body, failures))
  else if (key === undefined) sendText(response, await table.insert(body))
  else sendItem(response, await table.update(decodeURIComponent(key), body))
}

/** The application in `node:http` on a database behind a pool. */
export function poolHandler(tables: ReadonlyMap<string, PoolTable>): RequestListener {
  return (request, response) => {
    const [path = '', search] = (request.url ?? '').split('?')
    const [name = '', key] = path.slice(prefix.length).split('/')
    const table = path.startsWith(prefix) ? tables.get(name) : undefined
    if (!table) return send(response, 404, errorReply(404, 'Not found.'))
    const failed = (error: unknown) => send(response, 500, errorReply(500, String(error)))
    if (request.method === 'GET') void read(response, table, key, search).catch(failed)
    else readBody(request, (text) => void write(response, table, text, key).catch(failed))
  }
}
