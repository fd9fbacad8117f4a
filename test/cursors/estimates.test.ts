import { expect, onTestFinished, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  memoryStorage,
  mount,
  openAccess,
  system,
  text,
} from '../../src/entries/index.ts'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { missingServer as missingMariadb, numbersTable, testDatabase } from '../kit/mysql.ts'
import { missingServer as missingPostgres, testSchema } from '../kit/postgres.ts'
import { send, type RequestHeaders } from '../kit/service.ts'
import { visitor, visitors } from '../kit/visitors.ts'
import { header, readToEnd } from './reading.ts'

const fields = { id: integer(), region: text() }
const notes = defineCollection({ key: 'id', count: 'estimated', fields })
const walked = defineCollection({ key: 'id', count: 'estimated', cursor: true, fields })
const ruled = defineCollection({
  key: 'id',
  count: 'estimated',
  fields,
  rows: { equal: { region: { attribute: 'region' } }, exceptRoles: ['Auditor'] },
})
const handled = defineCollection(
  { key: 'id', count: 'estimated', fields },
  { events: { Filter: { before: () => undefined } } },
)
const marker = 'X-Svc-Estimated-Count'

type Estimate = NonNullable<StorageAdapter['estimateCount']>

async function stage(estimateCount: Estimate, wrap = (adapter: StorageAdapter) => adapter) {
  const service = createService({
    applications: { app: { collections: { notes, walked, ruled, handled } } },
    security: visitors,
    storage: wrap({ ...memoryStorage(), estimateCount }),
    report: false,
  })
  onTestFinished(() => service.close())
  const own = service.as(system)
  for (const name of ['notes', 'walked', 'ruled', 'handled'] as const) {
    const rows = Array.from({ length: 8 }, (_, at) => ({ id: at + 1, region: at < 6 ? 'n' : 's' }))
    await own.collection('app', name).insertMany(rows)
  }
  const auditor = visitor('ada', { roles: 'Auditor' })
  const countOf = async (path: string, headers: RequestHeaders = auditor) => {
    const response = await send(service, { method: 'GET', path, headers })
    return [response.body.count ?? response.status, response.headers[marker]]
  }
  return { service, countOf }
}

test('a count that the page does not show may be an estimate, which a header marks', async () => {
  const { countOf } = await stage(() => 40)
  for (const [query, expected] of [
    ['$count=true&$limit=8', [40, 'true']],
    ['$count=true&$limit=9', [8, undefined]],
    ['$count=true&$limit=5&$offset=5', [8, undefined]],
    ['$count=true&$limit=3&$offset=5', [40, 'true']],
    ['$count=true&$limit=3&$offset=20', [20, 'true']],
    ['$count=true&$limit=0', [40, 'true']],
    ['$count=true&region=s', [2, undefined]],
    ['$count=true&region=none', [0, undefined]],
    ['$count=true&$limit=1&$q=s', [2, undefined]],
    ['$limit=2', [200, undefined]],
  ] as const) {
    expect([query, await countOf(`/notes?${query}`)]).toEqual([query, expected])
  }
})

test('an estimate is at least the items of the page', async () => {
  const { countOf } = await stage(() => 1)
  expect(await countOf('/notes?$count=true&$limit=3&$offset=4')).toEqual([7, 'true'])
  expect(await countOf('/walked?$count=true&$limit=3&$offset=4')).toEqual([8, 'true'])
})

test('storage estimates for the conditions of the request', async () => {
  const calls: unknown[] = []
  const { countOf } = await stage(({ name }, conditions) => {
    calls.push([name, conditions])
    return 3
  })
  await countOf('/notes?region=n&$count=true&$limit=1')
  const condition = { field: 'region', is: 'equal', value: 'n' }
  expect(calls).toEqual([['notes', [condition]]])
})

test('storage without an estimate counts', async () => {
  const { countOf } = await stage(() => undefined)
  expect(await countOf('/notes?$count=true&$limit=3')).toEqual([8, undefined])
})

