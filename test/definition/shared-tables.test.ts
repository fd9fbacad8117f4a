import { expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  openAccess,
  type CollectionData,
} from '../../src/entries/index.ts'

const notes = (options: Pick<CollectionData, 'table' | 'sharesTable'> = {}) =>
  defineCollection({ key: 'id', fields: { id: integer() }, ...options })

function open(first: object, second: object): void {
  createService({
    applications: {
      first: { collections: first as Record<string, ReturnType<typeof notes>> },
      second: { collections: second as Record<string, ReturnType<typeof notes>> },
    },
    storage: memoryStorage(),
    security: openAccess(),
  })
}

const sharesTable = true

test.each([
  ['of one name', { notes: notes() }, { notes: notes() }, ['first', 'second']],
  [
    'by their table',
    { a: notes({ table: 'notes' }) },
    { b: notes({ table: 'notes' }) },
    ['first', 'second'],
  ],
  [
    'in another letter case',
    { a: notes({ table: 'NOTES' }) },
    { notes: notes() },
    ['first', 'second'],
  ],
  ['that only one shares', { notes: notes({ sharesTable }) }, { notes: notes() }, ['second']],
])('collections of two applications with one table %s are a mistake', (_name, one, other, at) => {
  for (const application of at) {
    expect(() => open(one, other)).toThrow(
      new RegExp(`applications\\.${application}\\.collections\\.\\w+\\.table: .*sharesTable`),
    )
  }
})

test('collections of two applications share a table if both have sharesTable', () => {
  expect(() =>
    open({ notes: notes({ sharesTable }) }, { notes: notes({ sharesTable }) }),
  ).not.toThrow()
})

test('collections of one application share a table without sharesTable', () => {
  expect(() => open({ a: notes({ table: 'n' }), b: notes({ table: 'n' }) }, {})).not.toThrow()
})
