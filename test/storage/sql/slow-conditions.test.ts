import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createService,
  decimal,
  defineCollection,
  integer,
  openAccess,
  text,
} from '../../../src/entries/index.ts'
import { sqliteStorage, type SqliteDriver } from '../../../src/entries/sqlite.ts'
import type { StorageAdapter } from '../../../src/entries/storage.ts'
import { runScene } from '../../cli/command-line.ts'
import { drivers, openHandle } from '../../kit/databases.ts'
import { numbersTable } from '../../kit/mysql.ts'
import { temporaryFolder } from '../../kit/storages.ts'
import { pooledServers } from './pooled-servers.ts'

const customers = defineCollection({
  key: 'id',
  fields: { id: integer(), city: text({ maxLength: 20 }) },
})
const orders = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    customerId: integer({ references: 'customers' }),
    status: text({ maxLength: 20 }),
    total: decimal({ precision: 9, scale: 2 }),
    note: text({ maxLength: 20 }),
    region: text({ maxLength: 20 }),
    kind: text({ maxLength: 20 }),
    other: integer(),
  },
  relations: { customer: 'customerId' },
  operators: {
    id: ['in', 'gte'],
    status: ['in', 'ne'],
    total: ['gte'],
    note: ['contains', 'notIn'],
    kind: ['in'],
    'customer.city': ['eq'],
  },
  requiredFilters: ['region'],
  rows: { equal: { kind: { attribute: 'kind' } } },
})

interface Opened {
  readonly run: (...statements: readonly string[]) => Promise<unknown>
  readonly open: () => StorageAdapter
  readonly analyze: readonly string[]
  /** Returns the SELECT of numbers from 1 to a count. */
  readonly numbers: (count: number) => string
}

const sqlite = {
  name: 'SQLite',
  start: async (): Promise<Opened> => {
    const file = `${temporaryFolder()}/data.db`
    return {
      open: () => sqliteStorage(file),
      run: async (...statements) => {
        const handle = openHandle(drivers[0] as SqliteDriver, file)
        handle.exec(statements.join(';'))
        handle.close()
      },
      analyze: [],
      numbers: (count) =>
        `(with recursive c(n) as (select 1 union all select n + 1 from c where n < ${count}) select n from c)`,
    }
  },
}

const servers = pooledServers
  .filter(({ missing }) => missing === undefined)
  .map(({ name, start }) => ({
    name,
    start: async (): Promise<Opened> => {
      const server = await start()
      onTestFinished(() => server.drop())
      const isPostgres = name === 'PostgreSQL'
      return {
        run: (...statements) => server.run(...statements),
        open: () => server.open(2, {}),
        analyze: ['orders', 'customers'].map((table) =>
          isPostgres ? `analyze ${table}` : `analyze table ${table}`,
        ),
        numbers: (count) =>
          isPostgres
            ? `(select n from generate_series(1, ${count}) as n)`
            : `(select seq as n from ${numbersTable(count)})`,
      }
    },
  }))

function serviceOn(storage: StorageAdapter, reports: unknown[] = []) {
  return createService({
    applications: { app: { collections: { customers, orders } } },
    security: openAccess(),
    storage,
    report: (one) => reports.push(one),
  })
}

/** Returns what a service reports of conditions at start, and what its inspection finds. */
async function reportsOf(storage: StorageAdapter) {
  const reports: { readonly type: string; readonly statements: readonly string[] }[] = []
  const service = serviceOn(storage, reports)
  const problems = await service.inspect()
  await service.close()
  const own = reports.filter(({ type }) => type === 'condition-without-index')
  return { reports: own, problems: problems.filter(({ kind }) => kind === 'condition') }
}

async function inspected(storage: StorageAdapter) {
  const service = serviceOn(storage)
  const problems = await service.inspect()
  await service.close()
  return problems
}

