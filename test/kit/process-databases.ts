import { join } from 'node:path'
import { address as mysqlAddress, missingServer as missingMariaDb, testDatabase } from './mysql.ts'
import { address, missingServer as missingPostgres, testSchema } from './postgres.ts'
import type { ProcessDatabase } from './process-storage.ts'

/** A database of a test whose programs open it. */
export interface Place {
  readonly order: ProcessDatabase
  readonly drop: () => Promise<void>
}

/** The databases that several processes can open: their names, why they are missing, and how they are created. */
export const places: readonly (readonly [
  string,
  string | undefined,
  (folder: () => string) => Promise<Place>,
])[] = [
  [
    'SQLite',
    undefined,
    async (folder) => {
      const file = join(folder(), 'data.db')
      return { order: { kind: 'sqlite', file }, drop: async () => undefined }
    },
  ],
  [
    'PostgreSQL',
    await missingPostgres(),
    async () => {
      const { name, drop } = await testSchema()
      return { order: { kind: 'postgres', address, schema: name }, drop }
    },
  ],
  [
    'MariaDB',
    await missingMariaDb(),
    async () => {
      const { name, drop } = await testDatabase()
      return { order: { kind: 'mariadb', address: mysqlAddress, database: name }, drop }
    },
  ],
]
