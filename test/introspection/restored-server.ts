import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ApplicationDefinitions } from '../../src/definition/application.ts'
import type { CollectionDefinition } from '../../src/definition/collection.ts'
import { startServing, type ServingLine } from '../cli/serving-line.ts'
import { runAlone } from '../cli/command-line.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { temporaryFolder } from '../kit/storages.ts'
import type { Expected } from './expected-rows.ts'
import type { ForeignDatabase } from './foreign-server.ts'
import { nothingToDo } from './empty-databases.ts'
import { everyEvent, exerciseAll, type Exercise } from './exercised-database.ts'
import { publish } from './published-database.ts'
import { allItems, expectFilterable, sorted, type Item } from './published-rows.ts'

/** A restored database, and what the service must publish of it. */
export interface RestoredServer {
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
  /** Opens a storage with connections that the test ends. */
  storage(url: string): StorageAdapter
  /** How it is written to. Undefined: it is not. */
  readonly exercise?: RestoredExercise | undefined
}

/** What a test knows of a restored database. */
export interface RestoredExercise extends Exercise {
  /** Statements that make place for new items. */
  readonly free: readonly string[]
  /** The events of collections that do not publish all. */
  readonly done: Readonly<Record<string, readonly string[]>>
}

/** Tests that a restored database is published without a difference. */
export function testRestored(server: RestoredServer): void {
  const { expected, object } = server
  test('is published row by row as the server has it', async () => {
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

  test('has nothing to change for its definition', async () => {
    const { database, run } = await open(server)
    const line = ['schema', 'diff', 'shop.json', '--storage', database.url, '--json']
    const { code, output, messages } = await run(...line)
    expect({ diff: JSON.parse(output) as unknown, code, messages }).toEqual({
      ...{ diff: nothingToDo, code: 0, messages: '' },
    })
  })

  test.skipIf(server.exercise === undefined)(
    'accepts for every table what its definition publishes',
    async () => {
      const { free, done, ...exercise } = server.exercise as RestoredExercise
      const database = await server.restore()
      onTestFinished(() => database.drop())
      for (const statement of free) await database.query(statement)
      const { url } = database
      const published = await publish({ line: [url], storage: () => server.storage(url) })
      const all = Object.keys(expected).map((endpoint) => [endpoint, everyEvent] as const)
      expect(await exerciseAll(published, exercise)).toEqual({
        ...Object.fromEntries(all),
        ...done,
      })
    },
  )

  test('is described without a view that the server cannot read', async () => {
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
}

async function open({ restore }: RestoredServer) {
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
