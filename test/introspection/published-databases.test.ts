import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ApplicationDefinitions } from '../../src/definition/application.ts'
import { runAlone } from '../cli/command-line.ts'
import { startServing } from '../cli/serving-line.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { expectedRows, type Expected } from './expected-rows.ts'
import { nothingToDo } from './empty-databases.ts'
import { createDatabase, foreignTool, type DatabaseName } from './foreign-database.ts'
import { allItems, expectFilterable, sorted, type Item } from './published-rows.ts'

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

test.each(['shop', 'forum', 'odd'] as const)(
  'the database %s has nothing to change for its definition',
  async (name) => {
    const folder = temporaryFolder()
    createDatabase(name, join(folder, 'own.db'))
    const run = (...line: readonly string[]) => runAlone(line, { workingFolder: folder })
    await run('introspect', 'own.db', '--out', 'own.json')
    const line = ['schema', 'diff', 'own.json', '--storage', 'own.db', '--json']
    const { code, output } = await run(...line)
    expect({ diff: JSON.parse(output) as unknown, code }).toEqual({ diff: nothingToDo, code: 0 })
  },
)

test('an insert gets the defaults of the database, and is stored in its forms', async () => {
  const folder = temporaryFolder()
  createDatabase('shop', join(folder, 'shop.db'))
  await runAlone(['introspect', 'shop.db', '--out', 'shop.json'], { workingFolder: folder })
  const { url, key = '', stop } = await startServing(folder, 'shop.json', '--storage', 'shop.db')
  onTestFinished(async () => {
    await stop()
  })
  const insert = async (collection: string, values: object): Promise<unknown> => {
    const response = await fetch(`${url}/rest/v1/shop/${collection}`, {
      method: 'POST',
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify(values),
    })
    return { status: response.status, ...((await response.json()) as object) }
  }
  const order = { customerId: 'BERGS', orderDate: '2024-02-29T12:00:00.5', freight: '7.5' }
  expect(await insert('orders', { ...order, requiredDate: '2024-03-01' })).toMatchObject({
    validations: [{ field: 'orderDate' }],
  })
  const valid = { ...order, orderDate: '2024-02-29T12:00:00', requiredDate: '2024-03-01' }
  expect(await insert('orders', valid)).toMatchObject({ item: { ...valid, freight: '7.5000' } })
  expect(await insert('products', { productName: 'Tea', size: 'M' })).toMatchObject({
    item: { unitPrice: '0.00', unitsInStock: 0, discontinued: false },
  })
  expect(await insert('products', { productName: 'Tea', size: 'M' })).toMatchObject({
    validations: [{ field: 'productName' }, { field: 'size' }],
  })
  expect(await insert('orders', { ...valid, customerId: 'NOONE' })).toMatchObject({
    validations: [{ field: 'customerId' }],
  })
  const rows = foreignTool.query(
    join(folder, 'shop.db'),
    `SELECT json_array(OrderDate, RequiredDate, Freight, typeof(Freight), ShipName) FROM Orders
     ORDER BY OrderID DESC LIMIT 1`,
  )
  const stored = ['2024-02-29 12:00:00', '2024-03-01 00:00:00', 7.5, 'real', 'Berglunds snabbköp']
  expect(rows).toEqual([stored])
})

test('a default that does not fit decides the type, or is left out', async () => {
  const folder = temporaryFolder()
  createDatabase('odd', join(folder, 'odd.db'))
  const line = ['introspect', 'odd.db', '--json']
  const { output } = await runAlone(line, { workingFolder: folder })
  const { odd } = JSON.parse(output) as ApplicationDefinitions
  expect(odd?.collections['defaults']?.fields).toEqual({
    id: { type: 'integer', generated: 'database' },
    createdAt: { type: 'text', default: 'database', column: 'created_at' },
    seenAt: {
      // Another column of the database has microseconds.
      ...{ type: 'dateTime', storedAs: 'YYYY-MM-DD hh:mm:ss[.ffffff]' },
      ...{ default: 'database', column: 'seen_at' },
    },
    day: { type: 'text', readOnly: true },
    word: { type: 'text', default: 'database' },
    n: { type: 'integer', required: true },
    // It calls a function that only the program of the file has.
    odd: { type: 'text' },
  })
})

test('a cascade within one table is kept, and one in a circle of tables is left out', async () => {
  const folder = temporaryFolder()
  foreignTool.execute(
    join(folder, 'tree.db'),
    `CREATE TABLE nodes (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES nodes ON DELETE CASCADE);
     CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b ON DELETE CASCADE);
     CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a ON DELETE CASCADE);`,
  )
  const line = ['introspect', 'tree.db', '--json']
  const { output } = await runAlone(line, { workingFolder: folder })
  const { tree } = JSON.parse(output) as ApplicationDefinitions
  const { a, b, nodes } = tree?.collections ?? {}
  expect(nodes?.fields['parent']).toMatchObject({ references: 'nodes', onDelete: 'cascade' })
  const kept = [a?.fields['b']?.onDelete, b?.fields['a']?.onDelete]
  expect(kept.toSorted()).toEqual(['cascade', undefined])
})
