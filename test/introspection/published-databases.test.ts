import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ApplicationDefinitions } from '../../src/definition/application.ts'
import { runAlone } from '../cli/stage.ts'
import { startServing, type ServingLine } from '../cli/serving-line.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { expectedRows, type Expected } from './expected-rows.ts'
import { createDatabase, foreignTool, type DatabaseName } from './foreign-database.ts'

test.each(Object.entries(expectedRows) as [DatabaseName, Record<string, Expected>][])(
  'every row of the database %s is published as it is',
  async (name, tables) => {
    const folder = temporaryFolder()
    createDatabase(name, join(folder, `${name}.db`))
    const before = readFileSync(join(folder, `${name}.db`))
    const line = ['introspect', `${name}.db`, '--out', `${name}.json`]
    const { code, messages } = await runAlone(line, { workingFolder: folder })
    expect({ code, messages }).toEqual({ code: 0, messages: expect.any(String) as string })
    expect(readFileSync(join(folder, `${name}.db`)).equals(before)).toBe(true)
    const definition = JSON.parse(
      readFileSync(join(folder, `${name}.json`), 'utf8'),
    ) as ApplicationDefinitions
    expect(Object.keys(definition[name]?.collections ?? {}).sort()).toEqual(
      Object.keys(tables).sort(),
    )
    const serving = await startServing(folder, `${name}.json`, '--storage', `${name}.db`)
    onTestFinished(async () => {
      await serving.stop()
    })
    for (const [endpoint, [table, fields]] of Object.entries(tables)) {
      const values = Object.entries(fields).map(([field, value]) => `'${field}', ${value}`)
      const sql = `SELECT json_object(${values.join(', ')}) FROM ${table}`
      const stored = foreignTool.query(join(folder, `${name}.db`), sql)
      const published = await allItems(serving, `${name}/${endpoint}`)
      expect({ endpoint, items: sorted(published) }).toEqual({ endpoint, items: sorted(stored) })
      await expectFilterable(serving, `${name}/${endpoint}`, published[0] as Item | undefined)
    }
  },
)

type Item = Readonly<Record<string, unknown>>

/** Expects that an item is found by each of its values. */
async function expectFilterable(
  { url, key = '' }: ServingLine,
  path: string,
  item: Item | undefined,
): Promise<void> {
  const flat = Object.entries(item ?? {}).filter(
    ([, value]) => ['string', 'number', 'boolean'].includes(typeof value) && value !== '',
  )
  for (const [field, value] of flat) {
    const condition = `${encodeURIComponent(field)}=${encodeURIComponent(String(value))}`
    const response = await fetch(`${url}/rest/v1/${path}?${condition}&$limit=100`, {
      headers: { 'X-API-Key': key },
    })
    const page = (await response.json()) as { readonly items: readonly unknown[] }
    expect({ path, condition, items: page.items }).toEqual({
      ...{ path, condition },
      items: expect.arrayContaining([item]) as unknown,
    })
  }
}

/** Reads all items of a collection, page by page. */
async function allItems({ url, key = '' }: ServingLine, path: string): Promise<readonly unknown[]> {
  const size = 100
  const items: unknown[] = []
  for (;;) {
    const target = `${url}/rest/v1/${path}?$limit=${size}&$offset=${items.length}&$count=true`
    const response = await fetch(target, { headers: { 'X-API-Key': key } })
    const page = (await response.json()) as { items: unknown[]; count: number }
    expect({ path, status: response.status }).toEqual({ path, status: 200 })
    items.push(...page.items)
    if (page.items.length < size) {
      expect({ path, count: items.length }).toEqual({ path, count: page.count })
      return items
    }
  }
}

function sorted(items: readonly unknown[]): readonly string[] {
  return items.map((item) => JSON.stringify(item)).sort()
}