test('callers with a row rule and collections with handlers get exact counts', async () => {
  const { service, countOf } = await stage(() => 40)
  const path = '/ruled?$count=true&$limit=2'
  for (let round = 0; round < 3; round++) {
    expect(await countOf(path)).toEqual([40, 'true'])
    expect(await countOf(path, visitor('maria', { region: 'n' }))).toEqual([6, undefined])
  }
  expect(await countOf('/handled?$count=true&$limit=2')).toEqual([8, undefined])
  const own = service.as(system).collection('app', 'notes')
  expect([await own.count(), (await own.filter({}, { limit: 1, count: true })).count]).toEqual([
    8, 8,
  ])
})

test('estimates and cursors go together', async () => {
  const { service } = await stage(() => 40)
  const auditor = visitor('ada', { roles: 'Auditor' })
  const path = '/walked?$count=true&$limit=3&$sort=-region'
  const pages = await readToEnd(service, path, undefined, auditor)
  expect(
    pages.map(({ body, headers }) => [body.count, headers[marker], header in headers]),
  ).toEqual([
    [40, 'true', true],
    [40, 'true', true],
    [40, 'true', false],
  ])
})

test('an estimate passes through mount, and is checked', async () => {
  const mounted = await stage(
    () => 40,
    (adapter) => mount({ '*': adapter }),
  )
  expect(await mounted.countOf('/notes?$count=true&$limit=3')).toEqual([40, 'true'])
  const broken = await stage(() => -1)
  expect(await broken.countOf('/notes?$count=true&$limit=3')).toEqual([500, undefined])
})

/** Returns the counts of 5,000 rows of a database that are described by its statistics. */
async function countsOf(storage: StorageAdapter, fill: () => Promise<unknown>) {
  const service = createService({
    applications: { app: { collections: { notes } } },
    security: openAccess(),
    storage,
  })
  onTestFinished(() => service.close())
  await service.ready()
  await fill()
  return async (query: string): Promise<readonly [number, string | undefined]> => {
    const path = `/notes?$count=true&${query}`
    const { status, body, headers } = await send(service, { method: 'GET', path })
    return [body.count ?? status, headers[marker]]
  }
}

async function expectEstimates(countOf: Awaited<ReturnType<typeof countsOf>>): Promise<void> {
  for (const query of ['$limit=10', '$limit=0']) {
    const [all, isMarked] = await countOf(query)
    expect([all > 2500, all < 10000, isMarked]).toEqual([true, true, 'true'])
  }
  const [some, isMarked] = await countOf('region=r1')
  expect([some > 1000, some < 1500, isMarked]).toEqual([true, true, 'true'])
  expect(await countOf('id=7')).toEqual([1, undefined])
  expect(await countOf('region=r9')).toEqual([0, undefined])
}

const postgresMissing = await missingPostgres()
const mariadbMissing = await missingMariadb()

test.skipIf(postgresMissing !== undefined)('PostgreSQL estimates', async () => {
  const schema = await testSchema()
  onTestFinished(() => schema.drop())
  const storage = postgresStorage(schema.open(2), { ensureSchema: true })
  const rows = `select n, 'r' || n % 4 from generate_series(1, 5000) as n`
  const fill = () => schema.run(`insert into notes ${rows}; analyze notes`)
  await expectEstimates(await countsOf(storage, fill))
})

test.skipIf(mariadbMissing !== undefined)('MariaDB estimates', async () => {
  const database = await testDatabase()
  onTestFinished(() => database.drop())
  const storage = mysqlStorage(database.open({ connectionLimit: 2 }), { ensureSchema: true })
  const rows = `select seq, concat('r', seq % 4) from ${numbersTable()}`
  const fill = () =>
    database.run(
      `insert into notes ${rows}`,
      'create index notes_region on notes (region(9))',
      'analyze table notes',
    )
  await expectEstimates(await countsOf(storage, fill))
})
