import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { run, StepFailure } from './command.ts'
import { root } from './entries.ts'
import { mutationAreas, slowTests, type MutationArea } from './mutation-areas.ts'
import {
  percentOf,
  scoreOf,
  sumOf,
  unnoticedOf,
  type MutationReport,
  type Score,
} from './mutation-report.ts'

const minTotal = 92
const minFile = 85

/**
 * Mutates the areas named on the command line, or all of them; further arguments such as
 * `src/protocol/media.ts` limit the files. Prints each file's share of noticed mutants and every
 * mutant that no test noticed. Fails below 92 % in all, or below 85 % in one file.
 */
async function main(words: readonly string[]): Promise<void> {
  const files = words.filter((word) => word.endsWith('.ts'))
  const named = words.filter((word) => !files.includes(word))
  requireAreas(named)
  const scores: Score[] = []
  for (const [name, area] of Object.entries(mutationAreas)) {
    if (named.length > 0 && !named.includes(name)) continue
    const code = filesOf(name, area.code, '.ts').filter(isChosen)
    if (code.length === 0) continue
    const tests = filesOf(name, area.tests, '.test.ts').filter((file) => !slowTests.includes(file))
    const report = await mutate(name, code, tests)
    for (const [file, { mutants }] of Object.entries(report.files)) {
      if (!code.includes(file)) continue
      const score = scoreOf(mutants)
      scores.push(score)
      console.log(`${shown(score)}  ${file}`)
      for (const line of unnoticedOf(mutants)) console.log(line)
    }
  }
  if (scores.length === 0) throw new StepFailure(`No area contains ${files.join(', ')}.`)
  const total = sumOf(scores)
  console.log(`${shown(total)}  of ${total.all} mutants in all`)
  const isLow = scores.some((score) => percentOf(score) < minFile)
  if (isLow || percentOf(total) < minTotal) process.exitCode = 1

  function isChosen(file: string): boolean {
    return files.length === 0 || files.includes(file)
  }
}

function requireAreas(names: readonly string[]): void {
  const unknown = names.filter((name) => !Object.hasOwn(mutationAreas, name))
  if (unknown.length === 0) return
  const known = Object.keys(mutationAreas).join(', ')
  throw new StepFailure(`No such area: ${unknown.join(', ')}. Areas: ${known}.`)
}

/** Returns the files of an area's entries; throws for an entry that has none, as after a renaming. */
function filesOf(area: string, entries: MutationArea['code'], ending: string): readonly string[] {
  return entries.flatMap((entry) => {
    const path = join(root, entry)
    const isFolder = existsSync(path) && statSync(path).isDirectory()
    const found = isFolder
      ? readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => `${entry}/${name}`)
      : [entry].filter(() => existsSync(path))
    const files = found.filter((file) => file.endsWith(ending))
    if (files.length === 0) {
      throw new StepFailure(`The area ${area} names ${entry}, which has no file *${ending}.`)
    }
    return files.toSorted()
  })
}

async function mutate(
  name: string,
  code: readonly string[],
  tests: readonly string[],
): Promise<MutationReport> {
  const folder = join(root, '.data/mutation')
  mkdirSync(folder, { recursive: true })
  const state = join(folder, `${name}.json`)
  await run('stryker', ['run', '--mutate', code.join(','), '--incrementalFile', state], {
    env: { MUTATION_TESTS: tests.join(' ') },
  })
  return JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as MutationReport
}

function shown(score: Score): string {
  return `${percentOf(score).toFixed(1).padStart(5)} %`
}

await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof StepFailure ? error.message : error)
  process.exitCode = 2
})
