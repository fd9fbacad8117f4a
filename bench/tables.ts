import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programOf } from './build.ts'
import { writeOrders } from './orders.ts'
import { measureStoredRows } from './stored-rows.ts'
import { figuresFrom } from './server-process.ts'
import type { TableFigures } from './servers/tables.ts'

/** The name by which `--only` selects the tables of a response. */
export const tables = 'tables'

const megabytes = 10
const rounds = 5

const ways = [
  ['parse', '`JSON.parse`'],
  ['copy', 'the same and a recursive copy'],
  ['flatten', 'the same and `flatten`'],
  ['stream', '`flattenElements` on the stream'],
  ['join', '`JSON.parse`, `flatten` and a rule, without storing'],
  ['jsonpath', 'jsonpath-plus 10, the same columns'],
] as const

async function figuresOf(program: string, file: string, way: string): Promise<TableFigures> {
  return (await figuresFrom(program, [file, way])) as TableFigures
}

/** Measures ways to read a response of 10 MB, each round in a process of its own. */
export async function measureTables(program = programOf(tables)): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rowgate-tables-'))
  const file = join(folder, 'orders.json')
  const lines: string[] = []
  let stored: string
  try {
    writeOrders(file, megabytes)
    for (const [way, title] of ways) {
      const all: TableFigures[] = []
      for (let round = 0; round < rounds; round++) all.push(await figuresOf(program, file, way))
      all.sort((a, b) => a.milliseconds - b.milliseconds)
      const { milliseconds, rows, peakMegabytes } = all[rounds >> 1] as TableFigures
      const perSecond = Math.round(rows / milliseconds) * 1000
      const line = `| ${title} | ${milliseconds.toFixed(0)} ms | ${rows} | ${perSecond}/s | ${peakMegabytes.toFixed(0)} MB |`
      console.log(line)
      lines.push(line)
    }
    stored = await measureStoredRows(join(folder, 'data.db'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const head = [
    `A response of ${megabytes} MB as tables, processor time without the start, the median of ${rounds} processes:`,
    '',
    '| Way | Processor time | Rows, elements or values | Rate | Peak memory |',
    '| --- | ---: | ---: | ---: | ---: |',
  ]
  return [...head, ...lines, '', stored].join('\n')
}
