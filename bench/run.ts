import { buildLibrary, buildServers } from './build.ts'
import { contestants, takesPart } from './contestants.ts'
import { pinLoadGenerator } from './cores.ts'
import { measure, type Measurement } from './measure.ts'
import { readOptions } from './options.ts'
import { writeReadme } from './readme.ts'
import { report } from './report.ts'
import { scenarios } from './scenarios.ts'

const options = readOptions(process.argv.slice(2), process.env, {
  scenarios: scenarios.map(({ name }) => name),
  servers: contestants.map(({ name }) => name),
})
const entrants = contestants.filter(({ name }) => options.servers.includes(name))

if (options.servers.some((name) => name.startsWith('rowgate'))) buildLibrary()
await buildServers(options.servers)
const pinned = pinLoadGenerator()

const measurements: Measurement[] = []
for (const scenario of scenarios.filter(({ name }) => options.scenarios.includes(name))) {
  const own = entrants.filter((contestant) => takesPart(contestant, scenario))
  measurements.push(await measure(scenario, own, options, pinned))
}

const text = report(measurements, options, pinned)
console.log(`\n${text}`)
if (options.write) writeReadme(text)
