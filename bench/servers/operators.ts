import { createService, defineCollection, integer, openAccess, text } from 'rowgate'
import { createTestClient } from 'rowgate/testing'
import { databaseTime, type Kind } from '../database-time.ts'
import { analyzed, openPlace } from './places.ts'

/** The processor microseconds of a page in each round, of the process and the database, by the title of the condition. */
export interface OperatorFigures {
  readonly indexed: Readonly<Record<string, readonly number[]>>
  readonly scanned: Readonly<Record<string, readonly number[]>>
}

const rows = 1_000_000
const sizes = 100_000
const rounds = 5
const [, , kindName = '', file = ''] = process.argv
const kind = kindName as Kind
const place = openPlace(kind, file)

const fields = { id: integer(), size: integer(), name: text({ maxLength: 20 }) }
const operators = true
const collections = {
  indexed: defineCollection({ key: 'id', fields, operators, index: [['size'], ['name']] }),
  scanned: defineCollection({ key: 'id', fields, operators }),
}

/** Conditions that find about ten rows, apart from the last ones, which find most rows. */
const conditions: Readonly<Record<string, (number: number) => string>> = {
  'size=': (number) => `size=${number}`,
  'size.in=, two values': (number) => `size.in=${number}&size.in=${number + 1}`,
  'size.lt=': () => 'size.lt=2',
  'size.lt=, $sort=size': () => 'size.lt=2&$sort=size',
  'size.lte=': () => 'size.lte=1',
  'size.gt=': () => `size.gt=${sizes - 2}`,
  'size.gte=': () => `size.gte=${sizes - 1}`,
  'size.gte=, $sort=size': () => `size.gte=${sizes - 1}&$sort=size`,
  'size.gte=&size.lt=': (number) => `size.gte=${number}&size.lt=${number + 1}`,
  'size.isNull=true': () => 'size.isNull=true',
  'name=': (number) => `name=n${number}`,
  'name.startsWith=': (number) => `name.startsWith=n${number}`,
  'name.gte=&name.lt=': (number) => `name.gte=n${number}&name.lt=n${number + 1}`,
  'name.contains=': (number) => `name.contains=${number}`,
  'size.ne=': (number) => `size.ne=${number}`,
  'size.notIn=, two values': (number) => `size.notIn=${number}&size.notIn=${number + 1}`,
  'size.isNull=false': () => 'size.isNull=false',
}

const service = createService({
  applications: { desk: { collections } },
  storage: place.storage(),
  security: openAccess(),
  cache: false,
  report: false,
})
await service.ready()
for (const table of Object.keys(collections)) {
  const size = `case when n % ${sizes} = 0 then null else n % ${sizes} end`
  const name = kind === 'sqlite' || kind === 'postgres' ? "'n' || n" : "concat('n', n)"
  await place.run(
    `insert into ${table} (id, size, name) select n, ${size}, ${name} from ${place.numbers(rows)}`,
  )
}
for (const statement of analyzed(kind, Object.keys(collections))) await place.run(statement)
const time = await databaseTime(kind, file)
const client = createTestClient(service)

async function used(): Promise<number> {
  const { user, system } = process.cpuUsage()
  return user + system + (await time.microseconds())
}

/** Returns the processor time of a page, of as many as fit into some time. */
async function costOf(table: string, query: (number: number) => string): Promise<number> {
  const began = performance.now()
  const before = await used()
  let pages = 0
  do {
    const number = 10_000 + ((pages * 7919) % 80_000)
    const { status, body } = await client.get(`/desk/${table}?${query(number)}`)
    if (status !== 200 || body.items?.length === 0)
      throw new Error(`${query(number)} responded ${status} with ${body.items?.length} items.`)
    pages += 1
  } while (performance.now() - began < 400)
  return ((await used()) - before) / pages
}

const figures: Record<string, Record<string, number[]>> = { indexed: {}, scanned: {} }
for (let round = 0; round <= rounds; round++) {
  for (const [table, all] of Object.entries(figures)) {
    for (const [title, query] of Object.entries(conditions)) {
      const cost = await costOf(table, query)
      // The first round warms up.
      if (round > 0) (all[title] ??= []).push(cost)
    }
  }
}
await time.close()
await service.close()
await place.close()
process.send?.(figures as unknown as OperatorFigures)
