import { mysqlStorage } from '../../src/entries/mysql.ts'
import { postgresStorage } from '../../src/entries/postgres.ts'
import { sqliteStorage } from '../../src/entries/sqlite.ts'
import type { StorageAdapter } from '../../src/entries/storage.ts'

/** A database that several processes open. */
export type ProcessDatabase =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly address: object; readonly schema: string }
  | { readonly kind: 'mariadb'; readonly address: object; readonly database: string }

/** Opens the database of a process, with few connections. */
export async function storageOf(given: ProcessDatabase): Promise<StorageAdapter> {
  if (given.kind === 'sqlite') {
    // Other tests may keep the machine busy.
    const wait = 20_000
    return sqliteStorage(given.file, { ensureSchema: true, busyTimeout: wait, lockTimeout: wait })
  }
  if (given.kind === 'postgres') {
    const { Pool } = await import('pg')
    const options = `-c search_path=${given.schema}`
    return postgresStorage(new Pool({ ...given.address, options, max: 4 }), { ensureSchema: true })
  }
  const { createPool } = (await import('mysql2/promise')).default
  const pool = createPool({ ...given.address, database: given.database, connectionLimit: 4 })
  return mysqlStorage(pool, { ensureSchema: true })
}
