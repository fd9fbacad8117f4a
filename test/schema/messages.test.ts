import { describe, expect, test } from 'vitest'
import { databaseKinds, type DatabaseKind } from '../introspection/empty-databases.ts'
import { perServer } from '../kit/mysql.ts'
import { changeCases } from './cases/changes.ts'
import { columnCases } from './cases/columns.ts'
import { describedCases } from './cases/described.ts'
import { linkedChangeCases } from './cases/linked-changes.ts'
import { ownTableCases } from './cases/own-tables.ts'
import { rowCases } from './cases/rows.ts'
import { tableCases } from './cases/tables.ts'
import { isFor, type MessageCase } from './message-case.ts'
import { writeMemoryMessages, writeMessages } from './write-messages.ts'

/** The cases of each file of messages. */
const topics: Readonly<Record<string, readonly MessageCase[]>> = {
  tables: [...tableCases, ...ownTableCases],
  columns: columnCases,
  changes: changeCases,
  'linked-changes': linkedChangeCases,
  rows: rowCases,
  described: describedCases,
}

const counted = (kind: DatabaseKind, cases: readonly MessageCase[]): readonly MessageCase[] =>
  cases.filter((one) => isFor(one, kind))

// The messages of MySQL contain other types, and sentences of its own.
const isOther = ({ name }: DatabaseKind): boolean =>
  name === 'MariaDB' && perServer({ MariaDB: false, MySQL: true })

describe.each(databaseKinds)('the messages about tables of $name', (kind) => {
  const { missing } = kind
  const written = Object.entries(topics).map(
    ([topic, cases]) => [topic, counted(kind, cases)] as const,
  )
  test.skipIf(missing !== undefined || isOther(kind)).each(written)(
    'equal messages/%s',
    async (topic, cases) => {
      const texts: string[] = []
      for (const one of cases) texts.push(await writeMessages(kind, one))
      const text = `${cases.length} cases\n\n${texts.join('\n\n')}\n`
      await expect(text).toMatchFileSnapshot(`messages/${kind.name}/${topic}.txt`)
    },
    120_000,
  )
})

test('the messages about tables in memory equal messages/memory.txt', async () => {
  const cases = Object.values(topics)
    .flat()
    .filter(({ sql, collections }) => Array.isArray(sql) && sql.length === 0 && collections)
  const texts: string[] = []
  for (const one of cases) texts.push(await writeMemoryMessages(one))
  await expect(`${cases.length} cases\n\n${texts.join('\n\n')}\n`).toMatchFileSnapshot(
    'messages/memory.txt',
  )
})
