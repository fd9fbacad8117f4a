import { join } from 'node:path'
import { Pool } from 'pg'
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

/** Where a database is, and how a service reaches it. */
export interface DatabasePlace {
  /** What a command line names it with: a file or URL, and options. */
  readonly line: readonly [place: string, ...options: readonly string[]]
  /** Opens a storage. `ensureSchema`: what it creates at the start. Default: nothing. */
  storage(ensureSchema?: false | 'columns'): StorageAdapter
}

/** An empty database in which tests create tables with SQL. */
export interface EmptyDatabase extends DatabasePlace {
  /** Runs statements, one after another. Returns the rows of the last one. */
  run(...statements: readonly string[]): Promise<readonly Row[]>
  /** Returns the number of rows of a table. */
  count(table: string): Promise<number>
  /** Creates a role, and grants it rights, such as `select on things`. SQLite has no roles. */
  role?(...grants: readonly string[]): Promise<string>
  /** Returns how a role reaches the database. Default: the user of the tests. */
  as(role?: string): DatabasePlace
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

type Row = Readonly<Record<string, unknown>>

const countOf = (table: string): string => `SELECT count(*) AS number FROM ${table}`
const countIn = ([row]: readonly Row[]): number => Number(row?.['number'])

async function startPostgres(): Promise<EmptyDatabase> {
  const schema = await postgres.testSchema()
  const { host, port, user: own, database } = schema.address
  const pools: Pool[] = []
  const roles: string[] = []
  const as = (user = own): DatabasePlace => ({
    line: [`postgres://${user}@${host}:${port}/${database}`, '--schema', schema.name],
    storage(ensureSchema = false) {
      const options = `-c search_path=${schema.name}`
      const pool = new Pool({ ...schema.address, user, options, max: 3 })
      pools.push(pool)
      return postgresStorage(pool, { ensureSchema })
    },
  })
  return {
    ...as(),
    as,
    async run(...statements) {
      let rows: readonly Row[] = []
      for (const statement of statements) rows = await schema.run(statement)
      return rows
    },
    count: async (table) => countIn(await schema.run(countOf(quoted(table)))),
    async role(...grants) {
      const role = `${schema.name}_${roles.length}`
      await schema.run(`create role ${role} login`)
      roles.push(role)
      for (const grant of [`usage on schema ${schema.name}`, ...grants])
        await schema.run(`grant ${grant} to ${role}`)
      return role
    },
    async drop() {
      for (const pool of pools) await pool.end()
      for (const role of roles) await schema.run(`drop owned by ${role}; drop role ${role}`)
      await schema.drop()
    },
  }
}

async function startMysql(): Promise<EmptyDatabase> {
  const database = await mysql.testDatabase()
  const { host, port, user: own, password } = database.address
  const roles: string[] = []
  const as = (user = own): DatabasePlace => {
    const secret = user === own ? password : ''
    return {
      line: [`mysql://${user}:${encodeURIComponent(secret)}@${host}:${port}/${database.name}`],
      storage: (ensureSchema = false) =>
        mysqlStorage(database.open({ user, password: secret, connectionLimit: 3 }), {
          ensureSchema,
        }),
    }
  }
  return {
    ...as(),
    as,
    run: database.run,
    count: async (table) => countIn(await database.run(countOf(inBackticks(table)))),
    async role(...grants) {
      const role = `${database.name}_${roles.length}`
      await database.run(`create user ${role}`)
      roles.push(role)
      for (const grant of grants) await database.run(`grant ${grant} to ${role}`)
      return role
    },
    async drop() {
      for (const role of roles) await database.run(`drop user ${role}`)
      await database.drop()
    },
  }
}

function startSqlite(folder: string): Promise<EmptyDatabase> {
  const file = join(folder, 'own.db')
  const handle = openHandle(drivers[0] as SqliteDriver, file)
  // Tests write CREATE statements with functions of other programs.
  ;(handle as { unsafeMode?(): void }).unsafeMode?.()
  const place: DatabasePlace = {
    line: [file],
    storage: (ensureSchema = false) => sqliteStorage(file, { ensureSchema }),
  }
  const rowsOf = (statement: string): readonly Row[] => rowsIn(handle, statement) as readonly Row[]
  return Promise.resolve({
    ...place,
    as: () => place,
    run: async (...statements) => {
      const last = statements.at(-1) ?? ''
      const isRead = /^select/i.test(last)
      for (const statement of isRead ? statements.slice(0, -1) : statements) handle.exec(statement)
      return isRead ? rowsOf(last) : []
    },
    count: (table) => Promise.resolve(countIn(rowsOf(countOf(quoted(table))))),
    drop() {
      handle.close()
      return Promise.resolve()
    },
  })
}

/** The kinds of databases by name, with the reason why one is missing. */
export const databases: Readonly<Record<DatabaseKind['name'], DatabaseKind>> = {
  SQLite: { name: 'SQLite', missing: undefined, quoted, start: startSqlite },
  PostgreSQL: {
    ...{ name: 'PostgreSQL', missing: await postgres.missingServer(), quoted },
    start: startPostgres,
  },
  MariaDB: {
    ...{ name: 'MariaDB', missing: await mysql.missingServer() },
    quoted: inBackticks,
    start: startMysql,
  },
}

/** The kinds of databases. */
export const databaseKinds: readonly DatabaseKind[] = Object.values(databases)

/** Creates an empty database that is removed after the test. */
export async function openDatabase(
  kind: DatabaseKind,
  folder = temporaryFolder(),
): Promise<EmptyDatabase> {
  const database = await kind.start(folder)
  onTestFinished(() => database.drop())
  return database
}

/** Creates an empty database that is removed after the test, or skips the test. The folder is one for files of commands. */
export async function emptyDatabase(
  kind: DatabaseKind,
  context: Pick<TestContext, 'skip'>,
): Promise<{ readonly folder: string; readonly database: EmptyDatabase }> {
  if (kind.missing !== undefined) context.skip(kind.missing)
  const folder = temporaryFolder()
  return { folder, database: await openDatabase(kind, folder) }
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
