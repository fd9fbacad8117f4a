import { join } from 'node:path'
import { createService, dateTime, defineCollection, integer, openAccess } from 'rowgate'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import { temporaryFolder } from '../kit/storages.ts'
import { runScene, type Scene } from './command-line.ts'

const orders = defineCollection({
  key: 'id',
  fields: { id: integer(), ordered: dateTime({ storedAs: 'YYYY-MM-DD hh:mm:ss[.fff]' }) },
})

/** Runs a command line on a service with the table `orders`. */
async function runOn(sql: string, line: readonly string[], scene: Scene = {}) {
  const file = join(temporaryFolder(), 'shop.db')
  const [driver = 'node:sqlite'] = drivers
  const handle = openHandle(driver, file)
  handle.exec(sql)
  onTestFinished(() => void handle.close())
  const loaded: (string | undefined)[] = []
  let closed = 0
  const run = await runScene(line, scene, {
    now: () => new Date(0),
    loadService: async (named) => {
      loaded.push(named)
      const service = createService({
        applications: { shop: { collections: { orders } } },
        storage: sqliteStorage(file),
        security: openAccess(),
      })
      const close = async () => {
        closed++
        await service.close()
      }
      return { ...service, close }
    },
  })
  expect(closed).toBe(loaded.length)
  return { ...run, loaded }
}

const table = 'CREATE TABLE orders (id INTEGER PRIMARY KEY, ordered DATETIME);'

test('a service without problems has the exit code 0', async () => {
  const sql = `${table} INSERT INTO orders VALUES (1, '2024-01-01 10:00:00')`
  expect(await runOn(sql, ['check', './shop.ts'])).toEqual({
    code: 0,
    output: 'No problems found.\n',
    messages: '',
    loaded: ['./shop.ts'],
  })
  const json = await runOn(sql, ['check', '--json', '--service', 'a.js'])
  expect(json).toMatchObject({ code: 0, output: '[]\n', messages: '', loaded: ['a.js'] })
  const environment = { ROWGATE_SERVICE: 'b.js' }
  expect(await runOn(sql, ['check'], { environment })).toMatchObject({ loaded: ['b.js'] })
  expect(await runOn(sql, ['check'])).toMatchObject({ code: 0, loaded: [undefined] })
})

test('problems are printed with examples and advice, and the exit code is 1', async () => {
  const sql = `${table} INSERT INTO orders VALUES (1, '2024-01-01'), (2, '2024-01-01 10:00:00'), (3, '\x1b[2J')`
  const { code, output, messages } = await runOn(sql, ['check'])
  expect({ code, output, messages }).toEqual({
    code: 1,
    output: `shop/orders: ordered must be a valid date and time in the form YYYY-MM-DDThh:mm:ss[.fff], without a time zone, stored as YYYY-MM-DD hh:mm:ss[.fff], but 2 of 3 items have another stored value. With storedAs: 'YYYY-MM-DD[ hh:mm:ss[.fff]]', 2 of 3 values fit. Correct them with SQL, or through the service: it updates and deletes such items.
  1: '2024-01-01'
  3: '\\x1b[2J'
`,
    messages: 'rowgate: Found 1 problem.\n',
  })
  const json = await runOn(sql, ['check', '--json'])
  expect(json.code).toBe(1)
  expect(JSON.parse(json.output)).toMatchObject([{ kind: 'unfit', count: 2, fields: ['ordered'] }])
})

test('a table that does not fit is a problem', async () => {
  const { code, output } = await runOn('CREATE TABLE orders (id INTEGER)', ['check'])
  expect(code).toBe(1)
  expect(output).toContain(
    'shop/orders.ordered: table "orders" has no column "ordered". Set "column" to the right name, or add it with\n  ALTER TABLE',
  )
  expect(output).toContain('\n\nshop/orders: the key ("id") of table "orders" has no unique index.')
})

test('the progress on a large table is a message', async () => {
  const { messages, output } = await runOn(
    `${table} WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
     INSERT INTO orders SELECT i, NULL FROM n`,
    ['check'],
  )
  expect(output).toBe('No problems found.\n')
  expect(messages).toBe(
    [30, 60, 100].map((part) => `shop/orders: ${part} % of 150000 rows\n`).join(''),
  )
})

test('the module can be named once', async () => {
  expect(await runOn(table, ['check', 'a.js', '--service', 'b.js'])).toMatchObject({
    code: 2,
    loaded: [],
  })
})

test('a view that cannot be read is a problem, and the other tables are checked', async () => {
  const { code, output } = await runOn(
    `${table} INSERT INTO orders VALUES (1, '2024');
     ALTER TABLE orders RENAME TO kept;
     CREATE VIEW orders AS SELECT id, missing(ordered) AS ordered FROM kept`,
    ['check'],
  )
  expect(code).toBe(1)
  expect(output).toBe(
    "shop/orders: its rows can't be read: SQLite does not know the function missing of the program that made the file. Register it with the option functions of sqliteStorage\n",
  )
})
