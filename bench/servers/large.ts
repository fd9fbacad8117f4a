import Database from 'better-sqlite3'
import { createPool } from 'mysql2/promise'
import { Pool } from 'pg'
import { createService, defineCollection, integer, openAccess, text } from 'rowgate'
import { mysqlStorage } from 'rowgate/mysql'
import { postgresStorage } from 'rowgate/postgres'
import { sqliteStorage } from 'rowgate/sqlite'
import type { StorageAdapter } from 'rowgate/storage'
import { createTestClient, type TestClient } from 'rowgate/testing'
import { noteOf } from '../notes.ts'
import { median } from '../statistics.ts'

/** What requests of a large table take, in milliseconds by their names. */
export type LargeFigures = Readonly<Record<string, number>>

const rows = 1_000_000
const deep = 900_000
const [, , kind = '', place = ''] = process.argv

/** Returns the status of a note: of a million notes, ten have a rare one, and the others one of three. */
function statusOf(id: number): string {
  return id % 100_000 === 7 ? 'rare' : `s${id % 3}`
}

/** The storage of a database, and what fills its table. */
interface Place {
  storage(): StorageAdapter
  fill(): Promise<void>
  /** Whether its table has an index of the search. */
  hasIndex(): Promise<boolean>
  close(): Promise<void>
}

function sqlitePlace(): Place {
  return {
    storage: () => sqliteStorage(place, { ensureSchema: true, synchronous: 'FULL' }),
    async fill() {
      const db = new Database(place)
      const insert = db.prepare('insert into notes (id, title, body, status) values (?, ?, ?, ?)')
      db.transaction(() => {
        for (let id = 1; id <= rows; id++) insert.run(id, ...noteOf(id), statusOf(id))
      })()
      db.exec('analyze')
      db.close()
      await Promise.resolve()
    },
    hasIndex: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  }
}

function postgresPlace(): Place {
  const pool = new Pool({ connectionString: place, max: 5, connectionTimeoutMillis: 5_000 })
  return {
    storage: () => postgresStorage(pool, { ensureSchema: true, statementTimeout: 600_000 }),
    async fill() {
      for (let first = 1; first <= rows; first += 10_000) {
        const ids = Array.from({ length: 10_000 }, (_, index) => first + index)
        const notes = ids.map(noteOf)
        const lists = [
          ids,
          notes.map(([title]) => title),
          notes.map(([, body]) => body),
          ids.map(statusOf),
        ]
        await pool.query(
          `insert into notes (id, title, body, status)
            select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[])`,
          lists,
        )
      }
      await pool.query('vacuum analyze notes')
    },
    async hasIndex() {
      const { rowCount } = await pool.query(
        `select from pg_indexes where schemaname = current_schema() and indexdef like '% USING gin %'`,
      )
      return rowCount !== 0
    },
    close: () => pool.end(),
  }
}

function mysqlPlace(): Place {
  const pool = createPool({ uri: place, connectionLimit: 5, connectTimeout: 5_000 })
  return {
    storage: () => mysqlStorage(pool, { ensureSchema: true, statementTimeout: 600_000 }),
    async fill() {
      for (let first = 1; first <= rows; first += 10_000) {
        const notes = Array.from({ length: 10_000 }, (_, index) => [
          first + index,
          ...noteOf(first + index),
          statusOf(first + index),
        ])
        await pool.query('insert into notes (id, title, body, status) values ?', [notes])
      }
      await pool.query('analyze table notes')
    },
    // It searches without one.
    hasIndex: () => Promise.resolve(false),
    close: () => pool.end(),
  }
}

function serviceOn(storage: StorageAdapter, indexed: boolean) {
  const notes = defineCollection({
    key: 'id',
    fields: { id: integer(), title: text(), body: text(), status: text({ maxLength: 8 }) },
    index: [['status']],
    cursor: true,
    ...(indexed && { search: 'indexed' as const }),
  })
  const applications = { desk: { collections: { notes } } }
  return createService({ applications, storage, security: openAccess(), cache: false })
}

async function page(client: TestClient, query: string, items: number): Promise<Headers> {
  const { status, body, headers } = await client.get(`/desk/notes?${query}`)
  if (status !== 200 || body.items?.length !== items) {
    throw new Error(`${query} responded ${status} with ${body.items?.length} items.`)
  }
  return headers
}

/** Returns the median time of a request in milliseconds: of 21 runs, or of fewer if they take long. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  const began = performance.now()
  await work()
  while (times.length < 21 && (times.length < 3 || performance.now() - began < 5_000)) {
    const before = performance.now()
    await work()
    times.push(performance.now() - before)
  }
  return median(times)
}

/** Returns the time of an insert in milliseconds, of 2,000 of which 32 run at the same time. */
async function insertTime(client: TestClient, first: number): Promise<number> {
  let next = first
  const insertAll = async (): Promise<void> => {
    while (next < first + 2_000) {
      const id = next++
      const [title, body] = noteOf(id)
      const note = { id, title, body, status: statusOf(id) }
      const { status } = await client.post('/desk/notes', note)
      if (status !== 200) throw new Error(`An insert responded ${status}.`)
    }
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: 32 }, insertAll))
  return (performance.now() - began) / 2_000
}

async function searches(client: TestClient): Promise<LargeFigures> {
  return {
    rare: await timed(() => page(client, '$q=xylograph', 5)),
    frequent: await timed(() => page(client, '$q=ber', 10)),
    insert: await insertTime(client, rows + 1),
  }
}

async function pages(client: TestClient): Promise<LargeFigures> {
  const headers = await page(client, `$offset=${deep - 10}`, 10)
  const cursor = encodeURIComponent(headers.get('x-svc-next-cursor') ?? '')
  return {
    first: await timed(() => page(client, '', 10)),
    offset: await timed(() => page(client, `$offset=${deep}`, 10)),
    cursor: await timed(() => page(client, `$after=${cursor}`, 10)),
    count: await timed(() => page(client, '$limit=0&$count=true', 0)),
    uneven: await timed(() => unevenPages(client)),
  }
}

/** Requests 32 pages at a time, one of them with a status that only ten rows have. */
function unevenPages(client: TestClient): Promise<unknown> {
  const frequent = Array.from({ length: 31 }, (_, index) =>
    page(client, `status=s${index % 3}&$offset=${index}`, 10),
  )
  return Promise.all([...frequent, page(client, 'status=rare', 10)])
}

async function plain({ storage, fill }: Place): Promise<LargeFigures> {
  const service = serviceOn(storage(), false)
  await service.ready()
  await fill()
  const client = createTestClient(service)
  const figures = { ...(await pages(client)), ...(await searches(client)) }
  await service.close()
  return figures
}

/** Returns no figures if the storage makes no index of the search. */
async function indexed({ storage, hasIndex }: Place): Promise<LargeFigures> {
  const began = performance.now()
  const service = serviceOn(storage(), true)
  await service.ready()
  const built = performance.now() - began
  try {
    if (!(await hasIndex())) return {}
    const client = createTestClient(service)
    // The rows that were inserted before are removed, so that both insert the same.
    for (let id = rows + 1; id <= rows + 2_000; id++) await client.delete(`/desk/notes/${id}`)
    const { rare = NaN, frequent = NaN, insert = NaN } = await searches(client)
    return { built, indexedRare: rare, indexedFrequent: frequent, indexedInsert: insert }
  } finally {
    await service.close()
  }
}

const places = { sqlite: sqlitePlace, postgres: postgresPlace, mysql: mysqlPlace }
const opened = places[kind as keyof typeof places]()
process.send?.(await plain(opened))
process.send?.(await indexed(opened))
await opened.close()
