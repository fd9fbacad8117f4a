import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { defineCollection } from '../../../src/definition/collection.ts'
import { integer, text, uuid, type Field } from '../../../src/definition/field.ts'
import type { StoredValue } from '../../../src/definition/field-type.ts'
import { publishCollection, type PublishedCollection } from '../../../src/definition/published.ts'
import { encodeRow } from '../../../src/request/serialize.ts'
import { equal, type Condition, type StorageQuery } from '../../../src/request/query.ts'
import { pageStatement } from '../../../src/storage/sqlite/statements/statements.ts'
import { isStorageError, type StorageAdapter } from '../../../src/storage/adapter.ts'
import { memoryStorage } from '../../../src/storage/memory/memory.ts'
import { sqliteStorage, type SqliteHandle, type SqliteValue } from '../../../src/entries/sqlite.ts'
import { columnDefinition } from '../../../src/schema/sqlite/statements.ts'
import { drivers, openHandle, rowsIn } from '../../kit/databases.ts'
import { formCases, nameOf, type FormCase } from './other-forms.ts'

interface Opened {
  readonly handle: SqliteHandle
  readonly storage: StorageAdapter
  readonly things: PublishedCollection
}

/** Opens a table: one that the library creates, or one with the declared type of another program. */
async function opened(
  { field, declared }: FormCase,
  driver: (typeof drivers)[number],
  created: boolean,
): Promise<Opened> {
  const handle = openHandle(driver, ':memory:')
  if (!created) handle.exec(`CREATE TABLE things (id INTEGER PRIMARY KEY, value ${declared})`)
  const fields: Record<string, Field> = { id: integer(), value: field }
  const things = publishCollection('shop', 'things', defineCollection({ key: 'id', fields }))
  const storage = sqliteStorage(handle, { ensureSchema: created })
  await storage.open([things])
  onTestFinished(async () => {
    await storage.close()
    handle.close()
  })
  return { handle, storage, things }
}

const each = drivers.flatMap((driver) =>
  formCases.map((form) => [`${driver}: ${nameOf(form)}`, driver, form] as const),
)

async function insert({ storage, things }: Opened, id: number, value: StoredValue): Promise<void> {
  await storage.transaction({ mode: 'write', brief: true }, (open) =>
    open.insert(things, { id, value }),
  )
}

async function valuesOf({ storage, things }: Opened, id: number): Promise<readonly StoredValue[]> {
  const query = queryOf(things, { conditions: [equal('id', id)] })
  const page = await storage.filter(things, query)
  const text = await storage.filterText?.(things, query)
  const names = things.allNames
  expect(text?.items).toEqual(page.rows.map((row) => encodeRow(things, row, names)))
  return page.rows.map((row) => row['value'] as StoredValue)
}

/** Returns queries by order and by a list. */
function beyondEquality(
  values: readonly (StoredValue | null)[],
  value: StoredValue | null,
): readonly Pick<StorageQuery, 'conditions'>[] {
  const list = values.filter((one) => one !== null).slice(1)
  const field = 'value'
  const others: Condition[] =
    value === null
      ? []
      : (['lt', 'lte', 'gt', 'gte'] as const).map((is): Condition => ({ field, is, value }))
  return [...others, { field, is: 'in', values: list } as const].flatMap((condition) => [
    { conditions: [condition] },
    { conditions: [{ is: 'not', condition }] },
  ])
}

function rawIn(handle: SqliteHandle, id: number): SqliteValue {
  // node:sqlite does not return a larger integer as a number.
  const isSafe = `typeof(value) <> 'integer' OR value BETWEEN -9007199254740991 AND 9007199254740991`
  const value = `CASE WHEN ${isSafe} THEN value ELSE CAST(value AS REAL) END`
  const [row] = rowsIn(handle, `SELECT ${value} AS value FROM things WHERE id = ?`, id)
  return (row as { value: SqliteValue }).value
}

function comparable(value: SqliteValue): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  return typeof value === 'number' ? value + 0 : value
}

