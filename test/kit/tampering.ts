import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { sqliteSchema, sqliteStorage, type SqliteDriver } from '../../src/entries/sqlite.ts'
import type { ApplicationDefinitions } from '../../src/entries/index.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'
import { drivers, openHandle } from './databases.ts'
import { missingServer, testSchema } from './postgres.ts'
import { temporaryFolder } from './storages.ts'

/** A database that another program changes while services use it. */
export interface Tampered {
  /** Opens another storage of the database. */
  open(): StorageAdapter
  /** Runs a statement of the other program. */
  run(sql: string): Promise<void>
}

/** A kind of database. */
export interface TamperedDatabase {
  readonly name: string
  /** Why its tests are skipped. */
  readonly missing: string | undefined
  /** Whether a column takes values of any type. */
  readonly isUntyped: boolean
  /** Creates an empty database, with the tables of the library that are named. */
  create(tables: ApplicationDefinitions): Promise<Tampered>
}

/** The databases that another program can change by SQL. */
export const tamperedDatabases: readonly TamperedDatabase[] = [
  {
    name: 'sqlite',
    missing: undefined,
    isUntyped: true,
    create: (tables) => {
      const file = join(temporaryFolder(), 'data.db')
      const run = (sql: string): Promise<void> => {
        const handle = openHandle(drivers[0] as SqliteDriver, file)
        try {
          handle.exec(`PRAGMA busy_timeout = 5000; PRAGMA ignore_check_constraints = 1; ${sql}`)
        } finally {
          handle.close()
        }
        return Promise.resolve()
      }
      // As an application creates them that needs no strict types.
      void run(sqliteSchema(tables).replaceAll(' STRICT', ''))
      const open = () => sqliteStorage(file, { ensureSchema: true, synchronous: 'NORMAL' })
      return Promise.resolve({ open, run })
    },
  },
  {
    name: 'postgres',
    missing: await missingServer(),
    isUntyped: false,
    create: async () => {
      const schema = await testSchema()
      onTestFinished(() => schema.drop())
      return {
        open: () => postgresStorage(schema.pool, { ensureSchema: true }),
        run: async (sql) => {
          await schema.run(sql)
        },
      }
    },
  },
]
