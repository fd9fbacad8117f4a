import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ApplicationDefinitions } from '../../src/definition/application.ts'
import type { CollectionDefinition } from '../../src/definition/collection.ts'
import { startServing, type ServingLine } from '../cli/serving-line.ts'
import { runAlone } from '../cli/stage.ts'
import { missingServer as missingMariaDb } from '../kit/mysql.ts'
import { missingServer as missingPostgres } from '../kit/postgres.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { expectedMysql } from './expected-mysql.ts'
import { expectedPostgres } from './expected-postgres.ts'
import type { Expected } from './expected-rows.ts'
import { restoreMariaDb, restorePostgres, type ForeignDatabase } from './foreign-server.ts'
import { allItems, expectFilterable, sorted, type Item } from './published-rows.ts'

/** A server, its dump, and what the service must publish of it. */
interface Server {
  readonly name: string
  readonly isMissing: boolean
  restore(): Promise<ForeignDatabase>
  readonly expected: Readonly<Record<string, Expected>>
  /** The function that makes a JSON object of names and values. */
  readonly object: string
  readonly rows: number
  /** A query that fails when it is run, because a part of it has more than one row. */
  readonly failing: string
  /** Counts the columns of the tables that are published. */
  readonly columns: string
  /** How many of them are not published. */
  readonly leftOut: number
}

const servers: readonly Server[] = [
  {
    name: 'PostgreSQL',
    isMissing: (await missingPostgres()) !== undefined,
    restore: () => restorePostgres('postgres'),
    expected: expectedPostgres,
    object: 'jsonb_build_object',
    rows: 58,
    failing: 'select 1 as id, (select 10000000000 from (values (1), (2)) as two (n)) as size',
    columns: `select count(*) from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
       and not c.relispartition and a.attnum > 0`,
    // Bytes.
    leftOut: 1,
  },
  {
    name: 'MariaDB',
    isMissing: (await missingMariaDb()) !== undefined,
    restore: () => restoreMariaDb('mysql'),
    expected: expectedMysql,
    object: 'json_object',
    rows: 47,
    failing:
      'select film_id, (select other.film_id * 10000000000 from film other) as size from film',
    columns: `select count(*) from information_schema.columns
       where table_schema = database() and table_name not in ('film_text', 'ticket')`,
    // Bytes, geometries, and strings with U+0000.
    leftOut: 7,
  },
]

async function open({ restore }: Server) {
  const database = await restore()
  onTestFinished(() => database.drop())
  const folder = temporaryFolder()
  const run = (...line: readonly string[]) => runAlone(line, { workingFolder: folder })
  const read = (): Readonly<Record<string, CollectionDefinition>> => {
    const text = readFileSync(join(folder, 'shop.json'), 'utf8')
    return (JSON.parse(text) as ApplicationDefinitions)['shop']?.collections ?? {}
  }
  const line = ['introspect', database.url, '--out', 'shop.json', '--application', 'shop']
  const { code, messages } = await run(...line)
  expect({ code, messages }).toEqual({ code: 0, messages: expect.any(String) as string })
  return { database, folder, run, read, messages }
}

/** Adds the fields that only single items have. */
async function completed(
  { url, key = '' }: ServingLine,
  { path, definition }: { readonly path: string; readonly definition: CollectionDefinition },
  items: readonly Item[],
): Promise<readonly unknown[]> {
  const { key: keyName, fields } = definition
  if (!Object.values(fields).some(({ itemOnly }) => itemOnly === true)) return items
  return Promise.all(
    items.map(async (item) => {
      const target = `${url}/rest/v1/${path}/${encodeURIComponent(String(item[keyName as string]))}`
      const response = await fetch(target, { headers: { 'X-API-Key': key } })
      return ((await response.json()) as { readonly item: unknown }).item
    }),
  )
}

/** Returns a value with the members of its objects in one order. */
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(inOrder)
  const members = Object.entries(value).map(([name, each]) => [name, inOrder(each)] as const)
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)))
}

describe.each(servers)('a restored $name database', (server) => {
  const { isMissing, expected, object } = server
  test.skipIf(isMissing)('is published row by row as the server has it', async () => {
    const { database, folder, read } = await open(server)
    const collections = read()
    expect(Object.keys(collections).sort()).toEqual(Object.keys(expected).sort())
    const serving = await startServing(folder, 'shop.json', '--storage', database.url)
    onTestFinished(async () => {
      await serving.stop()
    })
    let compared = 0
    for (const [endpoint, [table, fields]] of Object.entries(expected)) {
      const definition = collections[endpoint] as CollectionDefinition
      const path = `shop/${endpoint}`
      expect({ endpoint, fields: Object.keys(definition.fields).sort() }).toEqual({
        endpoint,
        fields: Object.keys(fields).sort(),
      })
      const values = Object.entries(fields).map(([field, value]) => `'${field}', ${value}`)
      const rows = await database.query(`select ${object}(${values.join(', ')}) from ${table}`)
      const stored = rows.map((row) => inOrder(JSON.parse(row)))
      const page = (await allItems(serving, path)) as readonly Item[]
      const published = (await completed(serving, { path, definition }, page)).map(inOrder)
      expect({ endpoint, items: sorted(published) }).toEqual({ endpoint, items: sorted(stored) })
      compared += published.length
      for (const item of page) await expectFilterable(serving, path, item)
    }
    expect(compared).toBe(server.rows)
    const all = await database.query(server.columns)
    const names = Object.values(collections).flatMap(({ fields }) => Object.keys(fields))
    expect(names.length).toBe(Number(all[0]) - server.leftOut)
  })

  test.skipIf(isMissing)('is described without a view that the server can not read', async () => {
    const { database, run } = await open(server)
    await database.query(`create view twice as ${server.failing}`)
    const line = ['introspect', database.url, '--out', 'all.json', '--application', 'shop']
    const { code, messages } = await run(...line)
    expect([code, messages]).toEqual([
      0,
      expect.stringMatching(/twice: left out: can't be read: .*more than (?:one|1) row/),
    ])
    expect(messages).toContain(': read-only: it is a view')
  })
})