describe.each(each)('%s', (_name, driver, form) => {
  test.each([true, false])(
    'a value is stored in the form, and read back (table of the library: %s)',
    async (created) => {
      const on = await opened(form, driver, created)
      let id = 0
      const property = fc.asyncProperty(form.values, async (value) => {
        id++
        await insert(on, id, value)
        expect(comparable(rawIn(on.handle, id))).toEqual(comparable(form.raw(value)))
        expect(await valuesOf(on, id)).toEqual([value])
        const found = await on.storage.filter(
          on.things,
          queryOf(on.things, { conditions: [equal('id', id), equal('value', value)] }),
        )
        expect(found.rows).toEqual([{ id, value }])
        const unchanged = await on.storage.transaction({ mode: 'write', brief: true }, (open) =>
          open.update(on.things, [equal('id', id)], { value }),
        )
        expect(unchanged).toEqual({ id, value })
      })
      await fc.assert(property, { numRuns: 60 })
    },
  )

  test('a stored value is read exactly, or does not fit', async () => {
    const on = await opened(form, driver, false)
    const strict = openHandle(driver, ':memory:')
    onTestFinished(() => void strict.close())
    const value = on.things.byName.get('value')
    if (value === undefined) throw new Error('no field')
    strict.exec(`CREATE TABLE things (id INTEGER PRIMARY KEY, ${columnDefinition(value)}) STRICT`)
    let id = 0
    const near = fc.oneof(
      fc.constantFrom(...form.near),
      form.values.map((one) => form.raw(one)),
      form.values,
      fc
        .tuple(form.values, fc.nat(40), fc.constantFrom('', ' ', '0', '9', 'Z', '\0', '-'))
        .map(([one, at, other]) => {
          const text = String(form.raw(one))
          return text.slice(0, at) + other + text.slice(at + 1)
        }),
    )
    const property = fc.asyncProperty(near, async (given) => {
      id++
      const bound = typeof given === 'boolean' ? Number(given) : given
      runIn(on.handle, id, bound)
      const raw = rawIn(on.handle, id)
      const [read] = await valuesOf(on, id).catch((error: unknown) => {
        if (isStorageError(error) && error.kind === 'unfit') return [undefined]
        throw error
      })
      if (read === undefined) return
      expect(value.isStored(read)).toBe(true)
      expect(comparable(form.raw(read))).toEqual(comparable(raw))
      // A table of the library accepts the values that fit.
      runIn(strict, id, raw)
    })
    await fc.assert(property, { numRuns: 150 })
    expect(id).toBeGreaterThan(100)
  })

  test('conditions, orders and searches return the same as on the memory storage', async () => {
    const on = await opened(form, driver, false)
    const memory = memoryStorage()
    await memory.open([on.things])
    const property = fc.asyncProperty(
      fc.array(fc.option(form.values, { freq: 6 }), { minLength: 1, maxLength: 12 }),
      fc.nat(11),
      fc.string({ unit: fc.constantFrom('0', '1', '2', '-', 't', 'z', ':', '.'), maxLength: 2 }),
      async (values, index, needle) => {
        const undo = new Error('undo')
        const pages: unknown[][] = []
        for (const storage of [on.storage, memory]) {
          const own: unknown[] = []
          const run = storage.transaction({ mode: 'write', brief: true }, async (open) => {
            for (const [id, value] of values.entries()) await open.insert(on.things, { id, value })
            const value = values[index % values.length] ?? null
            const byKey = { field: 'id', descending: false }
            for (const query of [
              { conditions: [equal('value', value)] },
              { conditions: [{ field: 'value', is: 'empty' } as const] },
              ...(value === null ? [] : comparisons(value)),
              { conditions: [{ field: 'value', is: 'in', values: given(values) } as const] },
              { sort: [{ field: 'value', descending: false }, byKey] },
              { sort: [{ field: 'value', descending: true }, byKey] },
              { search: { fields: ['value'], text: needle } },
              ...beyondEquality(values, value),
            ]) {
              own.push((await open.filter(on.things, queryOf(on.things, query))).rows)
            }
            throw undo
          })
          await expect(run).rejects.toBe(undo)
          pages.push(own)
        }
        expect(pages[0]).toEqual(pages[1])
      },
    )
    await fc.assert(property, { numRuns: 25 })
    await memory.close()
  })

  test('an item is read, changed and deleted by such a key', async () => {
    const handle = openHandle(driver, ':memory:')
    handle.exec(`CREATE TABLE keyed (value ${form.declared} NOT NULL PRIMARY KEY, name INTEGER)`)
    const fields: Record<string, Field> = { value: form.field, name: integer() }
    const keyed = publishCollection('shop', 'keyed', defineCollection({ key: 'value', fields }))
    const storage = sqliteStorage(handle)
    await storage.open([keyed])
    const [value = null] = fc.sample(form.values, { numRuns: 1, seed: 7 })
    const conditions = [equal('value', value)]
    await storage.transaction({ mode: 'write', brief: true }, async (open) => {
      await open.insert(keyed, { value, name: 1 })
      expect(await open.update(keyed, conditions, { name: 2 })).toEqual({ value, name: 2 })
      const page = await open.filter(keyed, queryOf(keyed, { conditions }))
      expect(page.rows).toEqual([{ value, name: 2 }])
      expect(await open.delete(keyed, conditions)).toEqual({ value, name: 2 })
    })
    await storage.close()
    handle.close()
  })
})

