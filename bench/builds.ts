import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programOf } from './build.ts'
import { figuresFrom } from './server-process.ts'
import type { BuildFigures } from './servers/builds.ts'

/** The name by which `--only` selects the builds of releases. */
export const builds = 'builds'

async function figuresOf(file: string, words: string): Promise<BuildFigures> {
  return (await figuresFrom(programOf(builds), [file, ...words.split(' ')])) as BuildFigures
}

function middle(values: number[], share: number): string {
  const sorted = [...values].sort((a, b) => a - b)
  return (sorted[Math.floor(share * (sorted.length - 1))] ?? NaN).toFixed(1)
}

function lineOf(figures: BuildFigures): string {
  switch (figures.what) {
    case 'latency': {
      const { milliseconds } = figures
      const [median, worst] = [middle(milliseconds, 0.5), middle(milliseconds, 0.99)]
      return `| from \`POST release-queue\` to built | ${median} ms, 99 % within ${worst} ms |`
    }
    case 'rate':
      return `| through the queue, ${figures.workers} at a time | ${figures.perSecond.toFixed(0)} releases/s |`
    default: {
      const { what, packageMegabytes, megabytes } = figures
      const times = (megabytes / packageMegabytes).toFixed(1)
      const doing = what === 'build-memory' ? 'build' : 'answer with'
      return `| memory to ${doing} a package of ${packageMegabytes} MB | ${megabytes} MB, ${times} times its size |`
    }
  }
}

/** The database file of each measure, and what its process is told. */
const measures = [
  ['latency.db', 'latency'],
  ['one.db', 'rate 1'],
  ['four.db', 'rate 4'],
  ['memory.db', 'build-memory 50'],
  ['memory.db', 'answer-memory 50'],
] as const

/** Measures the builds of a small solution on SQLite, each figure in a process of its own. */
export async function measureBuilds(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rowgate-builds-'))
  const lines: string[] = []
  try {
    for (const [name, words] of measures) {
      const line = lineOf(await figuresOf(join(folder, name), words))
      console.log(line)
      lines.push(line)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return [
    '### Builds of a small solution, on SQLite with `synchronous=FULL`',
    '',
    '| what | measured |',
    '| ---- | -------- |',
    ...lines,
    '',
    'Goal: memory below 4 times the size of the package.',
  ].join('\n')
}
