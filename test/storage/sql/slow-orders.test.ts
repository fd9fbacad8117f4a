import { afterEach, describe, expect, test } from 'vitest'
import {
  createService,
  defineCollection,
  integer,
  openAccess,
  text,
} from '../../../src/entries/index.ts'
import type { StorageAdapter } from '../../../src/entries/storage.ts'
import { runScene } from '../../cli/command-line.ts'
import { exactCollation, numbersTable } from '../../kit/mysql.ts'
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

/** Creates a service of a table, whose reports are listed. */
function serviceOn(storage: StorageAdapter, reports: unknown[] = []) {
  return createService({
    applications: { app: { collections: { people } } },
    security: openAccess(),
    storage,
    report: (one) => reports.push(one),
  })
}

/** Returns what a service reports of the orders of its table at start, and what its inspection finds. */
async function reportsOf(storage: StorageAdapter) {
  const reports: unknown[] = []
  const service = serviceOn(storage, reports)
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
        : `insert into people select concat('k', seq), concat('n', seq), seq from ${numbersTable(20_000)}`,
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
    const { open } = server
    const checked = await runScene(
      ['check', './app.ts'],
      {},
      { now: () => new Date(0), loadService: () => Promise.resolve(serviceOn(open(2, {}))) },
    )
    expect(checked.code).toBe(0)
    for (const statement of statements) expect(checked.output).toContain(statement)
    await server.run(...statements)
    expect(await reportsOf(server.open(2, {}))).toEqual({ reports: [], problems: [] })
  })
})

const [mariaDb] = pooledServers.filter((each) => each.name === 'MariaDB')

test.skipIf(mariaDb?.missing !== undefined)(
  'an order of which an index can have the first column only, or none, is reported with what is possible',
  async () => {
    const started = await mariaDb?.start()
    if (started === undefined) throw new Error('no server')
    server = started
    const own = 'collate utf8mb4_general_ci'
    const create = (length: string): string[] => [
      'drop table if exists people',
      `create table people (id varchar(100) ${own} primary key, name varchar(${length}, \`rank\` bigint, index (name))`,
      `insert into people select concat('k', seq), concat('n', seq), seq from ${numbersTable(20_000)}`,
      'analyze table people',
    ]
    const ordered = async () => {
      const { reports } = await reportsOf(started.open(2, {}))
      return (reports as { readonly statements: readonly string[] }[])[1]?.statements
    }
    await started.run(...create(`700) ${own}`))
    expect(await ordered()).toEqual([
      `ALTER TABLE \`people\` ADD COLUMN \`name_order\` varchar(700) CHARACTER SET utf8mb4 COLLATE ${exactCollation()} GENERATED ALWAYS AS (\`name\`) VIRTUAL INVISIBLE;`,
      'ALTER TABLE `people` ADD INDEX (`name_order`);',
    ])
    await started.run(...create('1000) character set latin1'))
    expect(await ordered()).toEqual([])
  },
)
