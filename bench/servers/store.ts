import Database from 'better-sqlite3'
import { columns, listed, type Column, type Customer } from '../customer.ts'
import type { Table } from '../database.ts'

export type Changes = Partial<Record<Column, string | null>>

/** The statements that the hand-written servers share: prepared once, one commit a write. */
export interface Store {
  page(limit: number): unknown[]
  one(key: string): unknown
  insert(row: Changes): Customer
  update(key: string, changes: Changes): unknown
}

function storeOf(db: Database.Database, table: Table): Store {
  const limit = process.env['PAGE_LIMIT'] ?? '?'
  const page = db.prepare(
    `SELECT ${listed.join(', ')} FROM ${table} ORDER BY customerId LIMIT ${limit}`,
  )
  const one = db.prepare(`SELECT ${columns.join(', ')} FROM ${table} WHERE customerId = ?`)
  const insert = db.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  const updates = new Map<string, Database.Statement>()

  function updateOf(names: string[]): Database.Statement {
    const shape = names.join()
    const known = updates.get(shape)
    if (known) return known
    const statement = db.prepare(
      `UPDATE ${table} SET ${names.map((name) => `${name} = ?`).join(', ')}
       WHERE customerId = ? RETURNING ${columns.join(', ')}`,
    )
    updates.set(shape, statement)
    return statement
  }

  return {
    page: (limit) => page.all(limit),
    one: (key) => one.get(key),
    insert(row) {
      const values = columns.map((name) => row[name] ?? null)
      insert.run(values)
      return Object.fromEntries(columns.map((name, index) => [name, values[index]])) as Customer
    },
    update: (key, changes) => updateOf(Object.keys(changes)).get(...Object.values(changes), key),
  }
}

export type Stores = Record<Table, Store>

/** Opens the file in the relaxed mode: a commit survives a crash, but maybe not a power cut. */
export function openDatabase(file: string): Database.Database {
  const db = new Database(file)
  db.pragma('synchronous = NORMAL')
  return db
}

export function storesOf(db: Database.Database): Stores {
  return { customers: storeOf(db, 'customers'), clients: storeOf(db, 'clients') }
}
