import Database from 'better-sqlite3'
import { columns, customer, indexed, required, type Customer } from './customer.ts'

/** The tables of a database, and how many rows each starts with. */
export type Tables = Readonly<Record<string, number>>

export const salesTables = { customers: 91, clients: 1000 } as const satisfies Tables

/** The number of rows of the table with this name, whose addresses have an index on every database. */
export const members = 2_000
export const poolTables: Tables = { ...salesTables, members }

/** The table whose rows have a key and a company name only, so that a million of them stay small. */
export const archive = 'archive'

function columnSql(name: (typeof columns)[number]): string {
  const mandatory = (required as readonly string[]).includes(name) ? ' NOT NULL' : ''
  const key = name === 'customerId' ? ' PRIMARY KEY' : ''
  return `${name} TEXT${mandatory}${key}`
}

/** Returns a row of a table; the first has the index 1. */
export function rowOf(table: string, index: number): Customer {
  const row = customer(index)
  if (table !== archive) return row
  const empty = Object.fromEntries(columns.map((name) => [name, null]))
  return { ...empty, customerId: row.customerId, companyName: row.companyName } as Customer
}

/** Returns the rows that a table starts with, in the order of their keys. */
export function rowsOf(table: string, count: number): Customer[] {
  return Array.from({ length: count }, (_, index) => rowOf(table, index + 1))
}

/** Writes a new database file in write-ahead-log mode; each server opens a copy of its own. */
export function createDatabase(file: string, tables: Tables): void {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.transaction(() => {
    for (const [table, count] of Object.entries(tables)) {
      db.exec(`CREATE TABLE ${table} (${columns.map(columnSql).join(', ')})`)
      const values = columns.map((name) => `@${name}`).join(', ')
      const insert = db.prepare(`INSERT INTO ${table} VALUES (${values})`)
      for (let index = 1; index <= count; index++) insert.run(rowOf(table, index))
      if (table !== 'members') continue
      for (const column of indexed)
        db.exec(`CREATE INDEX ${table}_${column}_index ON ${table} (${column})`)
    }
  })()
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
}
