import { buildLibrary, buildServers } from './build.ts'
import { contestants } from './contestants.ts'
import { pinLoadGenerator } from './cores.ts'
import { figures } from './figures.ts'
import { quietMachine } from './machine.ts'
import { measure, type Measurement } from './measure.ts'
import { readOptions } from './options.ts'
import { writeReadme } from './readme.ts'
import { report } from './report.ts'
import { scenarios } from './scenarios.ts'

const options = readOptions(process.argv.slice(2), process.env, {
  scenarios: [...scenarios, ...figures].map(({ name }) => name),
  servers: contestants.map(({ name }) => name),
})
const isChosen = ({ name }: { readonly name: string }) => options.scenarios.includes(name)
const chosenScenarios = scenarios.filter(isChosen)
const chosenFigures = figures.filter(isChosen)
const entrantsOf = (servers: readonly string[]) =>
  contestants.filter(({ name }) => servers.includes(name) && options.servers.includes(name))

buildLibrary()
const programs = [
  ...chosenScenarios.flatMap(({ servers }) => entrantsOf(servers).map(({ name }) => name)),
  ...chosenFigures.flatMap((figure) => figure.programs),
]
await buildServers([...new Set(programs)])
const pinned = pinLoadGenerator()
const surroundings = { options, pinned, machine: quietMachine(options.waitSeconds) }

const measurements: Measurement[] = []
for (const scenario of chosenScenarios) {
  measurements.push(await measure(scenario, entrantsOf(scenario.servers), surroundings))
}
const sections: string[] = []
for (const figure of chosenFigures) {
  await surroundings.machine.wait()
  sections.push(await figure.measure(surroundings))
}
const text = [report(measurements, options, pinned), ...sections].join('\n\n')
console.log(`\n${text}`)
if (options.write) writeReadme(text)
