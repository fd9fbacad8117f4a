import { expect, test } from 'vitest'
import { publishApplications } from '../../../src/definition/publish-applications.ts'
import { defineCollection, integer } from '../../../src/entries/index.ts'
import { mysqlDialect } from '../../../src/storage/mysql/dialect.ts'
import { exactNames, foldedNames } from '../../../src/schema/model.ts'

test('a table that refers to itself under another name has no foreign key where names ignore case', () => {
  const parts = defineCollection({ key: 'id', table: 'Parts', fields: { id: integer() } })
  const uses = defineCollection({
    key: 'id',
    table: 'parts',
    fields: { id: integer(), part: integer({ references: 'parts' }) },
  })
  const collections = publishApplications({ shop: { collections: { parts, uses } } })
  const [reference] = collections.flatMap(({ references }) => references)
  if (reference === undefined) throw new Error('There is no reference.')
  const { schema } = mysqlDialect('MariaDB')
  expect(schema.isForeignKey(reference, foldedNames([]).identityOf)).toBe(false)
  expect(schema.isForeignKey(reference, exactNames(collections)([]).identityOf)).toBe(true)
})
