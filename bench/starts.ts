import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programOf } from './build.ts'
import type { Figures } from './figures.ts'
import { table } from './report.ts'
import type { StartCost } from './servers/starts.ts'
import { median, spread } from './statistics.ts'

interface Way {
  title: string
  /** The arguments of its process. */
  words: string[]
  /** The most processor time that it is meant to take, in milliseconds. */
  goal?: number
}

const bare: Way = { title: 'a bare process', words: ['import'] }
const rounds = 11

function waysIn(folder: string): Way[] {
  const opened = (count: string) => ['open', join(folder, `${count}.db`), count]
  return [
    bare,
    { title: 'import `rowgate`, over a bare process', words: ['import', 'rowgate'], goal: 40 },
    {
      title: 'import `rowgate`, `rowgate/sqlite` and `rowgate/node`, over a bare process',
      words: ['import', 'rowgate', 'rowgate/sqlite', 'rowgate/node'],
      goal: 55,
    },
    { title: '`createService` and open, 1 collection', words: opened('1'), goal: 15 },
    {
      title: 'the floor: better-sqlite3 loaded, a file opened, a row read',
      words: ['by-hand', join(folder, '1.db')],
    },
    { title: '`createService` and open, 1,000 collections', words: opened('1000'), goal: 400 },
  ]
}

function runOf({ words }: Way): StartCost {
  const output = execFileSync(process.execPath, [programOf('starts'), ...words])
  return JSON.parse(output.toString()) as StartCost
}

/** Measures what importing and opening cost, each time in a process of its own. */
export const starts: Figures = {
  name: 'starts',
  programs: ['starts'],
  async measure({ options, machine }) {
    const folder = mkdtempSync(join(tmpdir(), 'rowgate-starts-'))
    const ways = waysIn(folder)
    const costs = new Map<Way, number[]>(ways.map((way) => [way, []]))
    try {
      // The first round makes the tables, so that the others measure a restart.
      for (const way of ways) runOf(way)
      for (let round = 1; round <= Math.min(rounds, 2 * options.rounds + 1); round++) {
        await machine.wait()
        for (const way of round % 2 ? ways : ways.toReversed())
          costs.get(way)?.push(runOf(way).cpuMilliseconds)
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    const base = median(costs.get(bare) ?? [])
    const rows = ways.map((way) => {
      const values = costs.get(way) ?? []
      const cost = median(values) - (way !== bare && way.words[0] === 'import' ? base : 0)
      return [way.title, cost.toFixed(1), spread(values), way.goal?.toString() ?? '']
    })
    return [
      '### Start: processor time',
      '',
      ...table([['what', 'CPU ms', 'spread', 'goal'], ...rows]),
    ].join('\n')
  },
}