test.each(formCases.map((form) => [nameOf(form), form] as const))(
  'an index serves conditions and orders: %s',
  async (_name, form) => {
    const { handle, things } = await opened(form, drivers[0] as (typeof drivers)[number], false)
    handle.exec('CREATE INDEX things_value ON things (value)')
    const planOf = (query: Partial<StorageQuery>): string => {
      const { conditions, sort, select } = queryOf(things, query)
      const shape = { conditions, sort, select, search: null, deep: false }
      const reading = {
        output: 'json',
        checksAll: true,
        guaranteed: new Map<never, never>(),
      } as const
      const { sql, slots } = pageStatement(things, shape, reading)
      const steps = rowsIn(handle, `EXPLAIN QUERY PLAN ${sql}`, ...slots.map(() => null))
      return steps.map((step) => (step as { detail: string }).detail).join('; ')
    }
    const [value = null] = fc.sample(form.values, 1)
    expect(planOf({ conditions: [equal('value', value)] })).toMatch(
      /^SEARCH t USING (COVERING )?INDEX things_value \(value=\?\)$/,
    )
    for (const descending of [false, true]) {
      const sort = [
        { field: 'value', descending },
        { field: 'id', descending },
      ]
      expect(planOf({ sort })).toMatch(/^SCAN t USING (COVERING )?INDEX things_value$/)
    }
  },
)

function comparisons(value: NonNullable<StoredValue>): readonly Partial<StorageQuery>[] {
  return (['lt', 'lte', 'gt', 'gte'] as const).map((is) => ({
    conditions: [{ field: 'value', is, value }],
  }))
}

function given(values: readonly StoredValue[]): readonly NonNullable<StoredValue>[] {
  return values.filter((value) => value !== null).slice(0, 3)
}

test('a condition of a referenced item compares columns with different forms', async () => {
  const handle = openHandle(drivers[0] as (typeof drivers)[number], ':memory:')
  handle.exec(`CREATE TABLE owners (id BINARY(16) PRIMARY KEY, name TEXT);
    CREATE TABLE things (id INTEGER PRIMARY KEY, owner TEXT);
    INSERT INTO owners VALUES (x'0f8fad5bd9cb469fa16570867728950e', 'maria'), (x'00', 'x');
    INSERT INTO things VALUES (1, '0F8FAD5BD9CB469FA16570867728950E'), (2, NULL), (3, '00000000000000000000000000000000')`)
  const owners = publishCollection(
    'shop',
    'owners',
    defineCollection({ key: 'id', fields: { id: uuid({ storedAs: 'blob' }), name: text() } }),
  )
  const things = publishCollection(
    'shop',
    'things',
    defineCollection({ key: 'id', fields: { id: integer(), owner: uuid({ storedAs: 'HEX' }) } }),
  )
  const storage = sqliteStorage(handle)
  await storage.open([owners, things])
  const through = {
    is: 'through',
    fields: ['owner'],
    collection: owners,
    conditions: [equal('name', 'maria')],
  } as const
  for (const conditions of [
    [through],
    [{ is: 'not', condition: { is: 'not', condition: through } }],
  ] as const) {
    const page = await storage.filter(things, queryOf(things, { conditions, select: ['id'] }))
    expect(page.rows).toEqual([{ id: 1 }])
  }
  await storage.close()
  handle.close()
})

function runIn(handle: SqliteHandle, id: number, value: SqliteValue): void {
  const statement = handle.prepare('INSERT INTO things VALUES (?, ?)') as {
    run(...values: SqliteValue[]): unknown
  }
  statement.run(id, value)
}
