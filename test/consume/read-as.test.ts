import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  flatten,
  flattenElements,
  readTables,
  TablesError,
  unflatten,
} from '../../src/entries/consume.ts'
import { valueBelow, unescapeKey } from '../../src/consume/json-path.ts'
import { allTables, type ResponseTables, type TableRow } from '../../src/consume/tables/table.ts'
import type { Json } from '../../src/protocol/json.ts'
import { caught } from '../kit/expectations.ts'
import { anyJson } from './any-json.ts'

const paths = ['a', 'b', 'a/b', 'value', '~1', '__proto__', 'a/value']
const anyReading = fc.record({
  entries: fc.subarray(['', 'a', '__proto__']),
  arrays: fc.subarray(paths),
  zip: fc.subarray(paths),
})
const anyValue = fc.oneof(
  anyJson(['a', 'b', '/', 'value', '__proto__']),
  anyJson(['a', 'b']),
  // Parallel arrays, which arbitrary values seldom have.
  fc.array(fc.tuple(fc.jsonValue(), anyJson(['a', 'b'])), { maxLength: 4 }).map((pairs) => ({
    a: { x: pairs.map(([one]) => one) as Json, y: pairs.map(([, other]) => other), unit: 'C' },
  })),
)

/** Replaces the numbers that a stream rejects. */
function readable(_key: string, value: unknown): unknown {
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? 1 : value
}

/** Returns the tables of a value; the error if its parallel arrays have different lengths. */
function tablesOf(value: Json, reading: object): ResponseTables | TablesError {
  try {
    return flatten(value, reading)
  } catch (error) {
    if (error instanceof TablesError && error.code === 'UNEQUAL_LENGTHS') return error
    throw error
  }
}

test('unflatten returns what flatten has read as tables, for 5000 values', () => {
  fc.assert(
    fc.property(anyValue, anyReading, (value, reading) => {
      const tables = tablesOf(value, reading)
      if (!(tables instanceof TablesError)) expect(unflatten(tables)).toEqual(value)
    }),
    { numRuns: 5000 },
  )
})

test('the pointer of a row leads into the response, for 3000 values', () => {
  fc.assert(
    fc.property(anyValue, anyReading, (value, reading) => {
      const tables = tablesOf(value, reading)
      if (tables instanceof TablesError) return
      const { pointer } = readTables(tables)
      for (const { rows } of allTables(tables)) {
        for (const row of rows) {
          const keys = pointer(row).split('/').slice(1).map(unescapeKey)
          expect(valueBelow(value, keys)).not.toBe(undefined)
        }
      }
    }),
    { numRuns: 3000 },
  )
})

test('the elements of a stream have the tables that they have in the whole body', async () => {
  const elements = fc.array(anyValue, { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(elements, anyReading, async (list, reading) => {
      const body = JSON.parse(JSON.stringify(list), readable) as Json
      const whole = tablesOf(body, reading)
      const bytes = Readable.from([Buffer.from(JSON.stringify(body))])
      const rows = new Map<string | null, TableRow[]>()
      let error: unknown
      try {
        for await (const part of flattenElements(bytes, { items: null, ...reading })) {
          for (const table of allTables(part)) {
            rows.set(table.path, [...(rows.get(table.path) ?? []), ...table.rows])
          }
        }
      } catch (thrown) {
        error = thrown
      }
      if (whole instanceof TablesError) expect(error).toEqual(whole)
      else {
        expect(error).toBe(undefined)
        const all = allTables(whole).filter((table) => table.rows.length > 0)
        expect(rows).toEqual(new Map(all.map((table) => [table.path, table.rows])))
      }
    }),
    { numRuns: 1000 },
  )
})

describe('parallel arrays', () => {
  test('of different lengths are an error that names them', () => {
    const value = { hourly: { time: ['0', '1', '2'], rain: [0, 1], unit: 'mm' } }
    expect(caught(() => flatten(value, { zip: ['hourly'] }))).toMatchObject({
      code: 'UNEQUAL_LENGTHS',
      path: 'hourly',
      message: 'The arrays of hourly have different lengths: hourly/time has 3, hourly/rain has 2.',
    })
  })

  test('are one table, with the other members as columns above it', () => {
    const value = { hourly: { time: ['0', '1'], rain: [0, 1], unit: 'mm' } }
    const { root, tables } = flatten(value, { zip: ['hourly'] })
    expect(root.rows[0]?.values).toEqual({ 'hourly/unit': 'mm' })
    expect(tables.get('hourly')?.rows.map(({ values }) => values)).toEqual([
      { time: '0', rain: 0 },
      { time: '1', rain: 1 },
    ])
  })
})
