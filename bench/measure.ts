import type { Contestant } from './contestants.ts'
import { loadFor, type Round } from './load.ts'
import type { Options } from './options.ts'
import { checkAnswers } from './probe.ts'
import type { Scenario } from './scenarios.ts'
import { startServer, type RunningServer } from './server-process.ts'

export interface Entry {
  contestant: Contestant
  rounds: Round[]
}

export interface Measurement {
  scenario: Scenario
  entries: Entry[]
}

type Running = Entry & { server: RunningServer }

async function start(
  scenario: Scenario,
  contestant: Contestant,
  pinned: boolean,
): Promise<Running> {
  const server = await startServer(contestant.name, pinned)
  await checkAnswers(scenario, contestant, server)
  return { contestant, server, rounds: [] }
}

function show(scenario: Scenario, step: string, name: string, round: Round): void {
  const perSecond = Math.round(round.perSecond).toLocaleString('en').padStart(8)
  const cpu = round.cpuMicroseconds.toFixed(1).padStart(7)
  console.log(
    `${scenario.name.padEnd(10)} ${step.padEnd(10)} ${name.padEnd(17)} ${perSecond}/s ${cpu} µs`,
  )
}

/** Runs one scenario on every server: checks, warms up, then takes turns round by round. */
export async function measure(
  scenario: Scenario,
  contestants: Contestant[],
  options: Options,
  pinned: boolean,
): Promise<Measurement> {
  const running: Running[] = []
  try {
    for (const contestant of contestants) running.push(await start(scenario, contestant, pinned))
    for (const { contestant, server } of running) {
      const round = await loadFor(options.warmUpSeconds, server, scenario, contestant)
      show(scenario, 'warm-up', contestant.name, round)
    }
    for (let turn = 1; turn <= options.rounds; turn++) {
      for (const { contestant, server, rounds } of running) {
        const round = await loadFor(options.seconds, server, scenario, contestant)
        rounds.push(round)
        show(scenario, `round ${turn}/${options.rounds}`, contestant.name, round)
      }
    }
  } finally {
    await Promise.all(running.map(({ server }) => server.stop()))
  }
  return { scenario, entries: running.map(({ contestant, rounds }) => ({ contestant, rounds })) }
}
