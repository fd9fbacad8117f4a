import { join } from 'node:path'
import { createService, openAccess, type ApplicationDefinitions } from 'rowgate'
import { toFetchHandler } from 'rowgate/fetch'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { StorageAdapter } from '../../src/storage/index.ts'
import { mysqlStorage } from '../../src/storage/mysql.ts'
import { postgresStorage } from '../../src/storage/postgres.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import { runAlone } from '../cli/stage.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import {
  address as mysqlAddress,
  missingServer as missingMariaDb,
  testDatabase,
} from '../kit/mysql.ts'
import { address, missingServer as missingPostgres, testSchema } from '../kit/postgres.ts'
import { temporaryFolder } from '../kit/storages.ts'

interface Foreign {
  readonly line: readonly string[]
  storage(): StorageAdapter
}

const databases = [
  {
    name: 'SQLite',
    missing: undefined,
    loose: 'text collate nocase',
    open: async (statements: readonly string[]): Promise<Foreign> => {
      const file = join(temporaryFolder(), 'shop.db')
      const handle = openHandle(drivers[0] as (typeof drivers)[number], file)
      for (const each of statements) handle.exec(each)
      handle.close()
      return { line: [file], storage: () => sqliteStorage(file) }
    },
  },
  {
    name: 'PostgreSQL',
    missing: await missingPostgres(),
    loose: 'text collate loose',
    open: async (statements: readonly string[]): Promise<Foreign> => {
      const { name, run, pool, drop } = await testSchema()
      onTestFinished(drop)
      await run(
        [
          `create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
          ...statements,
        ].join(';'),
      )
      const { host, port, user, database } = address
      return {
        line: [`postgres://${user}@${host}:${port}/${database}`, '--schema', name],
        storage: () => postgresStorage(pool),
      }
    },
  },
  {
    name: 'MariaDB',
    missing: await missingMariaDb(),
    loose: 'varchar(20) collate utf8mb4_general_ci',
    open: async (statements: readonly string[]): Promise<Foreign> => {
      const { name, run, pool, drop } = await testDatabase()
      onTestFinished(drop)
      await run(...statements)
      const { host, port, user, password } = mysqlAddress
      return {
        line: [`mysql://${user}:${encodeURIComponent(password)}@${host}:${port}/${name}`],
        storage: () => mysqlStorage(pool),
      }
    },
  },
]

/** Publishes a database as introspection describes it. */
async function publish({ line, storage }: Foreign) {
  const { output, messages, code } = await runAlone([
    ...['introspect', ...line],
    ...['--json', '--application', 'shop'],
  ])
  expect({ code, messages }).toMatchObject({ code: 0 })
  const applications = JSON.parse(output) as ApplicationDefinitions
  const service = createService({ applications, storage: storage(), security: openAccess() })
  onTestFinished(() => service.close())
  const handle = toFetchHandler(service)
  const ask = async (target: string, body?: object): Promise<object> => {
    const headers = { 'content-type': 'application/json' }
    const sent = body === undefined ? {} : { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await handle(new Request(`http://localhost/rest/v1/shop/${target}`, sent))
    return { status: response.status, ...((await response.json()) as object) }
  }
  return { messages, ask, collections: applications['shop']?.collections ?? {} }
}

describe.each(databases)('texts of $name', ({ missing, loose, open }) => {
  test.skipIf(missing !== undefined)(
    'of an enumeration that ignores case keep their spelling when an item is sent back',
    async () => {
      const database = await open([
        `create table orders (id integer not null primary key, status ${loose} check (status in ('Open', 'it''s')), size integer)`,
        `insert into orders values (1, 'Open', 1), (2, 'OPEN', 2), (3, 'IT''S', 3), (4, null, 4)`,
      ])
      const { ask, collections } = await publish(database)
      expect(collections['orders']?.fields['status']).toMatchObject({
        enumeration: ['Open', "it's", "IT'S", 'OPEN'],
      })
      for (const id of [1, 2, 3, 4]) {
        const { item } = (await ask(`orders/${id}`)) as { readonly item: object }
        const { id: _, ...values } = item as { readonly id: number }
        expect(await ask(`orders/${id}`, { ...values, size: 9 })).toMatchObject({
          ...{ status: 200, validations: [], item: { ...item, size: 9 } },
        })
      }
      expect(await ask('orders/1', { status: 'shipped' })).toMatchObject({
        validations: [{ field: 'status' }],
      })
    },
  )

  test.skipIf(missing !== undefined)(
    'that no path can have are counted in the notes of their keys',
    async () => {
      const key = 'varchar(20) not null'
      const database = await open([
        `create table words (word ${key} primary key)`,
        `insert into words values (''), ('.'), ('..'), ('...'), ('a,b'), ('x')`,
        `create table places (town ${key}, street ${key}, size integer not null, primary key (town, street, size))`,
        `insert into places values ('a', 'b', 1), ('a,b', 'c', 1), ('', 'b', 1), ('a', '.', 1)`,
        `create table names (name ${key} primary key)`,
        `insert into names values ('a')`,
      ])
      const { messages } = await publish(database)
      expect(messages).toContain('words: 3 rows have keys that no path can have')
      expect(messages).toContain('places: 2 rows have keys that no path can have')
      expect(messages).not.toContain('names: ')
    },
  )
})

describe.each(databases.filter(({ name }) => name === 'MariaDB'))(
  'texts of $name',
  ({ missing, loose, open }) => {
    test.skipIf(missing !== undefined)(
      'of an enumeration that ignores spaces at the end keep them when an item is sent back',
      async () => {
        const database = await open([
          `create table orders (id integer not null primary key, status ${loose} check (status in ('open', 'done')), size integer)`,
          `insert into orders values (1, 'open', 1), (2, 'open ', 2)`,
        ])
        const { ask, collections } = await publish(database)
        expect(collections['orders']?.fields['status']).toMatchObject({
          enumeration: ['open', 'done', 'open '],
        })
        expect(await ask('orders/2', { status: 'open ', size: 9 })).toMatchObject({
          ...{ status: 200, validations: [], item: { status: 'open ', size: 9 } },
        })
      },
    )
  },
)
