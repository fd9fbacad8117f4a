import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { samples } from '../../../src/conformance/collections.ts'
import { queryOf } from '../../../src/conformance/case.ts'
import { encodeRow } from '../../../src/request/serialize.ts'
import { isStorageError } from '../../../src/storage/adapter.ts'
import type { StorageAdapter } from '../../../src/entries/storage.ts'
import { postgresStorage } from '../../../src/entries/postgres.ts'
import { missingServer, testSchema, type TestSchema } from '../../kit/postgres.ts'

const missing = await missingServer()

describe.skipIf(missing !== undefined)('a stored value', () => {
  let schema: TestSchema
  let storage: StorageAdapter
  beforeAll(async () => {
    schema = await testSchema()
    storage = postgresStorage(schema.pool, { ensureSchema: true })
    await storage.open([samples])
  })
  afterAll(async () => {
    await storage.close()
    await schema.drop()
  })

  async function read(field: string, value: string): Promise<unknown> {
    await schema.run(
      `delete from samples; insert into samples (id, "${field}") values (1, ${value})`,
    )
    const query = queryOf(samples, { select: ['id', field] })
    const item = (await storage.filterText?.(samples, query))?.items[0]
    try {
      const page = await storage.filter(samples, query)
      expect(item).toBe(encodeRow(samples, page.rows[0] ?? {}, query.select))
      return page.rows[0]?.[field]
    } catch (error) {
      if (!isStorageError(error)) throw error
      expect(item).toBeUndefined()
      return error.kind
    }
  }

  test.each([
    ['quantity', '9007199254740993', 'unfit'],
    ['large', '9223372036854775807', '9223372036854775807'],
    ['amount', `'NaN'`, 'unfit'],
    ['amount', `'-0'`, '0.0000'],
    ['ratio', `'NaN'`, 'unfit'],
    ['ratio', `'-Infinity'`, 'unfit'],
    ['ratio', `'-0'`, 0],
    ['ratio', '8.41e21', 8.41e21],
    ['ratio', '5e-324', 5e-324],
    ['day', `'infinity'`, 'unfit'],
    ['day', `'0044-03-15 BC'`, 'unfit'],
    ['day', `'12345-01-01'`, 'unfit'],
    ['day', `'0001-01-01'`, '0001-01-01'],
    ['local', `'-infinity'`, 'unfit'],
    ['local', `'0044-03-15 12:00 BC'`, 'unfit'],
    ['local', `'2024-01-01 00:00:00.1'`, '2024-01-01T00:00:00.100'],
    ['local', `'2024-01-01 00:00:00'`, '2024-01-01T00:00:00'],
    ['moment', `'infinity'`, 'unfit'],
    ['moment', `'2024-01-01 00:30:00.25+05:30'`, '2023-12-31T19:00:00.250Z'],
    ['data', `'{"b": 1,  "a":1e400, "b":2}'`, 'unfit'],
    ['data', `'{"b": 1,  "a":[], "b":2}'`, '{"b": 1,  "a":[], "b":2}'],
    ['token', `'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'`, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
  ])('of %s that is %s', async (field, value, expected) => {
    expect(await read(field, value)).toBe(expected)
  })

  test('is read in one form, whatever the settings of the role and the pool are', async () => {
    const own = postgresStorage(schema.open(1))
    const pool = schema.open(1)
    await pool.query(
      `set timezone = 'Asia/Kolkata'; set datestyle = 'German'; set extra_float_digits = 0`,
    )
    const other = postgresStorage(pool)
    await schema.run(`delete from samples; insert into samples (id, ratio, "day", local, moment) values
      (1, 0.1::float8 + 0.2::float8, '2024-03-31', '2024-03-31 02:30:00', '2024-03-31 00:30:00Z')`)
    for (const one of [own, other]) {
      await one.open([samples])
      const select = ['ratio', 'day', 'local', 'moment']
      const { rows } = await one.filter(samples, queryOf(samples, { select }))
      const moment = '2024-03-31T00:30:00Z'
      const local = '2024-03-31T02:30:00'
      expect(rows).toEqual([{ ratio: 0.1 + 0.2, day: '2024-03-31', local, moment }])
      await one.close()
    }
  })

  test('of a double is searched as JavaScript writes it', async () => {
    await schema.run(
      `delete from samples; insert into samples (id, ratio) values (1, 1e21), (2, 1e-7), (3, 8.41e21), (4, 120), (5, null)`,
    )
    const found = async (text: string): Promise<unknown> => {
      const search = { fields: ['ratio'], text }
      const page = await storage.filter(
        samples,
        queryOf(samples, { search, select: ['id'], count: true }),
      )
      return [page.count, ...page.rows.map(({ id }) => id)]
    }
    expect(await found('1e+21')).toEqual([2, 1, 3])
    expect(await found('e-7')).toEqual([1, 2])
    expect(await found('e-07')).toEqual([0])
    expect(await found('8.41e+21')).toEqual([1, 3])
    expect(await found('12')).toEqual([1, 4])
    expect(await found('x')).toEqual([0])
  })
})
