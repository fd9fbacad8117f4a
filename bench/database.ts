import Database from 'better-sqlite3'
import { columns, customers, required, type Customer } from './customer.ts'

/** The tables of every server's database, and how many rows each starts with. */
export const tables = { customers: 91, clients: 1000 } as const

export type Table = keyof typeof tables

function columnSql(name: (typeof columns)[number]): string {
  const mandatory = (required as readonly string[]).includes(name) ? ' NOT NULL' : ''
  const key = name === 'customerId' ? ' PRIMARY KEY' : ''
  return `${name} TEXT${mandatory}${key}`
}

function fill(db: Database.Database, table: string, rows: Customer[]): void {
  const insert = db.prepare(
    `INSERT INTO ${table} VALUES (${columns.map((name) => `@${name}`).join(', ')})`,
  )
  db.transaction(() => rows.forEach((row) => insert.run(row)))()
}

/** Writes a new database file in write-ahead-log mode; each server opens its own. */
export function createDatabase(file: string): void {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  for (const [table, count] of Object.entries(tables)) {
    db.exec(`CREATE TABLE ${table} (${columns.map(columnSql).join(', ')})`)
    fill(db, table, customers(count))
  }
  db.close()
}
