import { expect, test } from 'vitest'
import { bind, type BoundStatement, type Connection } from '../../../src/storage/pool/connection.ts'
import { JoinedReads, type ReadRoute } from '../../../src/storage/pool/joined-reads.ts'
import { sql } from '../../../src/storage/sql/fragments.ts'

test('reads of a joined statement that fails are sent again, each until its own request ends', async () => {
  const sent: { readonly deadline: number | undefined; readonly values: readonly unknown[] }[] = []
  const reads = new JoinedReads<unknown>({
    run: (_, work, deadline) => {
      const connection = {
        rows: async ({ values }: BoundStatement) => {
          sent.push({ deadline, values })
          if (values.length > 1) throw new Error('The statement failed.')
          return [values]
        },
      }
      return work(connection as unknown as Connection)
    },
    join: (statements) => ({
      ...(statements[0] as BoundStatement),
      values: statements.flatMap(({ values }) => values),
    }),
    maxWait: 100,
  })
  const route: ReadRoute = { use: () => Promise.reject(new Error('not used')) }
  const { sql: shape } = bind(sql`select 1`)
  const now = performance.now()
  const deadlines = [now + 1_000, now + 1_040, now + 960]
  const results = deadlines.map((deadline, index) => {
    const statement = { sql: shape, values: [index] }
    return reads.read(route, { statement, page: (rows) => rows }, deadline)
  })
  expect(await Promise.all(results)).toEqual([[[0]], [[1]], [[2]]])
  expect(sent).toEqual([
    { deadline: deadlines[0], values: [0, 1, 2] },
    ...deadlines.map((deadline, index) => ({ deadline, values: [index] })),
  ])
})
