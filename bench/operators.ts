import { programOf } from './build.ts'
import { createDatabase } from './database.ts'
import { databaseNames, type Kind } from './database-time.ts'
import type { Figures } from './figures.ts'
import { createMysqlDatabase } from './mysql.ts'
import { createSchema } from './postgres.ts'
import { table } from './report.ts'
import { databaseFileOf, figuresFrom, type ServerDatabase } from './server-process.ts'
import type { OperatorFigures } from './servers/operators.ts'
import { median, spread } from './statistics.ts'

const places: Readonly<Record<Kind, () => ServerDatabase | Promise<ServerDatabase>>> = {
  sqlite: () => databaseFileOf({}, createDatabase),
  postgres: async () => named(await createSchema({})),
  mysql: () => createMysqlDatabase({}),
}

/** Gives the connections of a place a name of their own, by which their processes are found. */
function named({ place, remove }: ServerDatabase): ServerDatabase {
  const url = new URL(place)
  url.searchParams.set('application_name', `bench ${process.pid} ${performance.now().toFixed(0)}`)
  return { place: url.href, remove }
}

/** Opens an empty database. */
export async function emptyDatabase(kind: Kind): Promise<ServerDatabase> {
  return places[kind]()
}

async function measured(kind: Kind): Promise<OperatorFigures> {
  const database = await emptyDatabase(kind)
  try {
    return (await figuresFrom(programOf('operators'), [kind, database.place])) as OperatorFigures
  } finally {
    await database.remove()
  }
}

function sectionOf(kind: Kind, { indexed, scanned }: OperatorFigures): string[] {
  const equality = indexed['size='] ?? []
  const cellsOf = (costs: readonly number[]) => {
    const ratios = costs.map((cost, round) => cost / (equality[round] ?? NaN))
    return [median(costs).toFixed(0), median(ratios).toFixed(2), spread(ratios)]
  }
  const lines = Object.keys(indexed).map((title) => [
    `\`${title.replace(/,.*/, '')}\`${/,.*/.exec(title)?.[0] ?? ''}`,
    ...cellsOf(indexed[title] ?? []),
    ...cellsOf(scanned[title] ?? []),
  ])
  const head = ['CPU µs', 'by equality', 'spread']
  return [
    `#### ${databaseNames[kind]}`,
    '',
    ...table([['condition', ...head, 'no index: CPU µs', 'by equality', 'spread'], ...lines]),
  ]
}

/** Measures pages of 10 of a million rows by each operator, beside equality. */
export function operatorsOn(kinds: readonly Kind[]): Figures {
  return {
    name: 'operators',
    programs: ['operators'],
    async measure({ machine }) {
      const sections: string[][] = []
      for (const kind of kinds) {
        await machine.wait()
        const section = sectionOf(kind, await measured(kind))
        console.log(section.join('\n'))
        sections.push(section)
      }
      return [
        '### Operators: a page of 10 of a million rows, in process; processor time with that of the database',
        '',
        ...sections.flatMap((section) => [...section, '']),
        'A ratio is to `size=` with an index: above 1 costs more.',
      ].join('\n')
    },
  }
}
