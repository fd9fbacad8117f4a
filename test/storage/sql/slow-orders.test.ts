import { afterEach, describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  text,
} from '../../../src/entries/index.ts'
import type { StorageAdapter } from '../../../src/entries/storage.ts'
import { pooledServers, type PooledServer } from './pooled-servers.ts'

const people = defineCollection({
  key: 'id',
  fields: { id: text({ maxLength: 40 }), name: text({ maxLength: 40 }), rank: integer() },
})

let server: PooledServer | undefined
afterEach(async () => {
  await server?.drop()
  server = undefined
})

/** Returns what a service reports of the orders of its table at start, and what its inspection finds. */
async function reportsOf(storage: StorageAdapter) {
  const reports: unknown[] = []
  const service = createService({
    applications: { app: { collections: { people } } },
    security: openAccess(),
    storage,
    report: (one) => reports.push(one),
  })
  const problems = await service.inspect()
  await service.close()
  return { reports, problems }
}

const reporting = pooledServers.filter(({ missing }) => missing === undefined)

describe.each(reporting)('pages of $name with indexes of another collation', ({ name, start }) => {
  const isPostgres = name === 'PostgreSQL'
  const collation = isPostgres ? 'collate "und-x-icu"' : 'collate utf8mb4_general_ci'

  test('are reported with the statements that end the sorts', async () => {
    server = await start()
    await server.run(
      `create table people (id varchar(40) ${collation} primary key, name varchar(40) ${collation}, \`rank\` bigint)`.replaceAll(
        '`',
        isPostgres ? '"' : '`',
      ),
      'create index by_name on people (name)',
      isPostgres
        ? "insert into people select 'k' || n, 'n' || n, n from generate_series(1, 20000) as n"
        : "insert into people select concat('k', seq), concat('n', seq), seq from seq_1_to_20000",
      isPostgres ? 'analyze people' : 'analyze table people',
    )
    const { reports, problems } = await reportsOf(server.open(2, {}))
    expect(reports).toMatchObject([
      { type: 'order-without-index', application: 'app', collection: 'people', fields: ['id'] },
      { type: 'order-without-index', fields: ['name'] },
    ])
    expect(problems).toMatchObject([
      { kind: 'order', collection: 'app/people', fields: ['id'], count: null },
      { kind: 'order', fields: ['name'] },
    ])
    const statements = (reports as { readonly statements: readonly string[] }[]).flatMap(
      (one) => one.statements,
    )
    await server.run(...statements)
    expect(await reportsOf(server.open(2, {}))).toEqual({ reports: [], problems: [] })
  })
})
