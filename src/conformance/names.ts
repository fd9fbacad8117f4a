import type { Row } from '../request/query.ts'
import { equal, expectStorageError } from './assertion.ts'
import { equals, find, store, write, type ConformanceCase } from './case.ts'
import { oddNames } from './collections.ts'

const rows: readonly Row[] = [
  { id: 1, first: 'a', second: 'x', third: null, fourth: 'd', fifth: true, sixth: '{"a":1}' },
  { id: 2, first: 'b', second: 'y', third: "it's", fourth: 'c', fifth: false, sixth: null },
]

/** Tables and columns may have any name, and the names of fields and columns may differ. */
export const nameCases: readonly ConformanceCase[] = [
  {
    name: 'a query works on columns with reserved words, quotes, brackets and spaces',
    run: async ({ adapter }) => {
      await store(adapter, oddNames, rows)
      equal(await find(adapter, oddNames), rows, 'the rows')
      for (const field of ['first', 'second', 'third', 'fourth', 'fifth']) {
        const conditions = equals({ [field]: rows[1]?.[field] ?? null })
        equal(await find(adapter, oddNames, { conditions }), [rows[1]], `the rows by ${field}`)
        const sort = [{ field, descending: true }]
        const [top] = await find(adapter, oddNames, { sort, limit: 1 })
        equal(top, field === 'fourth' || field === 'fifth' ? rows[0] : rows[1], `top by ${field}`)
      }
      const search = { fields: ['second', 'third', 'fourth'], text: "'s" }
      equal(await find(adapter, oddNames, { search }), [rows[1]], "the rows that contain 's")
    },
  },
  {
    name: 'a field is not confused with another field whose column has its name',
    run: async ({ adapter }) => {
      await store(adapter, oddNames, rows)
      const found = await find(adapter, oddNames, { select: ['fourth', 'first'], limit: 1 })
      equal(found, [{ first: 'a', fourth: 'd' }], 'the fields first and fourth')
    },
  },
  {
    name: 'a write works on columns with reserved words, quotes, brackets and spaces',
    run: async ({ adapter }) => {
      await store(adapter, oddNames, rows)
      const changes = { first: 'A', second: '"', third: '$1 ? :a', fourth: 'D', sixth: '[]' }
      const conditions = equals({ id: 1, first: 'a', second: 'x' })
      const changed = await write(adapter, (on) => on.update(oddNames, conditions, changes))
      equal(changed, { ...rows[0], ...changes }, 'the row that update returned')
      const insert = (): unknown => write(adapter, (on) => on.insert(oddNames, { ...rows[1] }))
      const fields = await expectStorageError(insert, 'duplicate', 'the second insert')
      if (fields.length > 0) equal(fields, ['id'], 'the fields of the error, if any')
      const removed = await write(adapter, (on) => on.delete(oddNames, equals({ id: 2 })))
      equal(removed, rows[1], 'the row that delete returned')
      equal(await find(adapter, oddNames), [changed], 'the rows')
    },
  },
]
