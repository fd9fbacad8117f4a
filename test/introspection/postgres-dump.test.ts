import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ApplicationDefinitions } from '../../src/definition/application.ts'
import type { CollectionDefinition } from '../../src/definition/collection.ts'
import { startServing, type ServingLine } from '../cli/serving-line.ts'
import { runAlone } from '../cli/stage.ts'
import { missingServer } from '../kit/postgres.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { expectedPostgres } from './expected-postgres.ts'
import { restorePostgres } from './foreign-server.ts'
import { allItems, expectFilterable, sorted, type Item } from './published-rows.ts'

const isMissing = (await missingServer()) !== undefined

async function open() {
  const database = await restorePostgres('postgres')
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

test.skipIf(isMissing)(
  'every row of a restored PostgreSQL database is published as the server has it',
  async () => {
    const { database, folder, read } = await open()
    const collections = read()
    expect(Object.keys(collections).sort()).toEqual(Object.keys(expectedPostgres).sort())
    const serving = await startServing(folder, 'shop.json', '--storage', database.url)
    onTestFinished(async () => {
      await serving.stop()
    })
    let compared = 0
    for (const [endpoint, [table, fields]] of Object.entries(expectedPostgres)) {
      const definition = collections[endpoint] as CollectionDefinition
      const path = `shop/${endpoint}`
      expect({ endpoint, fields: Object.keys(definition.fields).sort() }).toEqual({
        endpoint,
        fields: Object.keys(fields).sort(),
      })
      const values = Object.entries(fields).map(([field, value]) => `'${field}', ${value}`)
      const rows = await database.query(
        `select jsonb_build_object(${values.join(', ')}) from ${table}`,
      )
      const stored = rows.map((row) => inOrder(JSON.parse(row)))
      const page = (await allItems(serving, path)) as readonly Item[]
      const published = (await completed(serving, { path, definition }, page)).map(inOrder)
      expect({ endpoint, items: sorted(published) }).toEqual({ endpoint, items: sorted(stored) })
      compared += published.length
      await expectFilterable(serving, path, page[0])
    }
    expect(compared).toBe(58)
    // Every column is published, apart from bytes and the rows of partitions.
    const all = await database.query(
      `select count(*) from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
       and not c.relispartition and a.attnum > 0`,
    )
    const names = Object.values(collections).flatMap(({ fields }) => Object.keys(fields))
    expect(names.length).toBe(Number(all[0]) - 1)
  },
)
