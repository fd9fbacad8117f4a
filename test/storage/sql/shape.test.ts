import { expect, test } from 'vitest'
import { queryOf } from '../../../src/conformance/case.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { defineCollection, integer, text } from '../../../src/entries/index.ts'
import { equal } from '../../../src/request/query.ts'
import { foldedNames } from '../../../src/schema/model.ts'
import { mysqlDialect } from '../../../src/storage/mysql/dialect.ts'
import { postgresDialect } from '../../../src/storage/postgres/dialect.ts'
import { statementTexts } from '../../../src/storage/sql/shape.ts'
import { pageShape } from '../../../src/storage/sql/statements.ts'

const definition = defineCollection({ key: 'id', fields: { id: integer(), name: text() } })

test.each([
  { name: 'PostgreSQL', dialect: postgresDialect, shapes: 3 },
  { name: 'MariaDB', dialect: mysqlDialect('MariaDB'), shapes: 1 },
])('pages of different collections have different shapes on $name', ({ dialect, shapes }) => {
  const texts = statementTexts(0)
  const tables = { dialect, texts, names: foldedNames, ...foldedNames([]) }
  const collections = Array.from({ length: 1_200 }, (_, index) =>
    publishCollection('app', `c${index}`, definition),
  )
  const found = collections.flatMap((collection) =>
    [7, 8, 10, 100].map((limit) =>
      pageShape(
        tables,
        collection,
        queryOf(collection, { limit, conditions: [equal('name', 'a')] }),
      ),
    ),
  )
  expect(new Set(found).size).toBe(collections.length * shapes)
})
