import { builds, measureBuilds } from './builds.ts'
import { buildLibrary, buildServers } from './build.ts'
import { contestants, takesPart } from './contestants.ts'
import { pinLoadGenerator } from './cores.ts'
import { measure, type Measurement } from './measure.ts'
import { readOptions } from './options.ts'
import { writeReadme } from './readme.ts'
import { measureOutbox, outbox } from './outbox.ts'
import { report } from './report.ts'
import { scenarios } from './scenarios.ts'
import { measureTables, tables } from './tables.ts'

const options = readOptions(process.argv.slice(2), process.env, {
  scenarios: [...scenarios.map(({ name }) => name), builds, tables, outbox],
  servers: contestants.map(({ name }) => name),
})
const entrants = contestants.filter(({ name }) => options.servers.includes(name))

if (options.servers.some((name) => name.startsWith('rowgate'))) buildLibrary()
await buildServers([...options.servers, builds, tables, outbox])
const pinned = pinLoadGenerator()

const measurements: Measurement[] = []
for (const scenario of scenarios.filter(({ name }) => options.scenarios.includes(name))) {
  const own = entrants.filter((contestant) => takesPart(contestant, scenario))
  measurements.push(await measure(scenario, own, options, pinned))
}

const builtFigures = options.scenarios.includes(builds) ? [await measureBuilds()] : []

const tableFigures = options.scenarios.includes(tables) ? [await measureTables()] : []

const outboxFigures = options.scenarios.includes(outbox) ? [await measureOutbox()] : []

const figures = [...builtFigures, ...tableFigures, ...outboxFigures]
const text = [report(measurements, options, pinned), ...figures].join('\n\n')
console.log(`\n${text}`)
if (options.write) writeReadme(text)
