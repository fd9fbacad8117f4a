import { writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { createTestClient } from '../../src/entries/testing.ts'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  text,
} from '../../src/entries/index.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'

/** What the process does. */
export interface ShapesOrder {
  readonly path: string
  /** How many requests it sends, each with another statement. */
  readonly shapes: number
}

const { path, shapes } = JSON.parse(process.argv[2] ?? '') as ShapesOrder
const names = Array.from({ length: 60 }, (_, index) => `field${index}`)
const wide = defineCollection({
  key: 'id',
  fields: { id: integer(), ...Object.fromEntries(names.map((name) => [name, text()])) },
})
const service = createService({
  applications: { app: { collections: { wide } } },
  storage: sqliteStorage(path, { ensureSchema: true }),
  security: openAccess(),
})
await service.ready()
const client = createTestClient(service)
const some = (index: number): readonly string[] =>
  names.filter((_name, place) => ((index + 1) & (1 << (place % 12))) !== 0)
const queries = [
  (index: number) =>
    some(index)
      .map((name) => `${name}=x`)
      .join('&'),
  (index: number) => `$fields=${some(index).join(',')}`,
  (index: number) =>
    `$sort=${names[index % 60]},${names[(index * 7) % 59]}&${some(index)
      .slice(0, 9)
      .map((name) => `${name}=x`)
      .join('&')}`,
]
const before = process.memoryUsage().rss
let responded = 0
for (let index = 0; index < shapes; index++) {
  const query = queries[index % queries.length]?.(index) ?? ''
  const { status } = await client.get('/app/wide', { query })
  if (status === 200 || status === 400) responded++
  await setImmediate()
}
writeSync(1, `responded ${responded}\n`)
writeSync(1, `megabytes ${Math.round((process.memoryUsage().rss - before) / 1e6)}\n`)
await service.close()
