import { expect, onTestFinished, test } from 'vitest'
import { boolean, defineCollection, integer, text } from '../../src/entries/index.ts'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { sqliteStorage, type SqliteDriver } from '../../src/entries/sqlite.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { drivers, openHandle } from '../kit/databases.ts'
import { missingServer as missingMariadb, testDatabase } from '../kit/mysql.ts'
import { missingServer as missingPostgres, testSchema } from '../kit/postgres.ts'
import { openService } from '../kit/stage.ts'
import { temporaryFolder } from '../kit/storages.ts'

const things = defineCollection({
  key: 'id',
  fields: {
    id: integer(),
    code: text({ maxLength: 9 }),
    state: text({ maxLength: 9 }),
    sold: boolean(),
    rank: integer(),
  },
  index: [['state', 'code'], ['-rank']],
  unique: [['code', 'state']],
  operators: 'indexed',
})

function nameIn(rows: readonly object[]): string {
  return String((rows[0] as { readonly name?: unknown }).name)
}

interface Opened {
  readonly open: (options: { readonly ensureSchema: boolean }) => StorageAdapter
  readonly run: (statement: string) => Promise<unknown>
  /** Returns the name of the index that begins with `state`. */
  readonly name: () => Promise<string>
}

const kinds: readonly (readonly [
  name: string,
  isPresent: boolean,
  drop: (name: string) => string,
  () => Promise<Opened>,
])[] = [
  [
    'SQLite',
    true,
    (name) => `drop index ${name}`,
    async () => {
      const file = `${temporaryFolder()}/data.db`
      return {
        open: (options) => sqliteStorage(file, options),
        name: async () => 'things_state_code_index',
        run: async (statement) => {
          const handle = openHandle(drivers[0] as SqliteDriver, file)
          handle.exec(statement)
          handle.close()
        },
      }
    },
  ],
  [
    'PostgreSQL',
    (await missingPostgres()) === undefined,
    (name) => `drop index ${name}`,
    async () => {
      const schema = await testSchema()
      onTestFinished(() => schema.drop())
      return {
        open: (options) => postgresStorage(schema.pool, options),
        run: schema.run,
        name: async () => {
          const names = `select indexname as name from pg_indexes where indexname like 'things_state%'`
          return nameIn(await schema.run(`${names} and schemaname = current_schema()`))
        },
      }
    },
  ],
  [
    'MariaDB',
    (await missingMariadb()) === undefined,
    (name) => `drop index ${name} on things`,
    async () => {
      const database = await testDatabase()
      onTestFinished(() => database.drop())
      return {
        open: (options) => mysqlStorage(database.pool, options),
        run: (statement) => database.run(statement),
        name: async () => {
          const names = `select distinct index_name as name from information_schema.statistics`
          const own = `where table_schema = database() and index_name like 'things_state%'`
          return nameIn(await database.run(`${names} ${own}`))
        },
      }
    },
  ],
]

test.for(kinds.filter(([, isPresent]) => isPresent))(
  'a missing index of %s is a mistake at start, with the statement that creates it',
  async ([, , drop, prepare]) => {
    const { open, run, name } = await prepare()
    const ready = async (ensureSchema = false): Promise<unknown> => {
      const { service } = openService({
        applications: { app: { collections: { things } } },
        storage: open({ ensureSchema }),
      })
      await service.ready()
      return service.close()
    }
    await ready(true)
    await ready()
    await run(drop(await name()))
    const message = await ready().then(
      () => 'none',
      (error: unknown) => String(error),
    )
    expect(message).toContain("app/things: operators are 'indexed', and the table")
    expect(message).toMatch(/has no index that begins with .state.\. Create one with\nCREATE INDEX/)
    const [, statement = ''] = /\n(CREATE INDEX [^\n]*;)/.exec(message) ?? []
    await run(statement)
    await ready()
  },
)
