import { join } from 'node:path'
import * as fc from 'fast-check'
import { createService, openAccess, principal } from 'rowgate'
import { sqliteStorage, type SqliteDriver, type SqliteValue } from 'rowgate/sqlite'
import { expect, test } from 'vitest'
import type { CollectionDefinition } from '../../src/definition/collection.ts'
import type { CollectionAccess } from '../../src/definition/handler.ts'
import type { CollectionShape } from '../../src/definition/item.ts'
import type { Json } from '../../src/protocol/json.ts'
import { defineDatabase } from '../../src/schema/describe/define-database.ts'
import { describeSqlite } from '../../src/schema/describe/sqlite/describe-sqlite.ts'
import { folded } from '../../src/schema/model.ts'
import { drivers, openHandle, rowsIn } from '../kit/databases.ts'
import { temporaryFolder } from '../kit/storages.ts'

const declaredTypes = [
  ...[
    '',
    'INTEGER',
    'INT',
    'BIGINT',
    'TINYINT(1)',
    'TEXT',
    'VARCHAR(5)',
    'CHAR(36)',
    'REAL',
    'DOUBLE',
  ],
  ...[
    'NUMERIC',
    'DECIMAL(8,2)',
    'DECIMAL(3)',
    'MONEY',
    'DATE',
    'DATETIME',
    'TIMESTAMP',
    'BOOLEAN',
    'BLOB',
  ],
  ...['JSON', 'UUID', 'STRING', 'FLOATING POINT', 'ENUM'],
]
const names = [
  ...[
    'id',
    'created_at',
    'OrderDate',
    'is_open',
    'unit price',
    'uuid',
    'total',
    'select',
    'a.b',
    'constructor',
  ],
  ...['ключ', '2nd', 'time', 'x"y', "it's", 'flag', 'day', 'birthday', '$count'],
]

const whole = fc.integer({ min: -3, max: 12 }).map(BigInt)
const time = fc.date({
  min: new Date('1980-01-01'),
  max: new Date('2080-01-01'),
  noInvalidDate: true,
})
const spaced = time.map((at) => at.toISOString().slice(0, 19).replace('T', ' '))
const kinds: readonly fc.Arbitrary<SqliteValue | Uint8Array>[] = [
  whole,
  fc.constantFrom(0n, 1n),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  time.map((at) => BigInt(at.getTime())),
  time.map((at) => BigInt(Math.floor(at.getTime() / 1000))),
  fc.integer({ min: -99_999, max: 99_999 }).map((cents) => cents / 100),
  fc.double({ noNaN: true }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('Y', 'N'),
  fc.constantFrom('true', 'false'),
  fc.constantFrom('', '7', '1.50', '1e3', ' 5', '{"a":1}', '[', 'null'),
  spaced,
  spaced.map((text) => `${text}.000`),
  spaced.map((text) => `${text}.123456`),
  spaced.map((text) => text.slice(0, 10)),
  spaced.map((text) => `${text.slice(0, 10)} 00:00:00`),
  time.map((at) => at.toISOString()),
  fc.uuid(),
  fc.uuid().map((text) => text.replaceAll('-', '').toUpperCase()),
  fc.uint8Array({ minLength: 16, maxLength: 16 }),
]

interface RandomColumn {
  readonly name: string
  readonly declared: string
  readonly constraint: string
  readonly values: readonly (SqliteValue | Uint8Array)[]
}

const rowCount = 5

function column(name: string): fc.Arbitrary<RandomColumn> {
  const one = fc.constantFrom(...kinds)
  // Most columns have values of one kind.
  const kind = fc.oneof(
    { weight: 9, arbitrary: one.map((only) => [only]) },
    { weight: 1, arbitrary: fc.tuple(one, one).map((both) => [...both]) },
  )
  return kind.chain((values) =>
    fc.record({
      name: fc.constant(name),
      declared: fc.constantFrom(...declaredTypes),
      constraint: fc.constantFrom('', '', 'NOT NULL', 'UNIQUE', 'NOT NULL UNIQUE', 'DEFAULT 1'),
      values: fc.array(fc.oneof(...values, fc.constantFrom(null, null)), {
        minLength: rowCount,
        maxLength: rowCount,
      }),
    }),
  )
}

const table = fc.record({
  columns: fc
    .uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 6 })
    .chain((chosen) => fc.tuple(...chosen.map(column))),
  keyed: fc.integer({ min: 0, max: 2 }),
  withoutRowId: fc.boolean(),
})

