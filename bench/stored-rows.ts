import { programOf } from './build.ts'
import { createMysqlDatabase } from './mysql.ts'
import { createSchema } from './postgres.ts'
import { figuresFrom } from './server-process.ts'
import type { StoredFigures } from './servers/stored-rows.ts'

/** The program that stores the rows of a response. */
export const storedRows = 'stored-rows'

const titles = {
  inserted: 'inserted',
  upserted: 'upserted, all new',
  updated: 'upserted, all changed',
  unchanged: 'upserted, all unchanged',
} as const satisfies Record<keyof StoredFigures, string>

/** Measures how many items of a response of 10,000 rows a rule stores in a second. `file` is for SQLite. */
export async function measureStoredRows(file: string): Promise<string> {
  const schema = await createSchema({})
  const database = await createMysqlDatabase({})
  try {
    const sqlite = await figuresOf(file)
    const postgres = await figuresOf(schema.place)
    const mariadb = await figuresOf(database.place)
    const names = Object.keys(titles) as (keyof StoredFigures)[]
    const lines = names.map(
      (name) =>
        `| ${titles[name]} | ${[sqlite, postgres, mariadb].map((each) => rate(each[name])).join(' | ')} |`,
    )
    for (const line of lines) console.log(line)
    return [
      'Items a second that a rule stores of a response with 10,000 rows, in one transaction:',
      '',
      '| Items | SQLite | PostgreSQL | MariaDB |',
      '| --- | ---: | ---: | ---: |',
      ...lines,
    ].join('\n')
  } finally {
    await Promise.all([schema.remove(), database.remove()])
  }
}

async function figuresOf(place: string): Promise<StoredFigures> {
  return (await figuresFrom(programOf(storedRows), [place])) as StoredFigures
}

function rate(perSecond: number): string {
  return `${Math.round(perSecond / 100) * 100}/s`
}
