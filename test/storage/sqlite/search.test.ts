import fc from 'fast-check'
import { expect, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { rowOf, samples } from '../../../src/conformance/collections.ts'
import { searchText } from '../../../src/storage/adapter.ts'
import {
  sqliteStorage,
  type NodeSqliteHandle,
  type SqliteDriver,
} from '../../../src/entries/sqlite.ts'
import { foldFunction, foldValue } from '../../../src/storage/sqlite/search/search.ts'
import { drivers, openHandle } from '../../kit/databases.ts'

const signs = Array.from('iIİıkK\u212asSßẞΣςσÉée\u0301\u0307Å\u212båxX%_\\é1-')

test('a page has exactly the rows whose folded wire text contains the folded needle', async () => {
  const storage = sqliteStorage(':memory:', { ensureSchema: true })
  await storage.open([samples])
  const text = fc.array(fc.constantFrom(...signs), { maxLength: 5 }).map((some) => some.join(''))
  let id = 0
  const property = fc.asyncProperty(
    fc.array(text, { minLength: 1, maxLength: 12 }),
    text.filter((needle) => needle !== ''),
    async (labels, needle) => {
      const first = id + 1
      await storage.transaction({ mode: 'write', brief: true }, async (open) => {
        for (const label of labels) await open.insert(samples, rowOf(samples, { id: ++id, label }))
      })
      const search = { fields: ['label'], text: searchText(needle) }
      const page = await storage.filter(samples, queryOf(samples, { search, limit: 100_000 }))
      const found = page.rows.map((row) => row['id'] as number).filter((found) => found >= first)
      const expected = labels
        .map((label, index) => ({ label, id: first + index }))
        .filter(({ label }) => searchText(label).includes(searchText(needle)))
      expect(found).toEqual(expected.map((row) => row.id))
    },
  )
  await fc.assert(property, { numRuns: 300 })
  await storage.close()
})

test('SQLite folds every character for ASCII needles as searchText does', () => {
  const handle = openHandle(drivers[0] as SqliteDriver, ':memory:')
  const folded = `select lower(replace(replace(?, '\u212a', 'k'), '\u0130', 'i\u0307')) as folded`
  const statement = (handle as NodeSqliteHandle).prepare(folded)
  const fold = (sign: string): string => (statement.all(sign)[0] as { folded: string }).folded
  const ascii = (text: string): string => text.replace(/[^\0-\x7f]/g, '')
  const wrong: string[] = []
  for (let code = 1; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const sign = String.fromCodePoint(code)
    // Only the lower case of these characters contains ASCII letters.
    if (code > 0x7f && ascii(searchText(sign)) === '') continue
    if (ascii(fold(sign)) !== ascii(searchText(sign))) wrong.push(sign)
  }
  expect(wrong).toEqual([])
})

test('a search ignores case on a handle with case_sensitive_like, and for the longest needles', async () => {
  const handle = openHandle(drivers[0] as SqliteDriver, ':memory:')
  handle.exec('PRAGMA case_sensitive_like = ON')
  const storage = sqliteStorage(handle, { ensureSchema: true })
  await storage.open([samples])
  const long = 'Ab_%'.repeat(10_000)
  const labels = ['Oslo', `-${long}-`, 'Bergen']
  await storage.transaction({ mode: 'write', brief: true }, async (open) => {
    for (const [id, label] of labels.entries())
      await open.insert(samples, rowOf(samples, { id, label }))
  })
  const found = async (text: string): Promise<readonly unknown[]> => {
    const search = { fields: ['label'], text }
    return (await storage.filter(samples, queryOf(samples, { search }))).rows.map(({ id }) => id)
  }
  expect(await found('oslo')).toEqual([0])
  handle.exec('PRAGMA case_sensitive_like = OFF')
  expect([await found('oslo'), await found(long.toLowerCase())]).toEqual([[0], [1]])
  await storage.close()
  handle.close()
})

test.each([
  ['quantity', 1234, '23', true],
  ['quantity', -7, '-7', true],
  ['large', '9223372036854775807', '775807', true],
  ['amount', '-12.5000', '12.50', true],
  ['ratio', 1e21, '1e+21', true],
  ['ratio', 5, '5.0', false],
  ['ratio', 0.1, '0.1', true],
  ['flag', true, 'tru', true],
  ['flag', false, '0', false],
  ['day', '2024-01-05', '-01-', true],
  ['local', '2024-01-05T10:00:00', '5t10', true],
  ['moment', '2024-01-05T10:00:00Z', '10:00:00z', true],
  ['moment', '2024-01-05T10:00:00Z', '.000', false],
  ['moment', '2024-01-05T10:00:00.120Z', '.120z', true],
  ['token', '01234567-89ab-cdef-0123-456789abcdef', '9ab-cd', true],
  ['data', '{"a":"Ärger"}', '"är', true],
  ['label', '50% of_it', '0% of_', true],
  ['label', '50x of it', '0% of', false],
])('%s %s is found by %s: %s', async (field, value, needle, found) => {
  const storage = sqliteStorage(':memory:', { ensureSchema: true })
  await storage.open([samples])
  await storage.transaction({ mode: 'write', brief: true }, async (open) =>
    open.insert(samples, rowOf(samples, { id: 1, [field]: value })),
  )
  const search = { fields: [field], text: needle }
  const page = await storage.filter(samples, queryOf(samples, { search }))
  expect(page.rows.length === 1).toBe(found)
  await storage.close()
})

test('the SQL function folds as searchText does', () => {
  expect(foldFunction).toBe('rowgate_fold')
  expect([foldValue('ΑΣ É'), foldValue(1e21), foldValue(null)]).toEqual([
    'ας é'.replace('ς', 'σ'),
    '1e+21',
    null,
  ])
})