type RandomTable = typeof table extends fc.Arbitrary<infer Value> ? Value : never

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

function createTable({ columns, keyed, withoutRowId }: RandomTable): string {
  const lines = columns.map(
    ({ name, declared, constraint }) => `${quoted(name)} ${declared} ${constraint}`,
  )
  const key = columns.slice(0, keyed).map(({ name }) => quoted(name))
  if (keyed > 0) lines.push(`PRIMARY KEY (${key.join(', ')})`)
  return `CREATE TABLE "t.1" (${lines.join(', ')})${withoutRowId && keyed > 0 ? ' WITHOUT ROWID' : ''}`
}

type Items = CollectionAccess<CollectionShape>
type Values = Readonly<Record<string, Json>>

/** Finds each item by its values, and updates it with them. */
async function saveAll(items: Items, { key, fields }: CollectionDefinition): Promise<void> {
  const page = await items.filter()
  for (const item of page.items as readonly Values[]) {
    for (const [name, value] of Object.entries(item)) {
      if (typeof value === 'object') continue
      const { items: found } = await items.filter({ [name]: value })
      expect({ name, item, found }).toEqual({
        ...{ name, item },
        found: expect.arrayContaining([item]) as unknown,
      })
    }
    if (key === undefined) continue
    const names = typeof key === 'string' ? [key] : key
    const changes = Object.entries(item).filter(
      ([name]) => fields[name]?.readOnly !== true && !names.includes(name),
    )
    const found = typeof key === 'string' ? item[key] : key.map((name) => item[name])
    const result = await items.update(found as never, Object.fromEntries(changes))
    expect({ item, result }).toMatchObject({ item, result: { rejected: false } })
  }
}

/** Inserts a copy of an item, which a key or a unique value may reject. */
async function insertCopy(
  items: Items,
  { fields, publishes }: CollectionDefinition,
): Promise<void> {
  const [item] = (await items.filter()).items as readonly Values[]
  if (item === undefined || publishes?.includes('Insert') === false) return
  const values = Object.entries(item).filter(([name]) => fields[name]?.readOnly !== true)
  const result = await items.insert(Object.fromEntries(values))
  if (!result.rejected) expect(result.item).toMatchObject(Object.fromEntries(values))
}

test('the rows of any database can be read, and saved again without a change', async () => {
  const folder = temporaryFolder()
  const driver = drivers[0] as SqliteDriver
  let number = 0
  await fc.assert(
    fc.asyncProperty(table, async (random) => {
      const file = join(folder, `${number++}.db`)
      const handle = openHandle(driver, file)
      handle.exec(createTable(random))
      const places = random.columns.map(() => '?').join(', ')
      const insert = handle.prepare(`INSERT OR IGNORE INTO "t.1" VALUES (${places})`)
      for (let row = 0; row < rowCount; row++) {
        const values = random.columns.map((each) => each.values[row]) as SqliteValue[]
        try {
          insert.run(...values)
        } catch {
          // INTEGER PRIMARY KEY rejects a string, whatever the conflict clause is.
        }
      }
      const shown = random.columns.map(({ name }) => `quote(${quoted(name)})`).join(` || ',' || `)
      const content = (): unknown => rowsIn(handle, `SELECT ${shown} AS row FROM "t.1" ORDER BY 1`)
      const before = content()
      const { collections } = defineDatabase(await describeSqlite(file), folded)
      const [collection] = Object.values(collections)
      if (collection !== undefined) {
        const failures: unknown[] = []
        const service = createService({
          applications: { app: { collections } },
          storage: sqliteStorage(file, { synchronous: 'NORMAL' }),
          security: openAccess(),
          report: (failure) => void failures.push(failure),
        })
        await service.ready()
        const items = service.as(principal('any')).collection('app', 't-1')
        await saveAll(items, collection)
        expect(content()).toEqual(before)
        await insertCopy(items, collection)
        await service.close()
        expect(failures).toEqual([])
      }
      handle.close()
    }),
    { numRuns: Number(process.env['RUNS'] ?? 60), seed: 14 },
  )
})
