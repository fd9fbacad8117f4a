import type { RequestListener } from 'node:http'
import type { Database } from 'better-sqlite3'
import { columns, listed } from '../customer.ts'
import { readBody } from './node-http-handler.ts'
import { leastKeyCheck, type KeyCheck } from './key-check.ts'
import {
  around,
  errorReply,
  failedReply,
  itemReply,
  limitOf,
  offsetOf,
  pageReply,
  unauthorized,
} from './replies.ts'
import { failuresOf } from './rules.ts'
import type { Changes } from './store.ts'

/** A response, which is JSON. */
export interface Text {
  readonly status: 200 | 400 | 401 | 404
  readonly text: string | Buffer
}

/**
 * The least that a program can do which keeps the contract: one prepared statement for each request, of which SQLite
 * writes the JSON, and one commit for the writes of a few turns of the event loop. It looks for the hash of a key in
 * memory, checks values as the other hand-written servers do, and parses a target once. What it keeps is read again
 * if another process has changed the database, which it asks SQLite once in a turn of the event loop.
 */
export interface Floor {
  /** Checks the keys of requests. */
  readonly keys: KeyCheck
  read(target: string): Text
  /** Writes a row of the body of a request, and responds after the commit. */
  write(target: string, body: string, respond: (text: Text) => void): void
  /** Called with the path of a table after each commit that wrote to it. */
  onWrite(listener: (path: string) => void): void
}

/** The headers that the contract demands of each response, besides `Content-Length`. */
export const headers = Object.freeze({
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Svc-Version': '4.54',
})

const mark = 'here'

const notFound: Text = { status: 404, text: JSON.stringify(errorReply(404, 'Not found.')) }
export const noKey: Text = { status: 401, text: JSON.stringify(unauthorized) }
const [beforePage, afterPage] = around(pageReply([mark]), [mark])
const [beforeItem, afterItem] = around(itemReply(mark), mark)

function jsonOf(names: readonly string[]): string {
  return `json_object(${names.map((name) => `'${name}', ${name}`).join(', ')})`
}

function itemText(item: unknown): Text {
  return typeof item === 'string'
    ? { status: 200, text: `${beforeItem}${item}${afterItem}` }
    : notFound
}

/** Opens the floor of some tables on a connection, which it makes durable: `synchronous=FULL`. */
export function floorOf(db: Database, tables: readonly string[]): Floor {
  db.pragma('synchronous = FULL')
  const keys = leastKeyCheck(db)
  const listeners: ((path: string) => void)[] = []
  const dataVersion = db.prepare('PRAGMA data_version').pluck()
  let version = dataVersion.get()
  let isCurrent = false

  function notice(): void {
    if (isCurrent) return
    isCurrent = true
    setImmediate(() => {
      isCurrent = false
    })
    const current = dataVersion.get()
    if (current === version) return
    version = current
    keys.refresh()
    for (const { path } of stores) for (const listener of listeners) listener(path)
  }

  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const waiting: (() => () => void)[] = []

  // Waits as long as each turn brings another write.
  function runAll(before: number): void {
    if (waiting.length > before) {
      setImmediate(runAll, waiting.length)
      return
    }
    begin.run()
    const responses = waiting.splice(0).map((run) => run())
    commit.run()
    for (const respond of responses) respond()
  }

  const stores = tables.map((table) => {
    const path = `/rest/v1/sales/${table}`
    const pageOf = (where: string) =>
      db
        .prepare(
          `SELECT json_group_array(${jsonOf(listed)}) FROM
           (SELECT ${listed.join(', ')} FROM ${table} ${where} ORDER BY customerId
            LIMIT CAST(? AS INTEGER) OFFSET CAST(? AS INTEGER))`,
        )
        .pluck()
    const page = pageOf('')
    const filtered = pageOf('WHERE address = ?')
    const one = db.prepare(`SELECT ${jsonOf(columns)} FROM ${table} WHERE customerId = ?`).pluck()
    const insert = db.prepare(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    )
    const updates = new Map<string, ReturnType<typeof db.prepare>>()

    function updateOf(names: readonly string[]) {
      const sql = `UPDATE ${table} SET ${names.map((name) => `${name} = ?`).join(', ')}
        WHERE customerId = ? RETURNING ${jsonOf(columns)}`
      const known = updates.get(sql) ?? db.prepare(sql).pluck()
      updates.set(sql, known)
      return known
    }

    return {
      path,
      readOf(target: string): () => Text {
        if (target.startsWith(`${path}/`)) {
          const key = decodeURIComponent(target.slice(path.length + 1))
          return () => itemText(one.get(key))
        }
        const query = new URLSearchParams(target.slice(path.length))
        const [limit, offset] = [limitOf(query.get('$limit')), offsetOf(query.get('$offset'))]
        const address = query.get('address')
        return () => {
          const items = (
            address === null ? page.get(limit, offset) : filtered.get(address, limit, offset)
          ) as string
          return { status: 200, text: `${beforePage}${items}${afterPage}` }
        }
      },
      write(target: string, body: string): Text {
        const row = JSON.parse(body) as Changes
        const failures = failuresOf(row, target === path)
        if (failures.length > 0) {
          return { status: 400, text: JSON.stringify(failedReply(row, failures)) }
        }
        if (target === path) {
          insert.run(columns.map((name) => row[name] ?? null))
          return itemText(body)
        }
        const key = target.slice(path.length + 1)
        return itemText(updateOf(Object.keys(row)).get(...Object.values(row), key))
      },
    }
  })

  const storeOf = (target: string) => stores.find(({ path }) => target.startsWith(path))
  const reads = new Map<string, () => Text>()

  return {
    keys: {
      admits(key) {
        notice()
        return keys.admits(key)
      },
      headers: keys.headers,
    },
    read(target) {
      let read = reads.get(target)
      if (read === undefined) {
        read = storeOf(target)?.readOf(target) ?? (() => notFound)
        reads.set(target, read)
      }
      return read()
    },
    write(target, body, respond) {
      const store = storeOf(target)
      if (store === undefined) return respond(notFound)
      if (waiting.length === 0) setImmediate(runAll, 1)
      waiting.push(() => {
        const text = store.write(target, body)
        return () => {
          for (const listener of listeners) listener(store.path)
          respond(text)
        }
      })
    },
    onWrite: (listener) => void listeners.push(listener),
  }
}

/** The floor of reads that are kept: a constant text until a row of its table is written. */
export function constantFloor(floor: Floor): Floor {
  const texts = new Map<string, Text>()
  floor.onWrite((path) => {
    for (const target of texts.keys()) if (target.startsWith(path)) texts.delete(target)
  })
  return {
    ...floor,
    read(target) {
      let text = texts.get(target)
      if (text === undefined) {
        const { status, text: read } = floor.read(target)
        text = { status, text: Buffer.from(read) }
        texts.set(target, text)
      }
      return text
    },
  }
}

/** Responds in `node:http` with the texts of a floor. */
export function floorHandler(floor: Floor): RequestListener {
  return (request, response) => {
    const respond = ({ status, text }: Text): void => {
      response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(text) })
      response.end(text)
    }
    const target = request.url ?? ''
    if (!floor.keys.admits(request.headers['x-api-key'])) respond(noKey)
    else if (request.method === 'GET') respond(floor.read(target))
    else readBody(request, (body) => floor.write(target, body, respond))
  }
}
