import * as fc from 'fast-check'
import { createService, openAccess, type RequestHandler } from 'rowgate'
import { toFetchHandler } from 'rowgate/fetch'
import { describe, expect, test } from 'vitest'
import type { CollectionDefinition } from '../../src/definition/collection.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { databaseKinds, introspected, type EmptyDatabase } from './empty-databases.ts'
import {
  filledTables,
  fillingStatements,
  possibleValues,
  type FilledTable,
} from './random-columns.ts'

// `RUNS=500` makes as many schemas of each database.
const numRuns = Number(process.env['RUNS'] ?? 12)

describe.each(databaseKinds)('the rows of any schema of $name', (kind) => {
  test(
    'are published, found, saved again, inserted and deleted without an error',
    async (context) => {
      if (kind.missing !== undefined) context.skip(kind.missing)
      const property = fc.asyncProperty(filledTables(kind), async (tables) => {
        const folder = temporaryFolder()
        const database = await kind.start(folder)
        try {
          const { created, rows } = fillingStatements(kind, tables)
          await database.run(...created)
          for (const row of rows) await database.run(row).catch(() => undefined)
          await useDatabase(database, tables, folder)
        } finally {
          await database.drop()
        }
      })
      await fc.assert(property, { numRuns, seed: Number(process.env['SEED'] ?? 37) })
    },
    60_000 + numRuns * 10_000,
  )
})

async function useDatabase(
  database: EmptyDatabase,
  tables: readonly FilledTable[],
  folder: string,
): Promise<void> {
  const { collections } = await introspected(database, folder)
  const failures: unknown[] = []
  const service = createService({
    applications: { shop: { collections } },
    storage: database.storage(),
    security: openAccess(),
    report: (failure) => void failures.push(failure),
  })
  try {
    await service.ready()
    // A unique column may be the key, and have the empty string.
    const problems = await service.inspect()
    expect(problems.filter(({ message }) => !message.includes('cannot be in a path'))).toEqual([])
    for (const [name, definition] of Object.entries(collections)) {
      const collection = collectionOf(service, name, definition)
      const own = tables.find((table) => table.name === collection.table)
      const items = await collection.items()
      expect(items.length).toBe(await database.count(collection.table))
      if (own !== undefined) expectSamples(collection, own, items)
      for (const item of items) await useItem(collection, item)
      if (items[0] !== undefined) await insertAndDelete(database, collection, items[0])
    }
    expect(failures.filter(isFault)).toEqual([])
  } finally {
    await service.close()
  }
}

function isFault(failure: unknown): boolean {
  const { type } = failure as { readonly type: string }
  return ['request-failed', 'stored-value-unfit'].includes(type)
}

type Item = Readonly<Record<string, unknown>>

interface Reply {
  readonly status: number
  readonly items?: readonly Item[]
  readonly item?: Item | null
}

type Collection = ReturnType<typeof collectionOf>

/** Returns the requests of a collection. A response of 500 or 503 fails the test. */
function collectionOf(service: RequestHandler, name: string, definition: CollectionDefinition) {
  const handle = toFetchHandler(service)
  const path = `http://localhost/rest/v1/shop/${encodeURIComponent(name)}`
  const send = async (method: string, rest: string, body?: unknown): Promise<Reply> => {
    const headers = { 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) }
    const response = await handle(new Request(path + rest, { method, ...sent }))
    const shown = await response.text()
    expect(
      response.status,
      `${method} ${path}${rest} ${JSON.stringify(body)}: ${shown}`,
    ).toBeLessThan(500)
    return { ...(JSON.parse(shown) as Reply), status: response.status }
  }
  const { publishes, key } = definition
  return {
    definition,
    table: definition.table ?? name,
    send,
    publishes: (event: 'Insert' | 'Update' | 'Delete') => publishes?.includes(event) ?? true,
    items: async () => {
      const { status, items = [] } = await send('GET', '?$limit=100')
      expect(status).toBe(200)
      return items
    },
    /** Returns the path of an item. Undefined: it has no key, or one that no path can have. */
    pathOf: (item: Item): string | undefined => {
      const parts = [key ?? []].flat().map((field) => String(item[field]))
      if (parts.some((part) => part === '')) return undefined
      const [first, second] = parts.map(encodeURIComponent)
      return first === undefined
        ? undefined
        : `/${first}${second === undefined ? '' : `,${second}`}`
    },
  }
}

/** Compares values with those that were inserted, where the field has the type of the column. */
function expectSamples(
  { definition }: Collection,
  { columns }: FilledTable,
  items: readonly Item[],
): void {
  for (const column of columns) {
    const found = Object.entries(definition.fields).find(
      ([name, { column: stored = name }]) => stored === column.name,
    )
    if (found?.[1].type !== column.kind.type) continue
    for (const { [found[0]]: value = null } of items)
      expect(possibleValues(column)).toContainEqual(value)
  }
}

/** Finds an item by each of its values and its key, and sends back what was read. */
async function useItem(collection: Collection, item: Item): Promise<void> {
  const { send, pathOf, publishes } = collection
  for (const [name, value] of Object.entries(item)) {
    if (value === null || value === '' || typeof value === 'object') continue
    const condition = [name, String(value)].map(encodeURIComponent).join('=')
    const { items } = await send('GET', `?${condition}&$limit=100`)
    expect(items).toContainEqual(item)
  }
  const path = pathOf(item)
  if (path === undefined) return
  const { item: single } = await send('GET', path)
  expect(single).toMatchObject(item)
  if (publishes('Update'))
    expect(await send('POST', path, single)).toMatchObject({ status: 200, item: single })
}

/** Inserts a copy of an item, which a key, a unique value or a missing value may reject, and deletes the item. */
async function insertAndDelete(
  database: EmptyDatabase,
  { definition: { fields }, table, send, publishes, pathOf }: Collection,
  item: Item,
): Promise<void> {
  const before = await database.count(table)
  if (publishes('Insert')) {
    const copy = Object.entries(item).filter(([name]) => {
      const field = fields[name]
      return field?.readOnly !== true && !(field !== undefined && 'generated' in field)
    })
    const { status } = await send('POST', '', Object.fromEntries(copy))
    expect([200, 400]).toContain(status)
    expect(await database.count(table)).toBe(status === 200 ? before + 1 : before)
  }
  const path = pathOf(item)
  if (path === undefined || !publishes('Delete')) return
  const { status } = await send('DELETE', path)
  expect([200, 409]).toContain(status)
  expect((await send('GET', path)).status).toBe(status === 200 ? 404 : 200)
}
