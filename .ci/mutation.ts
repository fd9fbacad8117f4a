import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run, StepFailure } from './command.ts'
import { root } from './entries.ts'
import { mutationAreas, type MutationArea } from './mutation-areas.ts'

/** The part of Stryker's report that is read here. */
interface Report {
  readonly files: Readonly<Record<string, { readonly mutants: readonly Mutant[] }>>
}

interface Mutant {
  readonly status: string
  readonly mutatorName: string
  readonly replacement?: string
  readonly location: { readonly start: { readonly line: number } }
}

interface Score {
  readonly noticed: number
  readonly all: number
}

const minTotal = 92
const minFile = 85
const noticed = ['Killed', 'Timeout']
const counted = [...noticed, 'Survived', 'NoCoverage']

/**
 * Mutates the areas named on the command line, or all of them; further arguments such as
 * `src/protocol/media.ts` limit the files. Prints each file's share of noticed mutants and every
 * mutant that no test noticed. Fails below 92 % in all, or below 85 % in one file.
 */
async function main(words: readonly string[]): Promise<void> {
  const named = words.filter((word) => Object.hasOwn(mutationAreas, word))
  const files = words.filter((word) => word.endsWith('.ts'))
  const unknown = words.filter((word) => !named.includes(word) && !files.includes(word))
  if (unknown.length > 0) {
    throw new StepFailure(
      `No such area: ${unknown.join(', ')}. Areas: ${Object.keys(mutationAreas).join(', ')}.`,
    )
  }
  const scores: Score[] = []
  let isLow = false
  for (const [name, area] of Object.entries(mutationAreas)) {
    if (named.length > 0 && !named.includes(name)) continue
    const report = await mutate(name, files.length > 0 ? { ...area, code: files } : area)
    for (const [file, { mutants }] of Object.entries(report.files)) {
      const score = scoreOf(mutants)
      scores.push(score)
      isLow ||= percent(score) < minFile
      console.log(`${percent(score).toFixed(1).padStart(5)} %  ${file}`)
      for (const mutant of mutants) if (isUnnoticed(mutant)) console.log(lineOf(mutant))
    }
  }
  const total = scores.reduce(sum, { noticed: 0, all: 0 })
  console.log(`${percent(total).toFixed(1).padStart(5)} %  of ${total.all} mutants in all`)
  if (isLow || percent(total) < minTotal) process.exitCode = 1
}

async function mutate(name: string, { code, tests }: MutationArea): Promise<Report> {
  const folder = join(root, '.data/mutation')
  mkdirSync(folder, { recursive: true })
  const state = join(folder, `${name}.json`)
  await run('stryker', ['run', '--mutate', code.join(','), '--incrementalFile', state], {
    env: { MUTATION_TESTS: tests.join(' ') },
  })
  return JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as Report
}

function scoreOf(mutants: readonly Mutant[]): Score {
  const all = mutants.filter(({ status }) => counted.includes(status))
  return { all: all.length, noticed: all.filter(({ status }) => noticed.includes(status)).length }
}

function sum(one: Score, other: Score): Score {
  return { noticed: one.noticed + other.noticed, all: one.all + other.all }
}

function percent({ noticed: some, all }: Score): number {
  return all === 0 ? 100 : (100 * some) / all
}

function isUnnoticed({ status }: Mutant): boolean {
  return counted.includes(status) && !noticed.includes(status)
}

function lineOf({ location, mutatorName, replacement = '' }: Mutant): string {
  const [short = ''] = replacement.split('\n')
  return `           line ${location.start.line}: ${mutatorName} → ${short.slice(0, 100)}`
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof StepFailure ? error.message : error)
  process.exitCode = 2
})
