import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { queryOf, type PartialQuery } from '../../../src/conformance/case.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { decimal, defineCollection, integer, text } from '../../../src/entries/index.ts'
import { sqliteStorage, type SqliteDriver } from '../../../src/entries/sqlite.ts'
import { equal } from '../../../src/request/query.ts'
import type { Condition, StorageAdapter } from '../../../src/storage/adapter.ts'
import { drivers, openHandle } from '../../kit/databases.ts'
import { temporaryFolder } from '../../kit/storages.ts'

const rows = 20_000
const items = publishCollection(
  'app',
  'items',
  defineCollection({
    key: 'id',
    fields: {
      id: integer(),
      kind: integer(),
      size: integer(),
      name: text(),
      label: text(),
      plain: integer(),
      price: decimal({ precision: 9, scale: 2 }),
    },
  }),
)
// The rows of a range are at the end of the table, as new ones are.
const create = `
  CREATE TABLE items (id INTEGER PRIMARY KEY, KIND INTEGER, size INTEGER, name TEXT, label TEXT COLLATE NOCASE, plain INTEGER, price TEXT);
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ${rows})
  INSERT INTO items SELECT i, i % 3, CASE WHEN i % 100 = 0 THEN NULL ELSE ${rows} - i END, 'n' || (${rows} - i),
    CASE i % 2 WHEN 0 THEN 'l' ELSE 'L' END || (${rows} - i), i, i || '.00' FROM n;
  CREATE INDEX items_size ON items (size);
  CREATE INDEX items_kind ON items (kind, size);
  CREATE INDEX items_price ON items (kind, price);
  CREATE INDEX items_name ON items (name);
  CREATE INDEX items_label ON items (label);
  CREATE INDEX items_part ON items (plain) WHERE plain < 100;`

interface Files {
  readonly path: string
  /** Reads that may be long run in the thread. */
  readonly threaded: StorageAdapter
  readonly plain: StorageAdapter
}

async function openFiles(driver: SqliteDriver): Promise<Files> {
  const path = `${temporaryFolder()}/a.db`
  const handle = openHandle(driver, path)
  handle.exec(create)
  handle.close()
  const open = async (scanRows: number | false): Promise<StorageAdapter> => {
    const storage = sqliteStorage(path, { driver, scanRows })
    onTestFinished(() => storage.close())
    await storage.open([items])
    return storage
  }
  return { path, threaded: await open(1_000), plain: await open(false) }
}

const below = (value: number, field = 'size'): Condition => ({ field, is: 'lt', value })
const atLeast = (value: number, field = 'size'): Condition => ({ field, is: 'gte', value })

describe.each(drivers)('%s: a page of a range without the order of its index', (driver) => {
  /** Returns the page, and whether the thread has read it. Fails if it is another one than on the event loop. */
  async function read({ threaded, plain }: Files, given: PartialQuery) {
    const query = queryOf(items, { limit: 10, ...given })
    const page = threaded.filter(items, query)
    expect(await page).toEqual(await plain.filter(items, query))
    return { ...(await page), isThreaded: page instanceof Promise }
  }

  test('is read by the index if it finds few rows', async () => {
    const files = await openFiles(driver)
    for (const few of [
      { conditions: [below(5)] },
      { conditions: [{ field: 'size', is: 'lte', value: 900 }], count: true },
      { conditions: [atLeast(rows - 50)], sort: [{ field: 'plain', descending: true }] },
      { conditions: [{ field: 'size', is: 'gt', value: 3_000 }, below(3_100)], offset: 60 },
      { conditions: [below(2_000), equal('kind', 1)], limit: 0, count: true },
      { conditions: [below(2_000), equal('kind', 1)] },
      { conditions: [{ field: 'name', is: 'startsWith', text: 'n77' }] },
      { conditions: [below(500), { field: 'label', is: 'contains', text: '9' }] },
      { conditions: [below(500)], search: { fields: ['name'], text: '49' } },
      { conditions: [atLeast(0, 'plain'), below(40)] },
    ] satisfies PartialQuery[])
      expect([few, (await read(files, few)).isThreaded]).toEqual([few, false])
  })

  test('is read in the thread otherwise', async () => {
    const files = await openFiles(driver)
    for (const many of [
      { conditions: [below(1_200)] },
      { conditions: [atLeast(2, 'plain')] },
      { conditions: [{ is: 'not', condition: below(rows - 5) }] },
      // SQLite may begin with the condition that finds more.
      { conditions: [below(rows), below(5)] },
      { conditions: [below(5), { is: 'or', conditions: [below(3), atLeast(9)] }] },
      // Indexes of another order, and one of some rows.
      { conditions: [{ field: 'price', is: 'lt', value: '5.00' }] },
      { conditions: [{ field: 'label', is: 'startsWith', text: 'l77' }] },
      { conditions: [below(50, 'plain')], sort: [{ field: 'name', descending: false }] },
    ] satisfies PartialQuery[])
      expect([many, (await read(files, many)).isThreaded]).toEqual([many, true])
  })

  test('is the same for all ranges', async () => {
    const files = await openFiles(driver)
    const place = fc.integer({ min: -10, max: rows + 10 })
    const range = fc.record({
      field: fc.constantFrom('size', 'kind', 'plain', 'id'),
      is: fc.constantFrom('lt', 'lte', 'gt', 'gte'),
      value: place,
    })
    const start = fc.record({
      field: fc.constantFrom('name', 'label'),
      is: fc.constant('startsWith'),
      text: place.map((number) => `n${number}`),
    })
    const one = fc.oneof<fc.Arbitrary<Condition>[]>(
      range,
      start,
      fc.constantFrom(0, 1, null).map((value) => equal('kind', value)),
      range.map((condition) => ({ is: 'not', condition })),
    )
    const query = fc.record({
      conditions: fc.array(one, { minLength: 1, maxLength: 3 }),
      sort: fc.constantFrom([], [{ field: 'name', descending: true }]),
      offset: fc.constantFrom(0, 5, 1_500),
      count: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(query, async (given) => {
        await read(files, given)
      }),
      { numRuns: 150 },
    )
  })

  test('is the same after another program has dropped the index, and created it again', async () => {
    const files = await openFiles(driver)
    const few = { conditions: [below(5)], count: true }
    const before = await read(files, few)
    expect(before).toMatchObject({ count: 4, isThreaded: false })
    const handle = openHandle(driver, files.path)
    onTestFinished(() => {
      handle.close()
    })
    handle.exec('DROP INDEX items_size')
    for (let time = 0; time < 3; time++) expect(await read(files, few)).toMatchObject({ count: 4 })
    handle.exec('CREATE INDEX items_size ON items (size)')
    for (let time = 0; time < 3; time++) expect(await read(files, few)).toMatchObject({ count: 4 })
  })
})