describe.each([sqlite, ...servers])('conditions on a large table of $name', ({ name, start }) => {
  test('are reported with the statements of the indexes that they lack', async () => {
    const { run, open, analyze, numbers } = await start()
    const type = (length: number) =>
      name === 'PostgreSQL' ? `varchar(${length}) collate "C"` : `varchar(${length})`
    const amount = name === 'SQLite' ? 'text' : 'decimal(9, 2)'
    const fill = (count: number): readonly string[] => [
      'delete from orders',
      'delete from customers',
      `insert into customers select n, 'c' from ${numbers(count)} as s`,
      `insert into orders select n, n, 's', '1.00', 'n', 'r', 'k', 1 from ${numbers(count)} as s`,
      ...analyze,
    ]
    await run(
      `create table customers (id bigint primary key not null, city ${type(20)})`,
      `create table orders (id bigint primary key not null, "customerId" bigint, status ${type(20)}, total ${amount}, note ${type(20)}, region ${type(20)}, kind ${type(20)}, other bigint)`.replaceAll(
        '"customerId"',
        name === 'MariaDB' ? '`customerId`' : '"customerId"',
      ),
    )
    await run(...fill(1000))
    expect(await reportsOf(open())).toEqual({ reports: [], problems: [] })
    await run(...fill(20_000))
    const { reports, problems } = await reportsOf(open())
    const of = (collection: string, fields: readonly string[], conditions: readonly string[]) => ({
      type: 'condition-without-index',
      application: 'app',
      ...{ collection, fields, conditions },
    })
    const isSqlite = name === 'SQLite'
    expect(reports).toMatchObject([
      of('customers', ['city'], ['customer.city of orders']),
      of('orders', ['region'], ['region']),
      of('orders', ['kind'], ['the row rule', 'kind.in']),
      of('orders', ['customerId'], ['the reference to customers']),
      of('orders', ['status'], ['status.in']),
      ...(isSqlite ? [] : [of('orders', ['total'], ['total.gte'])]),
    ])
    const statements = reports.map((one) => one.statements)
    expect(statements.map(({ length }) => length)).toEqual(statements.map(() => 1))
    expect(problems.map(({ collection, fields, count }) => [collection, fields, count])).toEqual([
      ['app/customers', ['city'], null],
      ...['region', 'kind', 'customerId', 'status', 'total', 'note'].map((field) => [
        'app/orders',
        [field],
        null,
      ]),
    ])
    const checked = await runScene(
      ['check', './app.ts'],
      {},
      { now: () => new Date(0), loadService: () => Promise.resolve(serviceOn(open())) },
    )
    expect(checked.code).toBe(0)
    for (const statement of statements.flat()) expect(checked.output).toContain(statement)
    await run(...statements.flat())
    // No index would serve what is left, so that the start does not report it.
    const left = await reportsOf(open())
    expect(left.reports).toEqual([])
    const fields = left.problems.map((one) => one.fields)
    expect(fields).toEqual(isSqlite ? [['total'], ['note']] : [['note']])
    await run('alter table customers rename column city to town')
    const unfit = await inspected(open())
    expect(unfit.filter(({ collection }) => collection === 'app/customers')).toMatchObject([
      { kind: 'table' },
    ])
  })
})

const [postgres] = servers.filter(({ name }) => name === 'PostgreSQL')

test.skipIf(postgres === undefined)(
  'a range of strings in PostgreSQL needs an index of the order of code points, an equality one of the column',
  async () => {
    const { run, open, analyze, numbers } = (await postgres?.start()) as Opened
    await run(
      `create table customers (id bigint primary key, city varchar(20) collate "und-x-icu")`,
      `create table orders (id bigint primary key)`,
      `insert into customers select n, 'c' || n from ${numbers(20_000)} as s`,
      ...analyze,
    )
    const cities = { ...customers, operators: { city: ['in', 'gte'] } } as const
    const reported = async (): Promise<readonly (readonly string[])[]> => {
      const reports: { readonly type: string; readonly statements: readonly string[] }[] = []
      const service = createService({
        applications: { app: { collections: { customers: cities } } },
        security: openAccess(),
        storage: open(),
        report: (one) => reports.push(one as never),
      })
      await service.ready()
      await service.close()
      return reports
        .filter(({ type }) => type.endsWith('-without-index'))
        .map(({ statements }) => statements)
    }
    const [both = []] = await reported()
    expect(both.map((one) => one.includes('COLLATE "C"'))).toEqual([false, true])
    await run(both[0] as string)
    // The index of the order by the column, which is reported now, serves the range too.
    const [ordered = [], ...others] = await reported()
    expect([ordered.map((one) => one.includes('COLLATE "C"')), others]).toEqual([[true], []])
    await run(...ordered)
    expect(await reported()).toEqual([])
  },
)

const [mariaDb] = servers.filter(({ name }) => name === 'MariaDB')

test.skipIf(mariaDb === undefined)(
  'a long string in MariaDB needs an index of the starts of its values, and a range that an order has no second column',
  async () => {
    const { run, open, analyze, numbers } = (await mariaDb?.start()) as Opened
    await run(
      'create table customers (id bigint primary key, city varchar(2000), name varchar(50) collate utf8mb4_general_ci, key (name))',
      'create table orders (id bigint primary key)',
      `insert into customers select n, concat('c', n), concat('n', n) from ${numbers(20_000)} as s`,
      ...analyze,
    )
    const long = defineCollection({
      key: 'id',
      fields: { id: integer(), city: text(), name: text({ maxLength: 50 }) },
      operators: { city: ['in'], name: ['gte'] },
    })
    const reported = async () => {
      const reports: { readonly type: string; readonly statements?: readonly string[] }[] = []
      const service = createService({
        applications: { app: { collections: { customers: long } } },
        security: openAccess(),
        storage: open(),
        report: (one) => reports.push(one),
      })
      await service.ready()
      await service.close()
      return reports.filter(({ type }) => type.endsWith('-without-index'))
    }
    const first = await reported()
    expect(first).toMatchObject([
      { type: 'order-without-index', fields: ['name'] },
      {
        type: 'condition-without-index',
        fields: ['city'],
        statements: ['ALTER TABLE `customers` ADD INDEX (`city`(100));'],
      },
    ])
    await run(...first.flatMap(({ statements = [] }) => statements))
    expect(await reported()).toEqual([])
  },
)
