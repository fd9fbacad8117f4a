import { join } from 'node:path'
import { expect, onTestFinished, type TestContext } from 'vitest'
import type { ApplicationDefinitions } from '../../src/definition/application.ts'
import type { CollectionDefinition } from '../../src/definition/collection.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { sqliteStorage, type SqliteDriver } from '../../src/entries/sqlite.ts'
import { runAlone, type Run } from '../cli/command-line.ts'
import { drivers, openHandle, rowsIn } from '../kit/databases.ts'
import * as mysql from '../kit/mysql.ts'
import * as postgres from '../kit/postgres.ts'
import { temporaryFolder } from '../kit/storages.ts'

/** An empty database in which tests create tables with SQL. */
export interface EmptyDatabase {
  /** What a command line names it with: a file or URL, and options. */
  readonly line: readonly [place: string, ...options: readonly string[]]
  run(...statements: readonly string[]): Promise<void>
  /** Returns the number of rows of a table. */
  count(table: string): Promise<number>
  /** Opens a storage. `ensureSchema`: what it creates at the start. Default: nothing. */
  storage(ensureSchema?: false | 'columns'): StorageAdapter
  drop(): Promise<void>
}

/** A kind of database. */
export interface DatabaseKind {
  readonly name: 'SQLite' | 'PostgreSQL' | 'MariaDB'
  readonly missing: string | undefined
  quoted(name: string): string
  /** Creates an empty database: a file in the folder, or a schema of a server. */
  start(folder: string): Promise<EmptyDatabase>
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const inBackticks = (name: string): string => `\`${name}\``

type CountRow = Readonly<Record<string, unknown>>

const countOf = (table: string): string => `SELECT count(*) AS number FROM ${table}`
const countIn = ([row]: readonly CountRow[]): number => Number(row?.['number'])

async function startPostgres(): Promise<EmptyDatabase> {
  const schema = await postgres.testSchema()
  const { host, port, user, database } = schema.address
  return {
    line: [`postgres://${user}@${host}:${port}/${database}`, '--schema', schema.name],
    run: async (...statements) => {
      for (const statement of statements) await schema.run(statement)
    },
    count: async (table) => countIn(await schema.run(countOf(quoted(table)))),
    storage: (ensureSchema = false) => postgresStorage(schema.open(3), { ensureSchema }),
    drop: schema.drop,
  }
}

async function startMysql(): Promise<EmptyDatabase> {
  const { name, address, run, open, drop } = await mysql.testDatabase()
  const { host, port, user, password } = address
  return {
    line: [`mysql://${user}:${encodeURIComponent(password)}@${host}:${port}/${name}`],
    run: async (...statements) => {
      await run(...statements)
    },
    count: async (table) => countIn(await run(countOf(inBackticks(table)))),
    storage: (ensureSchema = false) => mysqlStorage(open({ connectionLimit: 3 }), { ensureSchema }),
    drop,
  }
}

function startSqlite(folder: string): Promise<EmptyDatabase> {
  const file = join(folder, 'own.db')
  const handle = openHandle(drivers[0] as SqliteDriver, file)
  // Tests write CREATE statements with functions of other programs.
  ;(handle as { unsafeMode?(): void }).unsafeMode?.()
  return Promise.resolve({
    line: [file],
    run: async (...statements) => {
      for (const statement of statements) handle.exec(statement)
    },
    count: (table) =>
      Promise.resolve(countIn(rowsIn(handle, countOf(quoted(table))) as readonly CountRow[])),
    storage: (ensureSchema = false) => sqliteStorage(file, { ensureSchema }),
    drop: () => {
      handle.close()
      return Promise.resolve()
    },
  })
}

/** The kinds of databases, with the reason why one is missing. */
export const databaseKinds: readonly DatabaseKind[] = [
  { name: 'SQLite', missing: undefined, quoted, start: startSqlite },
  {
    ...{ name: 'PostgreSQL', missing: await postgres.missingServer(), quoted },
    start: startPostgres,
  },
  {
    ...{ name: 'MariaDB', missing: await mysql.missingServer() },
    quoted: inBackticks,
    start: startMysql,
  },
]

/** Creates an empty database that is removed after the test, or skips the test. The folder is one for files of commands. */
export async function emptyDatabase(
  kind: DatabaseKind,
  context: Pick<TestContext, 'skip'>,
): Promise<{ readonly folder: string; readonly database: EmptyDatabase }> {
  if (kind.missing !== undefined) context.skip(kind.missing)
  const folder = temporaryFolder()
  const database = await kind.start(folder)
  onTestFinished(() => database.drop())
  return { folder, database }
}

/** The collections of a definition by endpoint name. */
export type Collections = Readonly<Record<string, CollectionDefinition>>

/** Writes the definition of a database as the application `shop`, and returns its collections and the messages. */
export async function introspected(
  { line: [place, ...options] }: EmptyDatabase,
  workingFolder: string,
): Promise<{ readonly collections: Collections; readonly messages: string }> {
  const line = ['introspect', place, ...options, '--application', 'shop', '--json']
  const { code, output, messages } = await runAlone(line, { workingFolder })
  expect({ code, messages }).toEqual({ code: 0, messages: expect.any(String) as string })
  const { shop } = JSON.parse(output) as ApplicationDefinitions
  return { collections: shop?.collections ?? {}, messages }
}

/** Runs `rowgate schema` with a definition in a file. */
export function runSchema(
  work: 'diff' | 'apply',
  { line: [place, ...options] }: EmptyDatabase,
  file: string,
  ...further: readonly string[]
): Promise<Run> {
  return runAlone(['schema', work, file, '--storage', place, ...options, ...further])
}

/** What `rowgate schema diff --json` prints if there is nothing to do. */
export const nothingToDo = { changes: [], left: [], mistakes: [] }

/** Every kind of change, for `rowgate schema`. */
export const allowEverything: readonly string[] = [
  'rename',
  'rebuild',
  'drop',
  'nulls',
  'require',
].flatMap((kind) => ['--allow', kind])
