import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { errorReply, failedReply, itemReply, limitOf, offsetOf, pageReply } from './replies.ts'
import { failuresOf } from './rules.ts'
import type { Changes, Store, Stores } from './store.ts'

const prefix = '/rest/v1/sales/'

export function send(response: ServerResponse, status: number, reply: unknown): void {
  const text = JSON.stringify(reply)
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  })
  response.end(text)
}

function sendItem(response: ServerResponse, item: unknown): void {
  if (item === undefined) return send(response, 404, errorReply(404, 'Not found.'))
  send(response, 200, itemReply(item))
}

function read(response: ServerResponse, store: Store, key: string | undefined, search: string) {
  if (key !== undefined) return sendItem(response, store.one(decodeURIComponent(key)))
  if (search === '') return send(response, 200, pageReply(store.page(10, 0)))
  const query = new URLSearchParams(search)
  const limit = limitOf(query.get('$limit'))
  const offset = offsetOf(query.get('$offset'))
  const needle = query.get('$q')
  const address = query.get('address')
  const unfiltered = (): unknown[] =>
    needle === null ? store.page(limit, offset) : store.search(needle, limit)
  const items = address === null ? unfiltered() : store.filtered(address, limit, offset)
  const count = query.get('$count') === 'true' ? store.count() : null
  send(response, 200, pageReply(items, count))
}

function write(response: ServerResponse, store: Store, key: string | undefined, text: string) {
  const body = JSON.parse(text) as Changes
  const failures = failuresOf(body, key === undefined)
  if (failures.length > 0) return send(response, 400, failedReply(body, failures))
  sendItem(
    response,
    key === undefined ? store.insert(body) : store.update(decodeURIComponent(key), body),
  )
}

/** Reads the body of a request. */
export function readBody(request: IncomingMessage, done: (text: string) => void): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => done(Buffer.concat(chunks).toString()))
}

function guarded(response: ServerResponse, work: () => void): void {
  try {
    work()
  } catch (error) {
    send(response, 500, errorReply(500, String(error)))
  }
}

/** The application in `node:http` alone. */
export function nodeHttpHandler(stores: Stores): RequestListener {
  return (request, response) => {
    const [path = '', search = ''] = (request.url ?? '').split('?')
    const [table, key] = path.slice(prefix.length).split('/')
    const store = path.startsWith(prefix) && table ? stores.get(table) : undefined
    if (!store) return send(response, 404, errorReply(404, 'Not found.'))
    if (request.method === 'GET') return guarded(response, () => read(response, store, key, search))
    if (request.method !== 'POST') return send(response, 405, errorReply(405, 'Not allowed.'))
    readBody(request, (text) => guarded(response, () => write(response, store, key, text)))
  }
}
