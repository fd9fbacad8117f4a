import { buildLibrary, buildServers } from './build.ts'
import { inCheckout, type Contestant } from './contestants.ts'
import { pinLoadGenerator } from './cores.ts'
import type { Figures } from './figures.ts'
import { quietMachine } from './machine.ts'
import { measure, type Measurement } from './measure.ts'
import { readOptions } from './options.ts'
import { writeReadme, type Section } from './readme.ts'
import { report } from './report.ts'
import type { Scenario } from './scenario.ts'

/** What a run measures, and where its results stand in the README. */
export interface Bench {
  scenarios: readonly Scenario[]
  figures: readonly Figures[]
  contestants: readonly Contestant[]
  section: Section
}

/** Measures what the command line chooses and prints the results. */
export async function runBench({ scenarios, figures, contestants, section }: Bench): Promise<void> {
  const options = readOptions(process.argv.slice(2), process.env, {
    scenarios: [...scenarios, ...figures].map(({ name }) => name),
    servers: contestants.map(({ name }) => name),
  })
  const isChosen = ({ name }: { readonly name: string }) => options.scenarios.includes(name)
  const chosenScenarios = scenarios.filter(isChosen)
  const chosenFigures = figures.filter(isChosen)
  const entrantsOf = (servers: readonly string[]) =>
    contestants.filter(({ name }) => servers.includes(name) && options.servers.includes(name))
  const withOthers = (entrants: readonly Contestant[]) =>
    entrants.flatMap((entrant) =>
      options.against === undefined || !entrant.name.startsWith('rowgate')
        ? [entrant]
        : [entrant, inCheckout(options.against, entrant)],
    )

  buildLibrary()
  const programs = [
    ...chosenScenarios.flatMap(({ servers }) => entrantsOf(servers).map(({ name }) => name)),
    ...chosenFigures.flatMap((figure) => figure.programs),
  ]
  await buildServers([...new Set(programs)])
  const pinned = pinLoadGenerator()
  const surroundings = { options, pinned, machine: quietMachine(options.waitSeconds) }

  const measurements: Measurement[] = []
  const sections: string[] = []
  const results = () => [report(measurements, options, pinned), ...sections].join('\n\n')
  try {
    for (const scenario of chosenScenarios) {
      measurements.push(
        await measure(scenario, withOthers(entrantsOf(scenario.servers)), surroundings),
      )
    }
    for (const figure of chosenFigures) {
      await surroundings.machine.wait()
      sections.push(await figure.measure(surroundings))
    }
  } finally {
    // Also if a later measurement fails: half an hour of results must not be lost.
    console.log(`\n${results()}`)
  }
  if (options.write) writeReadme(section, results())
}
