import { checkClientSize, checkConsoleSize } from './client-size.ts'
import { checkCore } from './core.ts'
import { checkPack, packedPath } from './pack.ts'
import { measurePaths } from './paths.ts'
import { checkProject } from './projects.ts'
import { checkShape } from './shape.ts'
import { command, reportSteps, runSteps, type Step, type Steps } from './steps.ts'
import { checkTypeBudget } from './type-budget.ts'

/** Two lines of steps run beside each other. What takes longest is alone in the first one, apart from what needs little time. */
const compilation: Steps = {
  types: async () => {
    await command('tsc', '-p', '.')()
    // These run in browsers.
    await command('tsc', '-p', 'src/explorer/assets')()
    return command('tsc', '-p', 'src/console/app')()
  },
  lint: command('eslint', '.', '--ignore-pattern', 'test/**', '--max-warnings', '0'),
  architecture: command('vitest', 'run', 'test/project'),
}

/** A step after `build` may look at what that has built. */
const others: Steps = {
  budget: checkTypeBudget,
  build: command('npm', 'run', 'build'),
  core: checkCore,
  client: checkClientSize,
  console: checkConsoleSize,
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
  format: command('prettier', '--check', '.', '--log-level', 'warn'),
  unused: command('knip', '--no-progress'),
  shape: checkShape,
  reference: command('npm', 'run', 'reference'),
  // With the sources in one process, it would need nearly all of the memory that Node allows.
  'lint-tests': command('eslint', 'test', '--max-warnings', '0'),
}

/** Only by name: measures of what runs, which nothing depends on. */
const onDemand: Steps = { paths: measurePaths }

const usual: Steps = { ...compilation, ...others }
const steps: Steps = { ...usual, ...onDemand }

/** One project of `rowgate init`; `npm run test:projects` checks those of all servers and storages. */
async function checkInit(): Promise<string> {
  const seconds = await checkProject(['express', 'memory'])
  return `${seconds.toFixed(1)} s to the first response`
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
  return names.length === 0 ? Object.keys(usual) : names
}

const start = performance.now()
const chosen = chosenSteps(process.argv.slice(2))
const failed: string[] = []

async function runChosen(among: Steps): Promise<void> {
  const wanted = Object.entries(among).filter(([name]) => chosen.includes(name))
  failed.push(...(await runSteps(Object.fromEntries(wanted))))
}

await runChosen(onDemand)
await Promise.all([runChosen(compilation), runChosen(others)])

reportSteps(chosen.length, failed, start)
