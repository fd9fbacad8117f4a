export { sqliteStorage, sqliteSchema } from '../storage/sqlite/sqlite.ts'
export type {
  BetterSqlite3Handle,
  BetterSqlite3Statement,
} from '../storage/sqlite/connection/better-sqlite3.ts'
export type { SqliteDriver, SqliteValue } from '../storage/sqlite/connection/connection.ts'
export type {
  NodeSqliteHandle,
  NodeSqliteStatement,
} from '../storage/sqlite/connection/node-sqlite.ts'
export type { SqliteHandle } from '../storage/sqlite/connection/open.ts'
export type { SqliteFunction, SqliteOptions } from '../storage/sqlite/connection/options.ts'
