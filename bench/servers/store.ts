import Database from 'better-sqlite3'
import { columns, listed, type Column, type Customer } from '../customer.ts'

export type Changes = Partial<Record<Column, string | null>>

/** The statements that the hand-written servers share: prepared once, one commit a write. */
export interface Store {
  page(limit: number, offset: number): unknown[]
  /** Of the rows with an address. */
  filtered(address: string, limit: number, offset: number): unknown[]
  count(): number
  /** The first page of the rows of which one column contains the string. */
  search(needle: string, limit: number): unknown[]
  one(key: string): unknown
  insert(row: Changes): Customer
  update(key: string, changes: Changes): unknown
}

// Bound bare, the limit would make SQLite plan the statement anew at each call.
const bound = 'CAST(? AS INTEGER)'

function storeOf(db: Database.Database, table: string): Store {
  const select = `SELECT ${listed.join(', ')} FROM ${table}`
  const page = db.prepare(`${select} ORDER BY customerId LIMIT ${bound}`)
  const deep = db.prepare(`${select} ORDER BY customerId LIMIT ${bound} OFFSET ${bound}`)
  const filtered = db.prepare(
    `${select} WHERE address = ? ORDER BY customerId LIMIT ${bound} OFFSET ${bound}`,
  )
  const count = db.prepare(`SELECT count(*) FROM ${table}`).pluck()
  const matches = columns.map((name) => `instr(lower(${name}), @needle) > 0`).join(' OR ')
  const search = db.prepare(
    `${select} WHERE ${matches} ORDER BY customerId LIMIT CAST(@limit AS INTEGER)`,
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
    page: (limit, offset) => (offset > 0 ? deep.all(limit, offset) : page.all(limit)),
    filtered: (address, limit, offset) => filtered.all(address, limit, offset),
    count: () => count.get() as number,
    search: (needle, limit) => search.all({ needle: needle.toLowerCase(), limit }),
    one: (key) => one.get(key),
    insert(row) {
      const values = columns.map((name) => row[name] ?? null)
      insert.run(values)
      return Object.fromEntries(columns.map((name, index) => [name, values[index]])) as Customer
    },
    update: (key, changes) => updateOf(Object.keys(changes)).get(...Object.values(changes), key),
  }
}

export type Stores = ReadonlyMap<string, Store>

/** Opens the file in the relaxed mode: a commit survives a crash, but maybe not a power cut. */
export function openDatabase(file: string): Database.Database {
  const db = new Database(file)
  db.pragma('synchronous = NORMAL')
  return db
}

export function storesOf(db: Database.Database, tables: readonly string[]): Stores {
  return new Map(tables.map((table) => [table, storeOf(db, table)]))
}
