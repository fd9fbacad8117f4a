import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fork } from 'node:child_process'
import { programOf } from './build.ts'
import type { BuildFigures } from './servers/builds.ts'

/** The name by which `--only` selects the builds of releases. */
export const builds = 'builds'

async function figuresOf(...args: string[]): Promise<BuildFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'rowgate-builds-'))
  try {
    const child = fork(programOf(builds), [join(folder, 'builds.db'), ...args])
    const [figures] = (await once(child, 'message')) as [BuildFigures]
    return figures
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
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
    case 'memory': {
      const { packageMegabytes, buildMegabytes, answerMegabytes } = figures
      const times = (megabytes: number): string =>
        `${megabytes} MB, ${(megabytes / packageMegabytes).toFixed(1)} times its size`
      return [
        `| memory to build a package of ${packageMegabytes} MB | ${times(buildMegabytes)} |`,
        `| memory to answer with it | ${times(answerMegabytes)} |`,
      ].join('\n')
    }
  }
}

/** Measures the builds of a small solution on SQLite, each figure in a process of its own. */
export async function measureBuilds(): Promise<string> {
  const lines: string[] = []
  for (const args of [['latency'], ['rate', '1'], ['rate', '4'], ['memory', '50']]) {
    const line = lineOf(await figuresOf(...args))
    console.log(line)
    lines.push(line)
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
