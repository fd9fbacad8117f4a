import { fork } from 'node:child_process'
import { programOf } from './build.ts'
import { createDatabase } from './database.ts'
import type { Figures } from './figures.ts'
import { mark } from './goals.ts'
import { guards, measureGuards } from './guards.ts'
import { createMysqlDatabase } from './mysql.ts'
import { createSchema } from './postgres.ts'
import { shownMilliseconds, table } from './report.ts'
import { databaseFileOf, endOf, messageFrom, type ServerDatabase } from './server-process.ts'
import type { ContentionFigures, CountedSaves } from './servers/contention.ts'
import { quantile } from './statistics.ts'

const titles = { memory: 'memory', sqlite: 'SQLite', postgres: 'PostgreSQL', mariadb: 'MariaDB' }

type Place = () => Promise<ServerDatabase> | ServerDatabase

const places: Readonly<Record<keyof typeof titles, Place>> = {
  memory: () => ({ place: '', remove: () => undefined }),
  sqlite: () => databaseFileOf({}, createDatabase),
  postgres: () => createSchema({}),
  mariadb: () => createMysqlDatabase({}),
}
const ways = {
  handler: 'a handler `before` that adds one to the stored value',
  increment: '`increment(1)` in process',
}
const saves = 100

async function figuresOf(kind: string, database: ServerDatabase): Promise<ContentionFigures> {
  const child = fork(programOf('contention'), [database.place, kind])
  try {
    return (await messageFrom(child)) as ContentionFigures
  } finally {
    if (child.connected) child.disconnect()
    await endOf(child)
    await database.remove()
  }
}

function linesOf(title: string, figures: ContentionFigures): string[][] {
  return Object.entries(ways).map(([way, wayTitle]) => {
    const { stored, milliseconds } = figures[way as keyof ContentionFigures]
    return [
      `${title}: ${wayTitle}`,
      String(Math.min(...stored)),
      shownMilliseconds(quantile(milliseconds, 0.5)),
      shownMilliseconds(quantile(milliseconds, 0.99)),
    ]
  })
}

function goalLine(all: readonly CountedSaves[]): string {
  const least = Math.min(...all.flatMap(({ stored }) => stored))
  return `${mark(least === saves)}: ${saves} of ${saves} saves stored in each round. Measured: at least ${least}.`
}

/** Measures saves of one item by many clients, in process, on each storage, and what protects writes. */
export const contention: Figures = {
  name: 'contention',
  programs: ['contention', guards],
  async measure(surroundings) {
    const all: ContentionFigures[] = []
    const rows: string[][] = []
    for (const [kind, title] of Object.entries(titles)) {
      await surroundings.machine.wait()
      const figures = await figuresOf(kind, await places[kind as keyof typeof places]())
      const lines = linesOf(title, figures)
      for (const line of lines) console.log(line.join(' '))
      rows.push(...lines)
      all.push(figures)
    }
    return [
      '### Saves of one item: 20 clients, 5 saves each, in process',
      '',
      ...table([['how it counts', 'saved of 100', 'p50 ms', 'p99 ms'], ...rows]),
      '',
      goalLine(all.flatMap((figures) => Object.values(figures))),
      '',
      await measureGuards(surroundings),
    ].join('\n')
  },
}
