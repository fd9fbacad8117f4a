import { writeSync } from 'node:fs'
import { queryOf } from '../../../src/conformance/case.ts'
import { publishCollection } from '../../../src/definition/published.ts'
import { sqliteStorage, type SqliteDriver } from '../../../src/entries/sqlite.ts'

/** What the process does. */
export interface ScanOrder {
  readonly path: string
  readonly driver: SqliteDriver
  /** `search`: awaits a search of `table`. `exit`: ends the process during it. */
  readonly task: 'search' | 'exit'
  readonly table: string
}

// Reads without closing the storage. Nothing else keeps the process running.
const { path, driver, task, table } = JSON.parse(process.argv[2] ?? '') as ScanOrder
const collection = publishCollection('app', table, {
  key: 'id',
  fields: { id: { type: 'integer' }, name: { type: 'text' } },
  publishes: ['Filter'],
})
const storage = sqliteStorage(path, { driver, scanRows: 0 })
await storage.open([collection])
const query = queryOf(collection, { search: { fields: ['name'], text: 'note' } })
const page = storage.filter(collection, query)
if (task === 'search') writeSync(1, `found ${(await page).rows.length}\n`)
// The thread has started by then.
else setTimeout(() => process.exit(7), 300)
