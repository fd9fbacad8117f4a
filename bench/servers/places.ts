import Database from 'better-sqlite3'
import { createPool, type RowDataPacket } from 'mysql2/promise'
import { Pool } from 'pg'
import { mysqlStorage } from 'rowgate/mysql'
import { postgresStorage } from 'rowgate/postgres'
import { sqliteStorage } from 'rowgate/sqlite'
import type { StorageAdapter } from 'rowgate/storage'
import type { Kind } from '../database-time.ts'

/** A database, as a program of the bench uses it. */
export interface Place {
  storage(): StorageAdapter
  /** Runs a statement and returns its rows. Its parameters are `?`, in PostgreSQL `$1`. */
  run(text: string, values?: readonly (string | number)[]): Promise<readonly unknown[][]>
  /** Returns a table of the numbers from 1 on, as `s` with the column `n`. */
  numbers(count: number): string
  quoted(name: string): string
  close(): Promise<void>
}

const limits = { statementTimeout: 600_000, ensureSchema: true } as const

function sqlitePlace(place: string): Place {
  const storage = sqliteStorage(place, { ensureSchema: true, synchronous: 'NORMAL' })
  const db = new Database(place)
  const prepared = new Map<string, Database.Statement>()
  return {
    storage: () => storage,
    run(text, values = []) {
      const statement = prepared.get(text) ?? db.prepare(text)
      prepared.set(text, statement)
      if (statement.reader) return Promise.resolve(statement.raw().all(...values) as unknown[][])
      statement.run(...values)
      return Promise.resolve([])
    },
    numbers: (count) =>
      `(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${count}) select n from s) as s`,
    quoted: (name) => `"${name}"`,
    close: async () => void (await Promise.resolve(db.close())),
  }
}

function postgresPlace(place: string): Place {
  const pool = new Pool({ connectionString: place, max: 4, connectionTimeoutMillis: 5_000 })
  const names = new Map<string, string>()
  return {
    storage: () => postgresStorage(pool, limits),
    async run(text, values) {
      const name = names.get(text) ?? `own ${names.size}`
      names.set(text, name)
      const given = values && { name, values: [...values] }
      const { rows } = await pool.query<unknown[]>({ text, rowMode: 'array', ...given })
      return rows
    },
    numbers: (count) => `generate_series(1, ${count}) as s(n)`,
    quoted: (name) => `"${name}"`,
    close: () => pool.end(),
  }
}

function mysqlPlace(place: string): Place {
  // Without jsonStrings, the driver parses what JSON functions return.
  const pool = createPool({
    uri: place,
    connectionLimit: 4,
    connectTimeout: 5_000,
    jsonStrings: true,
  })
  return {
    storage: () => mysqlStorage(pool, limits),
    async run(text, values) {
      const [rows] = values
        ? await pool.execute<RowDataPacket[][]>({ sql: text, rowsAsArray: true }, [...values])
        : await pool.query<RowDataPacket[][]>({ sql: text, rowsAsArray: true })
      return Array.isArray(rows) ? rows : []
    },
    numbers: (count) => `(select seq as n from seq_1_to_${count}) as s`,
    quoted: (name) => `\`${name}\``,
    close: () => pool.end(),
  }
}

/** Opens a database by its URL or file. */
export function openPlace(kind: Kind, place: string): Place {
  return { sqlite: sqlitePlace, postgres: postgresPlace, mysql: mysqlPlace }[kind](place)
}

/** Returns the statements after which a database knows its rows. */
export function analyzed(kind: Kind, tables: readonly string[]): readonly string[] {
  if (kind === 'sqlite') return ['analyze']
  return tables.map((table) =>
    kind === 'postgres' ? `vacuum analyze "${table}"` : `analyze table \`${table}\``,
  )
}
