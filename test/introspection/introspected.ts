import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPool } from 'mysql2/promise'
import { Pool } from 'pg'
import { expect, onTestFinished } from 'vitest'
import { createTestClient, type TestClient } from '../../src/entries/testing.ts'
import {
  createService,
  openAccess,
  type ApplicationDefinitions,
  type Observation,
} from '../../src/entries/index.ts'
import type { CollectionDefinition } from '../../src/definition/collection.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { mysqlStorage } from '../../src/entries/mysql.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import { runAlone } from '../cli/command-line.ts'
import { drivers, openHandle, rowsIn } from '../kit/databases.ts'
import { missingServer as missingMariaDb, testDatabase } from '../kit/mysql.ts'
import { missingServer as missingPostgres, testSchema } from '../kit/postgres.ts'
import { temporaryFolder } from '../kit/storages.ts'

/** A database whose tables a test creates. */
export interface OwnTables {
  /** Runs statements, one after another. Returns the rows of the last one. */
  run(...statements: readonly string[]): Promise<readonly unknown[]>
  /** Creates a role, and grants it rights, such as `select on things`. SQLite has no roles. */
  role?(...grants: readonly string[]): Promise<string>
  /** What the command line is given to reach the database as a role. */
  line(role?: string): readonly string[]
  /** Opens a storage that reaches the database as a role. */
  storage(role?: string): StorageAdapter
}

/** The kinds of databases, with why their tests are skipped. */
export const databases = {
  SQLite: {
    missing: undefined as string | undefined,
    async open(): Promise<OwnTables> {
      const file = join(temporaryFolder(), 'app.db')
      const [driver] = drivers
      if (driver === undefined) throw new Error('There is no driver of SQLite.')
      return {
        async run(...statements) {
          const handle = openHandle(driver, file)
          try {
            const last = statements.at(-1) ?? ''
            for (const each of statements.slice(0, -1)) handle.exec(each)
            if (/^select/i.test(last)) return rowsIn(handle, last)
            handle.exec(last)
            return []
          } finally {
            handle.close()
          }
        },
        line: () => [file],
        storage: () => sqliteStorage(file),
      }
    },
  },
  PostgreSQL: {
    missing: await missingPostgres(),
    async open(): Promise<OwnTables> {
      const schema = await testSchema()
      const pools: Pool[] = []
      onTestFinished(async () => {
        for (const pool of pools) await pool.end()
        for (const role of roles) await schema.run(`drop owned by ${role}; drop role ${role}`)
        await schema.drop()
      })
      const roles: string[] = []
      const { host, port, database } = schema.address
      return {
        async run(...statements) {
          let rows: readonly unknown[] = []
          for (const each of statements) rows = await schema.run(each)
          return rows
        },
        async role(...grants) {
          const role = `${schema.name}_${roles.length}`
          const all = [`usage on schema ${schema.name}`, ...grants]
          await schema.run(`create role ${role} login`)
          roles.push(role)
          for (const grant of all) await schema.run(`grant ${grant} to ${role}`)
          return role
        },
        line: (role = schema.address.user) => [
          `postgres://${role}@${host}:${port}/${database}`,
          '--schema',
          schema.name,
        ],
        storage(user = schema.address.user) {
          const options = `-c search_path=${schema.name}`
          const pool = new Pool({ ...schema.address, user, options, max: 3 })
          pools.push(pool)
          return postgresStorage(pool)
        },
      }
    },
  },
  MariaDB: {
    missing: await missingMariaDb(),
    async open(): Promise<OwnTables> {
      const database = await testDatabase()
      const pools: { end(): Promise<void> }[] = []
      onTestFinished(async () => {
        for (const pool of pools) await pool.end()
        for (const role of roles) await database.run(`drop user ${role}`)
        await database.drop()
      })
      const roles: string[] = []
      const { host, port, user: own, password } = database.address
      const of = (role: string): string => (role === own ? password : '')
      return {
        run: database.run,
        async role(...grants) {
          const role = `${database.name}_${roles.length}`
          await database.run(`create user ${role}`)
          roles.push(role)
          for (const grant of grants) await database.run(`grant ${grant} to ${role}`)
          return role
        },
        line: (role = own) => [
          `mysql://${role}:${encodeURIComponent(of(role))}@${host}:${port}/${database.name}`,
        ],
        storage(user = own) {
          const { name } = database
          const settings = { ...database.address, user, password: of(user), database: name }
          const pool = createPool({ ...settings, connectionLimit: 3 })
          pools.push(pool)
          return mysqlStorage(pool)
        },
      }
    },
  },
}

/** A database that was described and is served. */
export interface IntrospectedDatabase {
  /** What the command wrote to standard error. */
  readonly messages: string
  readonly collections: Readonly<Record<string, CollectionDefinition>>
  /** Sends requests to the application `app`. */
  readonly client: TestClient
  readonly service: ReturnType<typeof createService>
  readonly reports: readonly Observation[]
}

/**
 * Runs `rowgate introspect` on a database as a role, and serves what it has written as the same role.
 *
 * @param servedAs the role that serves it, if it is another one
 */
export async function introspected(
  on: OwnTables,
  role?: string,
  servedAs = role,
): Promise<IntrospectedDatabase> {
  const workingFolder = temporaryFolder()
  const line = [...on.line(role), '--application', 'app', '--out', 'app.json']
  const { code, messages } = await runAlone(['introspect', ...line], { workingFolder })
  expect({ code, messages }).toEqual({ code: 0, messages: expect.any(String) as string })
  const text = readFileSync(join(workingFolder, 'app.json'), 'utf8')
  const applications = JSON.parse(text) as ApplicationDefinitions
  const reports: Observation[] = []
  const service = createService({
    applications,
    storage: on.storage(servedAs),
    security: openAccess(),
    report: (observation) => void reports.push(observation),
  })
  onTestFinished(() => service.close())
  await service.ready()
  expect(await service.inspect()).toEqual([])
  const { collections = {} } = applications['app'] ?? {}
  return { messages, collections, client: createTestClient(service), service, reports }
}
