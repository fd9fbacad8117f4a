import { shrink } from './shrink.ts'
import { Violation } from './violation.ts'
import { runWorld, type World, type WorldOptions } from './world.ts'

/** What is simulated. */
export interface SimulationOptions {
  readonly seed: number
  /** The number of events in all: of as many simulations as are needed, each with the next seed. */
  readonly steps: number
  /** No simulation begins after this time. */
  readonly seconds: number
  /** The names of the faults and actions that happen. Default: all that are chosen. */
  readonly only?: readonly string[] | undefined
  /** Whether the storage forgets some commits, to test the simulation itself. */
  readonly forgets: boolean
}

/** Returns the number of events of a simulation: short ones meet more kinds of faults, long ones more of each. */
function stepsOf(seed: number): number {
  return [4_000, 8_000, 16_000][seed % 3] as number
}

const shownEvents = 40

/** Runs simulations until one fails, and shows its smallest form. Returns whether none has failed. */
export async function simulate(
  { seed, steps, seconds, only, forgets }: SimulationOptions,
  print: (line: string) => void,
): Promise<boolean> {
  const began = performance.now()
  const elapsed = (): number => (performance.now() - began) / 1000
  let done = 0
  for (let current = seed; done < steps && elapsed() < seconds; current++) {
    const options: WorldOptions = {
      seed: current,
      steps: Math.min(stepsOf(current), steps - done),
      forgets,
      ...(only !== undefined && { only: new Set(only) }),
    }
    const { world, failure } = await runWorld(options)
    done += world.scheduler.steps
    if (failure !== undefined) {
      showFailure(world, failure, print)
      await showSmallest(options, world, failure, print)
      return false
    }
    print(summaryOf(current, world))
  }
  print(`${done} steps in ${elapsed().toFixed(1)} s, seeds from ${seed}`)
  return true
}

function summaryOf(seed: number, { scheduler, choices }: World): string {
  const { steps, trace, time } = scheduler
  return `seed ${seed}: ${steps} steps, ${choices.taken.size} faults and actions, ${Math.round(time / 1000)} s of time, trace ${trace.toString(16)}`
}

function showFailure(world: World, failure: Error, print: (line: string) => void): void {
  const { scheduler, rates, storage, seed } = world
  print(`FAILED: ${failure.message}`)
  if (failure instanceof Violation) print(`  ${JSON.stringify([failure.details]).slice(0, 2_000)}`)
  else print(String(failure.stack))
  print(`seed ${seed}, step ${scheduler.steps}, ${Math.round(scheduler.time)} ms of time`)
  print(`storage ${JSON.stringify(storage)}, faults ${JSON.stringify(rates)}`)
}

async function showSmallest(
  options: WorldOptions,
  world: World,
  failure: Error,
  print: (line: string) => void,
): Promise<void> {
  const smallest = await shrink(options, { world, failure })
  const { choices, scheduler, reports } = smallest.world
  const names = [...choices.taken.keys()]
  const forgetful = options.forgets ? ' --forgets' : ''
  print(`With ${names.length} of ${world.choices.taken.size} faults and actions, it is repeated by`)
  print(
    `  npm run simulate -- --seed ${options.seed} --steps ${smallest.steps}${forgetful} --only ${names.join(',')}`,
  )
  for (const [name, what] of choices.taken) print(`  ${name}: ${what}`)
  print('Its last events: step, milliseconds, process or client, what')
  for (const line of scheduler.recent.slice(-shownEvents)) print(`  ${line}`)
  print('What processes have reported last:')
  for (const line of reports.slice(-10)) print(`  ${line}`)
}
