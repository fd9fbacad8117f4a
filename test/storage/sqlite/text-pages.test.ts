import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { rowOf, samples } from '../../../src/conformance/collections.ts'
import type { StoredValue } from '../../../src/definition/field-type.ts'
import type { Row, StorageQuery, StorageTextPage } from '../../../src/storage/adapter.ts'
import { sqliteStorage } from '../../../src/entries/sqlite.ts'
import { drivers } from '../../kit/databases.ts'

const hardText = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '').toWellFormed()),
  fc.constantFrom('', '"', '\\', '\u2028\u2029', '\u0001\b\f\n\r\t\u001f\u007f', '😀', 'e\u0301'),
  fc.constantFrom('</script>', '\\u0041', '/', '\ufeff', '\uffff', '{"a":1}', "'; drop", '1', '01'),
)
const two = (value: number): string => String(value).padStart(2, '0')
const day = fc
  .tuple(fc.integer({ min: 1, max: 9999 }), fc.nat({ max: 11 }), fc.nat({ max: 27 }))
  .map(([y, m, d]) => `${String(y).padStart(4, '0')}-${two(m + 1)}-${two(d + 1)}`)
const local = fc
  .tuple(day, fc.nat({ max: 23 }), fc.nat({ max: 59 }), fc.nat({ max: 999 }))
  .map(([date, hour, rest, milliseconds]) => {
    const fraction = milliseconds === 0 ? '' : `.${String(milliseconds).padStart(3, '0')}`
    return `${date}T${two(hour)}:${two(rest)}:${two(rest)}${fraction}`
  })
const scaled = fc
  .tuple(fc.boolean(), fc.nat(10 ** 9), fc.nat(9999))
  .map(([negative, whole, fraction]) => {
    const digits = `${whole}.${String(fraction).padStart(4, '0')}`
    return negative && /[1-9]/.test(digits) ? `-${digits}` : digits
  })
const json = fc.jsonValue({ maxDepth: 4 }).map((value) => {
  const text = JSON.stringify(value).replaceAll('\\u0000', '')
  return text === 'null' ? null : JSON.stringify(JSON.parse(text.toWellFormed()))
})

const row = fc.record<Record<string, StoredValue>>(
  {
    label: hardText,
    quantity: fc.maxSafeInteger(),
    large: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    amount: scaled,
    flag: fc.boolean(),
    day,
    local,
    moment: local.map((text) => `${text}Z`),
    token: fc.uuid(),
    data: json,
  },
  { requiredKeys: [] },
)

function itemTexts(rows: readonly Row[], select: readonly string[]): readonly string[] {
  const items = rows.map((stored) =>
    Object.fromEntries(
      select.map((name) => {
        const value = stored[name] as StoredValue
        return [name, samples.byName.get(name)?.show(value)]
      }),
    ),
  )
  return items.map((item) => JSON.stringify(item))
}

const written = samples.allNames.filter((name) => samples.byName.get(name)?.type !== 'double')

describe.each(drivers)('%s: a page as text', (driver) => {
  test('is what JSON.stringify writes for the rows, for every type and value', async () => {
    const storage = sqliteStorage(':memory:', { driver, ensureSchema: true })
    await storage.open([samples])
    let id = 0
    const property = fc.asyncProperty(row, fc.subarray(written), async (values, select) => {
      id += 1
      const stored = rowOf(samples, { ...values, id })
      const returned = await storage.transaction({ mode: 'write', brief: true }, async (open) =>
        open.insert(samples, stored),
      )
      expect(returned).toEqual(stored)
      const conditions: StorageQuery['conditions'] = [{ field: 'id', is: 'equal', value: id }]
      const query = queryOf(samples, { conditions, select })
      const page = await storage.filter(samples, query)
      const text = await storage.filterText?.(samples, query)
      expect(text?.items).toEqual(itemTexts(page.rows, select))
      expect(text?.items).toEqual(itemTexts([stored], select))
    })
    await fc.assert(property, { numRuns: 400 })
    const all = queryOf(samples, { select: written, count: true, limit: 100, offset: 5 })
    const text = (await storage.filterText?.(samples, all)) as StorageTextPage
    const page = await storage.filter(samples, all)
    expect(text).toEqual({
      items: itemTexts(page.rows, written),
      count: page.count,
    })
    await storage.close()
  })

  test('is undefined if a field is a double', async () => {
    const storage = sqliteStorage(':memory:', { driver, ensureSchema: true })
    await storage.open([samples])
    expect(await storage.filterText?.(samples, queryOf(samples))).toBeUndefined()
    await storage.close()
  })
})
