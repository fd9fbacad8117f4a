export { sqliteStorage, sqliteSchema } from '../storage/sqlite.ts'
export type {
  BetterSqlite3Handle,
  BetterSqlite3Statement,
} from '../storage/sqlite/better-sqlite3.ts'
export type { SqliteDriver, SqliteValue } from '../storage/sqlite/connection.ts'
export type { NodeSqliteHandle, NodeSqliteStatement } from '../storage/sqlite/node-sqlite.ts'
export type { SqliteHandle } from '../storage/sqlite/open.ts'
export type { SqliteFunction, SqliteOptions } from '../storage/sqlite/options.ts'
