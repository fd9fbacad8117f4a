import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programOf } from './build.ts'
import { figuresFrom } from './server-process.ts'
import type { ReferenceFigures } from './servers/references.ts'
import { median } from './statistics.ts'

/** The name by which `--only` selects inserts with three references. */
export const references = 'references'

const rounds = 5
const ways = [
  ['none', 'rowgate, no references'],
  ['database', 'rowgate, three references, enforced by foreign keys'],
  ['service', 'rowgate, three references, read by the service'],
  ['hand-none', 'by hand, no references'],
  ['hand-database', 'by hand, three references, enforced by foreign keys'],
  ['hand-reads', 'by hand, three references, read by three statements'],
] as const

async function figuresOf(program: string, way: string): Promise<ReferenceFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'rowgate-references-'))
  try {
    return (await figuresFrom(program, [join(folder, 'data.db'), way])) as ReferenceFigures
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Measures inserts with three references on SQLite, each round in a process of its own. */
export async function measureReferences(program = programOf(references)): Promise<string> {
  const lines: string[] = []
  const times = new Map<string, number[]>(ways.map(([way]) => [way, []]))
  for (let round = 0; round < rounds; round++) {
    for (const [way] of ways)
      times.get(way)?.push((await figuresOf(program, way)).microsecondsPerInsert)
  }
  const base = { rowgate: 0, hand: 0 }
  for (const [way, title] of ways) {
    const time = median(times.get(way) ?? [])
    const who = way.startsWith('hand') ? 'hand' : 'rowgate'
    const isBase = way.endsWith('none')
    if (isBase) base[who] = time
    const each = isBase ? '' : `${((time - base[who]) / 3).toFixed(1)} µs`
    const line = `| ${title} | ${time.toFixed(1)} µs | ${each} |`
    console.log(line)
    lines.push(line)
  }
  return [
    '### Inserts with three references, in process, on SQLite, 100 at a time',
    '',
    '| Way | An insert | A reference |',
    '| --- | --------: | ----------: |',
    ...lines,
  ].join('\n')
}
