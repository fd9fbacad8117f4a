import { expect, test } from 'vitest'
import { bind, type BoundStatement, type Connection } from '../../../src/storage/pool/connection.ts'
import { JoinedReads, type ReadRoute } from '../../../src/storage/pool/joined-reads.ts'
import { sql } from '../../../src/storage/sql/fragments.ts'

interface Sent {
  readonly deadline: number | undefined
  readonly values: readonly unknown[]
}

const route: ReadRoute = { use: () => Promise.reject(new Error('not used')) }
const { sql: shape } = bind(sql`select 1`)

/** Returns a function that reads a value, and the statements that it has sent. */
function reading(rowsOf: (values: readonly number[]) => readonly (readonly string[])[]) {
  const sent: Sent[] = []
  const reads = new JoinedReads<unknown>({
    run: (_, work, deadline) => {
      const connection = {
        rows: async ({ values }: BoundStatement) => {
          sent.push({ deadline, values })
          await new Promise(setImmediate)
          return rowsOf(values as readonly number[])
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
  const read = (value: number, deadline?: number) => {
    const page = (rows: readonly (readonly (string | null)[])[], before = 0) =>
      rows.map((row) => row.slice(before))
    return reads.read(route, { statement: { sql: shape, values: [value] }, page }, deadline)
  }
  return { read, sent }
}

test('reads of a joined statement that fails are sent again, each until its own request ends', async () => {
  const { read, sent } = reading((values) => {
    if (values.length > 1) throw new Error('The statement failed.')
    return [values.map(String)]
  })
  const now = performance.now()
  const deadlines = [now + 1_000, now + 1_040, now + 960]
  const results = deadlines.map((deadline, index) => read(index, deadline))
  expect(await Promise.all(results)).toEqual([[['0']], [['1']], [['2']]])
  expect(sent).toEqual([
    { deadline: deadlines[0], values: [0, 1, 2] },
    ...deadlines.map((deadline, index) => ({ deadline, values: [index] })),
  ])
})

test('reads stay joined if this process is busy, and not the server', async () => {
  const keepBusy = (milliseconds: number): void => {
    const end = performance.now() + milliseconds
    while (performance.now() < end);
  }
  const { read, sent } = reading((values) =>
    values.map((value, index) => (values.length > 1 ? [`${index}`, `${value}`] : [`${value}`])),
  )
  await read(0)
  const values = Array.from({ length: 16 }, (_, index) => index)
  for (let turn = 0; turn < 10; turn++) {
    const results = values.map((value) => read(value))
    keepBusy(10)
    // After the statements have been sent, and before their responses.
    setImmediate(() => keepBusy(10))
    expect(await Promise.all(results)).toEqual(values.map((value) => [[String(value)]]))
  }
  // Fifteen, and some more if the machine makes both wait. Those that are taken for slow would be about fifty.
  expect(sent.length).toBeLessThan(30)
})
