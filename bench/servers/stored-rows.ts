import { createPool } from 'mysql2/promise'
import { Pool } from 'pg'
import {
  createService,
  decimal,
  defineCollection,
  integer,
  openAccess,
  system,
  text,
} from 'rowgate'
import { applyRules, connection, endpoint, rule, typed } from 'rowgate/consume'
import { mysqlStorage } from 'rowgate/mysql'
import { postgresStorage } from 'rowgate/postgres'
import { sqliteStorage } from 'rowgate/sqlite'
import type { StorageAdapter } from 'rowgate/storage'

/** How many items of a response rules store in a second. */
export interface StoredFigures {
  inserted: number
  upserted: number
  updated: number
  unchanged: number
}

const [, , place = ''] = process.argv
const count = 10_000

interface Product {
  readonly sku: string
  readonly title: string
  readonly price: string
  readonly stock: number
  readonly maker: string
}

/** A storage, and what ends the connections that this program has made for it. */
interface Opened {
  readonly storage: StorageAdapter
  end?(): Promise<void>
}

function openPlace(): Opened {
  const ensureSchema = { ensureSchema: true }
  if (place.startsWith('postgres:')) {
    const pool = new Pool({ connectionString: place, connectionTimeoutMillis: 5_000 })
    return { storage: postgresStorage(pool, ensureSchema), end: () => pool.end() }
  }
  if (place.startsWith('mysql:')) {
    const pool = createPool({ uri: place, connectTimeout: 5_000 })
    return { storage: mysqlStorage(pool, ensureSchema), end: () => pool.end() }
  }
  return { storage: sqliteStorage(place, ensureSchema) }
}

const fields = {
  title: text(),
  price: decimal({ precision: 10, scale: 2 }),
  stock: integer(),
  maker: text(),
}
const products = defineCollection({
  key: 'sku',
  fields: { sku: text({ maxLength: 40 }), ...fields },
})
const lines = defineCollection({
  key: 'id',
  fields: { id: integer({ generated: 'database' }), ...fields },
})
const list = endpoint(connection({ baseUrl: 'https://shop.example' }), {
  name: 'list',
  path: '/',
  response: typed<readonly Product[]>(),
})
const set = { title: 'title', price: 'price', stock: 'stock', maker: 'maker' } as const
const insert = rule(list, { into: lines, set })
const upsert = rule(list, { into: products, upsertBy: ['sku'], set: { sku: 'sku', ...set } })

const { storage, end } = openPlace()
const service = createService({
  applications: { shop: { collections: { products, lines } } },
  storage,
  security: openAccess(),
  report: false,
})
await service.ready()
const user = service.as(system)

function response(stock: number): readonly Product[] {
  return Array.from({ length: count }, (_, no) => ({
    sku: `sku-${no}`,
    title: `Product ${no} of the catalogue`,
    price: `${no % 500}.90`,
    stock,
    maker: `Maker ${no % 97}`,
  }))
}

async function perSecond(chosen: typeof insert, body: readonly Product[]): Promise<number> {
  const began = performance.now()
  const results = await applyRules(user, [chosen], body, { timeout: 600_000 })
  return results.length / ((performance.now() - began) / 1000)
}

// Compiles what runs.
await applyRules(user, [insert], response(0).slice(0, 2000), { timeout: 600_000 })
const figures: StoredFigures = {
  inserted: await perSecond(insert, response(1)),
  upserted: await perSecond(upsert, response(1)),
  updated: await perSecond(upsert, response(2)),
  unchanged: await perSecond(upsert, response(2)),
}
process.send?.(figures)
if (process.send === undefined) console.log(figures)
await service.close()
// Idle connections of a pool would keep the process.
await end?.()
