import { fork } from 'node:child_process'
import { programOf } from './build.ts'
import { createDatabase } from './database.ts'
import type { Figures } from './figures.ts'
import { createMysqlDatabase } from './mysql.ts'
import { createSchema } from './postgres.ts'
import { table } from './report.ts'
import { databaseFileOf, endOf, messageFrom, type ServerDatabase } from './server-process.ts'
import type { LargeFigures } from './servers/large.ts'

async function measured(kind: string, database: ServerDatabase): Promise<LargeFigures> {
  const child = fork(programOf('large'), [kind, database.place])
  try {
    const plain = (await messageFrom(child)) as LargeFigures
    const indexed = (await messageFrom(child)) as LargeFigures
    await endOf(child)
    return { ...plain, ...indexed }
  } finally {
    child.kill()
    await database.remove()
  }
}

const lines: readonly (readonly [title: string, name: string])[] = [
  ['the first page', 'first'],
  ['the page at row 900,000, by `$offset`', 'offset'],
  ['the page at row 900,000, by cursor', 'cursor'],
  ['`$limit=0&$count=true`', 'count'],
  [
    '32 pages with a status of an index at a time: 31 of a third of the rows, one of ten rows',
    'uneven',
  ],
  ['`$q`, found in 5 rows', 'rare'],
  ["the same, `search: 'indexed'`", 'indexedRare'],
  ['`$q`, found in two rows of three', 'frequent'],
  ["the same, `search: 'indexed'`", 'indexedFrequent'],
  ['an insert, 32 at a time', 'insert'],
  ["the same, `search: 'indexed'`", 'indexedInsert'],
  ['building the index of a search', 'built'],
]

function shown(value: number | undefined): string {
  if (value === undefined) return 'absent'
  return value >= 100 ? value.toFixed(0) : value.toFixed(2)
}

/** Measures requests of a table of a million rows, in process, on each database. */
export const large: Figures = {
  name: 'large',
  programs: ['large'],
  async measure({ machine }) {
    const places = {
      sqlite: () => databaseFileOf({}, createDatabase),
      postgres: () => createSchema({}),
      mysql: () => createMysqlDatabase({}),
    }
    const all: Record<string, LargeFigures> = {}
    for (const [kind, open] of Object.entries(places)) {
      await machine.wait()
      all[kind] = await measured(kind, await open())
      console.log(kind, all[kind])
    }
    const rows = lines.map(([title, name]) => [
      title,
      ...Object.values(all).map((figures) => shown(figures[name])),
    ])
    return [
      '### A table of a million rows: milliseconds, in process, without the response cache',
      '',
      ...table([['request', 'SQLite', 'PostgreSQL', 'MariaDB'], ...rows]),
    ].join('\n')
  },
}
