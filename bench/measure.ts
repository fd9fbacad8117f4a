import { programOf } from './build.ts'
import type { Contestant } from './contestants.ts'
import { createDatabase, salesTables, type Tables } from './database.ts'
import { loadFor, warmAfter, type Round } from './load.ts'
import { percent, type QuietMachine } from './machine.ts'
import { createMysqlDatabase } from './mysql.ts'
import type { Options } from './options.ts'
import { createSchema } from './postgres.ts'
import { checkAnswers } from './probe.ts'
import type { Scenario } from './scenario.ts'
import { databaseFileOf, startServer, type RunningServer } from './server-process.ts'

export interface Entry {
  contestant: Contestant
  rounds: Round[]
}

export interface Measurement {
  scenario: Scenario
  entries: Entry[]
}

export interface Surroundings {
  options: Options
  pinned: boolean
  machine: QuietMachine
}

type Running = Entry & { server: RunningServer }

const databases = {
  sqlite: (tables: Tables) => databaseFileOf(tables, createDatabase),
  postgres: createSchema,
  mariadb: createMysqlDatabase,
}

async function start(
  scenario: Scenario,
  contestant: Contestant,
  pinned: boolean,
): Promise<Running> {
  const tables = scenario.tables ?? salesTables
  const database = await databases[contestant.database ?? 'sqlite'](tables)
  const program = contestant.elsewhere?.program ?? programOf(contestant.name)
  const names = Object.keys(tables)
  const server = await startServer(program, { database, tables: names, pinned })
  try {
    await checkAnswers(scenario, contestant, server)
  } catch (error) {
    await server.stop()
    throw error
  }
  return { contestant, server, rounds: [] }
}

function show(scenario: Scenario, step: string, name: string, round: Round): void {
  const perSecond = Math.round(round.perSecond).toLocaleString('en').padStart(8)
  const cpu = round.cpuMicroseconds.toFixed(1).padStart(7)
  const foreign = percent(round.foreign).padStart(5)
  console.log(
    `${scenario.name.padEnd(11)} ${step.padEnd(10)} ${name.padEnd(17)} ${perSecond}/s ${cpu} µs, others ${foreign}`,
  )
}

/** Warms a server up: for some seconds, and longer if it was too slow to be compiled by then. */
async function warmUp(
  seconds: number,
  { contestant, server }: Running,
  scenario: Scenario,
): Promise<void> {
  const round = await loadFor({ seconds }, server, scenario, contestant)
  show(scenario, 'warm-up', contestant.name, round)
  const warm = warmAfter(seconds)
  const requests = warm.requests - round.responses
  if (requests <= 0) return
  const until = { seconds: warm.seconds - seconds, requests }
  show(scenario, 'warm-up', contestant.name, await loadFor(until, server, scenario, contestant))
}

/** Runs one scenario on every server: checks, warms up, then takes turns, in reverse every other round. */
export async function measure(
  scenario: Scenario,
  contestants: Contestant[],
  { options, pinned, machine }: Surroundings,
): Promise<Measurement> {
  const running: Running[] = []
  try {
    for (const contestant of contestants) running.push(await start(scenario, contestant, pinned))
    for (const one of running) await warmUp(options.warmUpSeconds, one, scenario)
    for (let turn = 1; turn <= options.rounds; turn++) {
      await machine.wait()
      for (const { contestant, server, rounds } of turn % 2 ? running : running.toReversed()) {
        const round = await loadFor({ seconds: options.seconds }, server, scenario, contestant)
        rounds.push(round)
        show(scenario, `round ${turn}/${options.rounds}`, contestant.name, round)
      }
    }
  } finally {
    await Promise.all(running.map(({ server }) => server.stop()))
  }
  return { scenario, entries: running.map(({ contestant, rounds }) => ({ contestant, rounds })) }
}
