import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { searchText, type StorageAdapter } from '../../../src/storage/adapter.ts'
import { foldedLetters } from '../../../src/storage/sql/folded-letters.ts'
import { drivers, openHandle } from '../../kit/databases.ts'
import {
  collectionsBy,
  fields,
  filesOf,
  insert,
  keys,
  rowOf,
  type KeyName,
} from './indexed-notes.ts'

const signs = Array.from(
  'aabbciİıkK\u212asSßΣςσÉée\u0301\u0307Å\u212bx%_*"\'\\é1-. აᲐꭰᎠ𐐀𐐨😀\n\uf8ff',
)
const some = (maxLength: number) =>
  fc.array(fc.constantFrom(...signs), { maxLength }).map((characters) => characters.join(''))

describe.each(drivers)('%s', (driver) => {
  test.each(Object.keys(keys) as KeyName[])(
    'searches find the same rows with the index and without it, by a key of %s',
    async (key) => {
      const files = await filesOf(key, driver)
      let id = 0
      const property = fc.asyncProperty(
        fc.array(some(9), { minLength: 1, maxLength: 8 }),
        some(7),
        fc.nat(),
        async (names, needle, at) => {
          const rows = names.map((name, index) =>
            rowOf(++id, { name, note: names[index + 1] ?? null }),
          )
          await insert(files, key, rows)
          await files.find(needle)
          const part = Array.from(names[at % names.length] ?? '').slice(at % 3, (at % 3) + 5)
          await files.find(searchText(part.join('')), ['name'])
        },
      )
      await fc.assert(property, { numRuns: 150 })
    },
  )

  test(
    'every letter that folds is found by its fold, alone and between others',
    { timeout: 60_000 },
    async () => {
      const files = await filesOf('number', driver)
      const letters = [...foldedLetters()].flatMap(([fold, others]) => [fold, ...others])
      const rows = letters.flatMap((letter, index) => [
        rowOf(3 * index + 1, { name: letter.repeat(3) }),
        rowOf(3 * index + 2, { name: `ab${letter}cd` }),
        rowOf(3 * index + 3, { name: `abc${letter}abc` }),
      ])
      await insert(files, 'number', rows)
      const texts = rows.map(({ id, name }) => [id, searchText(String(name))] as const)
      const { indexed: collection } = collectionsBy('number')
      await files.indexed.open([collection])
      for (const fold of foldedLetters().keys()) {
        for (const needle of [`ab${fold}cd`, `abc${fold}`, `${fold}abc`, fold.repeat(3)]) {
          const search = { fields: ['name'], text: needle }
          const query = queryOf(collection, { search, limit: 10_000 })
          const { rows: found } = await files.indexed.filter(collection, query)
          const expected = texts.filter(([, text]) => text.includes(needle)).map(([id]) => id)
          expect(found.map(({ id }) => id)).toEqual(expected)
        }
      }
    },
  )

  test('values of every type are found by their text', async () => {
    const files = await filesOf('string', driver)
    const values = [
      { amount: '-12.50', quantity: 12_345, day: '2024-02-29', flag: true, ratio: 1e21 },
      { at: '2024-02-29T12:30:00Z', token: '01234567-89ab-cdef-0123-456789abcdef', flag: false },
      { at: '2024-02-29T12:30:00.120Z', ratio: 0.1, amount: '1.00', name: '12.50' },
    ]
    await insert(
      files,
      'string',
      values.map((value, index) => rowOf(index + 1, value)),
    )
    const found = async (needle: string) => files.find(needle)
    expect(await found('12.5')).toEqual([1, 3])
    expect([await found('234'), await found('-02-29'), await found('true')]).toEqual([
      [1, 2],
      [1, 2, 3],
      [1],
    ])
    expect([await found('1e+21'), await found('89AB-CD'), await found(':00.12')]).toEqual([
      [1],
      [2],
      [3],
    ])
    expect([await found('.000z'), await found('0.1'), await found('fals')]).toEqual([[], [3], [2]])
  })

  test.each(Object.keys(keys) as KeyName[])(
    'changes by other programs are found, by a key of %s',
    async (key) => {
      const files = await filesOf(key, driver)
      const run = (sql: string) => {
        const handle = openHandle(driver, files.path)
        handle.exec(sql)
        handle.close()
      }
      const add = (id: number, name: string, how = 'INSERT') =>
        run(`${how} INTO notes (id, code, part, name) VALUES (${id}, 'c${id}', 'p', '${name}')`)
      for (let id = 1; id <= 9; id++) add(id, `first word ${id}`)
      expect(await files.find('WORD 3')).toEqual([3])
      run(`UPDATE notes SET name = 'second word' WHERE id % 2 = 0`)
      run(`DELETE FROM notes WHERE id IN (4, 9)`)
      expect(await files.find('second')).toEqual([2, 6, 8])
      add(2, 'replaced', 'INSERT OR REPLACE')
      add(3, 'ignored', 'INSERT OR IGNORE')
      run(`PRAGMA recursive_triggers = ON; REPLACE INTO notes (id, code, part, name)
        VALUES (5, 'c5', 'p', 'replaced')`)
      run(`INSERT INTO notes (id, code, part, name) VALUES (6, 'c6', 'p', 'x')
        ON CONFLICT DO UPDATE SET name = 'upserted word'`)
      expect(await files.find('replaced')).toEqual([2, 5])
      expect([await files.find('second'), await files.find('ignored')]).toEqual([[8], []])
      run(`UPDATE OR REPLACE notes SET id = 8, code = 'C8' WHERE id = 7;
        UPDATE notes SET id = 70, code = 'c70', part = 'other' WHERE id = 1`)
      await files.find('word')
      expect(await files.find('first word 1')).toEqual([70])
      run('BEGIN; DELETE FROM notes; ROLLBACK')
      await files.find('word')
      run(`DELETE FROM notes WHERE id < 6; VACUUM`)
      expect(await files.find('upserted')).toEqual([6])
      run(`INSERT INTO notes (id, code, part, name) VALUES (9, 'c9', 'p', 'after vacuum')`)
      expect(await files.find('vacuum')).toEqual([9])
      expect(await files.find('word')).not.toEqual([])
    },
  )

  test('rows with U+0000, with other values than text, and without a key do no harm', async () => {
    const table = `CREATE TABLE notes (${Object.keys(fields).join(', ')}, PRIMARY KEY (code))`
    const files = await filesOf('string', driver, table)
    const handle = openHandle(driver, files.path)
    handle.exec(`INSERT INTO notes (id, code, name) VALUES (1, 'a', 'start' || char(0) || 'needle nädel'),
      (2, NULL, 'needle'), (3, 'c', 'needle'), (4, 'd', x'6e6565646c65'), (5, 'e', 123456)`)
    handle.exec(`UPDATE notes SET name = 'Needle' WHERE id = 2; DELETE FROM notes WHERE id = 2`)
    handle.close()
    const found = async (storage: StorageAdapter, needle: string, isIndexed: boolean) => {
      const { indexed, plain } = collectionsBy('string')
      const collection = isIndexed ? indexed : plain
      await storage.open([collection])
      const search = { fields: ['name'], text: needle }
      try {
        const { rows } = await storage.filter(collection, queryOf(collection, { search }))
        return rows.map(({ id }) => id)
      } catch (error) {
        return String(error)
      }
    }
    for (const needle of ['needle', 'nädel', 'start', '2345']) {
      const expected = await found(files.plain, needle, false)
      expect([needle, await found(files.indexed, needle, true)]).toEqual([needle, expected])
    }
    expect(await found(files.indexed, 'nädel', true)).toMatch(/does not fit|not fit/)
  })

  test('pages in every order, with conditions, offsets and counts are the same', async () => {
    const files = await filesOf('two', driver)
    const words = ['alpha', 'beta', 'gamma', 'delta']
    const rows = Array.from({ length: 3_000 }, (_, id) =>
      rowOf(id, { name: `${words[id % 4]} ${words[id % 3]} ${id}`, quantity: id % 7 }),
    )
    await insert(files, 'two', rows)
    const byName = { field: 'name', descending: true }
    const sorts = [[byName, { field: 'code', descending: false }], undefined]
    for (const needle of ['alpha', 'alpha beta', '1999', 'a g', 'nowhere']) {
      for (const sort of sorts) {
        for (const [limit, offset] of [
          [10, 0],
          [7, 20],
          [10, 1_200],
          [0, 0],
          [5, 4_000],
        ] as const) {
          for (const conditions of [[], [{ field: 'quantity', is: 'equal', value: 3 }]]) {
            await files.find(needle, ['name'], { ...(sort && { sort }), limit, offset, conditions })
          }
        }
      }
    }
  })
})
