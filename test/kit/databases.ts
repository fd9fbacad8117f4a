import { mkdtempSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import type {
  BetterSqlite3Handle,
  NodeSqliteHandle,
  SqliteDriver,
  SqliteHandle,
  SqliteValue,
} from '../../src/entries/sqlite.ts'

const nodeSqlite = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as
  | {
      DatabaseSync: new (file: string, options?: { readonly readOnly: boolean }) => NodeSqliteHandle
    }
  | undefined

function hasBetterSqlite3(): boolean {
  // Version 12 aborts the process on Node 24.
  if (process.versions.node.startsWith('24.')) return false
  try {
    openHandle('better-sqlite3', ':memory:').close()
    return true
  } catch {
    return false
  }
}

/** The drivers that this version of Node supports. */
export const drivers: readonly SqliteDriver[] = [
  ...(hasBetterSqlite3() ? (['better-sqlite3'] as const) : []),
  ...(nodeSqlite === undefined ? [] : (['node:sqlite'] as const)),
]

/** Opens a handle as an application does. */
export function openHandle(driver: SqliteDriver, file: string, readonly = false): SqliteHandle {
  if (driver === 'better-sqlite3') {
    const Database = createRequire(import.meta.url)('better-sqlite3') as new (
      file: string,
      options: { readonly readonly: boolean },
    ) => Database
    return new Database(file, { readonly })
  }
  if (nodeSqlite === undefined) throw new Error('this Node has no node:sqlite')
  return new nodeSqlite.DatabaseSync(file, { readOnly: readonly })
}

/** A directory for the files of one test. */
export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'rowgate-'))
}

/** Rows of a query on a handle, as objects. */
export function rowsIn(handle: SqliteHandle, sql: string, ...values: SqliteValue[]): unknown[] {
  return (handle as NodeSqliteHandle).prepare(sql).all(...values)
}

/** Returns a handle that adds each command of a transaction to a list before it runs. */
export function observed(handle: SqliteHandle, commands: string[]): SqliteHandle {
  const prepare = (sql: string): unknown => {
    const statement = (handle as BetterSqlite3Handle).prepare(sql)
    if (!/^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)/.test(sql)) return statement
    return {
      run() {
        commands.push(sql)
        return statement.run()
      },
    }
  }
  return new Proxy(handle, {
    get(target, name) {
      if (name === 'prepare') return prepare
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
