import { checkClientSize } from './client-size.ts'
import { run, StepFailure } from './command.ts'
import { checkCore } from './core.ts'
import { checkPack, packedPath } from './pack.ts'
import { checkProject } from './projects.ts'
import { checkShape } from './shape.ts'
import { checkTypeBudget } from './type-budget.ts'

/** A step returns a note on what it found, or throws a StepFailure. */
type Step = () => Promise<string | undefined>

type Steps = Readonly<Record<string, Step>>

/** A measurement: nothing else runs meanwhile. */
const measured: Steps = { budget: checkTypeBudget }

/** In the order in which they run. */
const ofSources: Steps = {
  types: async () => {
    await command('tsc', '-p', '.')()
    // The script of the explorer runs in browsers.
    return command('tsc', '-p', 'src/explorer/assets')()
  },
  lint: command('eslint', '.', '--max-warnings', '0'),
  format: command('prettier', '--check', '.', '--log-level', 'warn'),
  architecture: command('vitest', 'run', 'test/project'),
  unused: command('knip', '--no-progress'),
  shape: checkShape,
  reference: command('npm', 'run', 'reference'),
}

/** Run beside those of the sources. A step after `build` looks at what that has built. */
const ofPackage: Steps = {
  build: command('npm', 'run', 'build'),
  core: checkCore,
  client: checkClientSize,
  publint: withPackage('publint', 'run', '--strict'),
  // Without the resolution of Node 10, which knows no exports.
  attw: withPackage(
    'attw',
    '--profile',
    'node16',
    '--exclude-entrypoints',
    'definition.schema.json',
    '--',
  ),
  pack: checkPack,
  init: checkInit,
}

const steps: Steps = { ...measured, ...ofSources, ...ofPackage }

/** One project of `rowgate init`; `npm run test:projects` checks those of all servers and storages. */
async function checkInit(): Promise<string> {
  const seconds = await checkProject(['express', 'memory'])
  return `${seconds.toFixed(1)} s to the first response`
}

function command(program: string, ...args: readonly string[]): Step {
  return async () => {
    await run(program, args)
    return undefined
  }
}

function withPackage(program: string, ...args: readonly string[]): Step {
  return async () => command(program, ...args, await packedPath())()
}

function chosenSteps(names: readonly string[]): readonly string[] {
  const unknown = names.filter((name) => !Object.hasOwn(steps, name))
  if (unknown.length > 0) {
    console.error(`No such step: ${unknown.join(', ')}. Steps: ${Object.keys(steps).join(', ')}.`)
    process.exit(2)
  }
  return names.length === 0 ? Object.keys(steps) : names
}

function seconds(from: number): string {
  return `${((performance.now() - from) / 1000).toFixed(1).padStart(5)} s`
}

const longestReport = 80

function indented(text: string): string {
  const lines = text.trimEnd().split('\n')
  const shown = lines.slice(0, longestReport)
  if (shown.length < lines.length) shown.push(`... and ${lines.length - shown.length} lines more`)
  return shown.map((line) => `      ${line}`).join('\n')
}

function noteText(note: string | undefined): string {
  if (note === undefined) return ''
  return note.includes('\n') ? `\n${indented(note)}` : `  ${note}`
}

/** Runs a step, prints one line about it, and tells whether it passed. */
async function passes(name: string, step: Step): Promise<boolean> {
  const start = performance.now()
  try {
    const note = await step()
    console.log(`ok    ${name.padEnd(13)}${seconds(start)}${noteText(note)}`)
    return true
  } catch (error) {
    console.log(`FAIL  ${name.padEnd(13)}${seconds(start)}`)
    console.log(error instanceof StepFailure ? indented(error.message) : error)
    return false
  }
}

const start = performance.now()
const chosen = chosenSteps(process.argv.slice(2))
const failed: string[] = []

async function runChosen(among: Steps): Promise<void> {
  for (const [name, step] of Object.entries(among)) {
    if (chosen.includes(name) && !(await passes(name, step))) failed.push(name)
  }
}

await runChosen(measured)
await Promise.all([runChosen(ofSources), runChosen(ofPackage)])

console.log()
if (failed.length === 0)
  console.log(`${chosen.length} of ${chosen.length} steps passed in ${seconds(start).trim()}`)
else console.log(`${failed.length} of ${chosen.length} steps failed: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
