import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../.ci/entries.ts'
import { drivers, openHandle, rowsIn } from '../kit/databases.ts'
import type { SqliteDriver } from '../../src/entries/sqlite.ts'

/** Runs SQL on a file without this library: with the program sqlite3 if there is one, else with a driver. */
export interface ForeignTool {
  readonly name: string
  execute(file: string, script: string): void
  /** Returns the first column of each row, parsed as JSON. */
  query(file: string, sql: string): readonly unknown[]
}

const program: ForeignTool = {
  name: 'sqlite3',
  execute: (file, script) => void execFileSync('sqlite3', ['-bail', file], { input: script }),
  query: (file, sql) =>
    execFileSync('sqlite3', ['-readonly', file, sql], { encoding: 'utf8', stdio: 'pipe' })
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown),
}

const driver: ForeignTool = {
  name: 'driver',
  execute(file, script) {
    const handle = openHandle(drivers[0] as SqliteDriver, file)
    handle.exec(script)
    handle.close()
  },
  query(file, sql) {
    const handle = openHandle(drivers[0] as SqliteDriver, file)
    const rows = rowsIn(handle, sql) as readonly Record<string, string>[]
    handle.close()
    return rows.map((row) => JSON.parse(Object.values(row)[0] ?? '') as unknown)
  },
}

function hasProgram(): boolean {
  try {
    // The scripts use STRICT tables.
    return /^3\.(3[7-9]|[4-9]\d)\./.test(
      execFileSync('sqlite3', ['--version'], { encoding: 'utf8' }),
    )
  } catch {
    return false
  }
}

/** The tool of this machine. */
export const foreignTool = hasProgram() ? program : driver

/** The SQL scripts of the test databases, by name. */
export type DatabaseName = 'shop' | 'forum' | 'odd' | 'frameworks'

/** Creates a database by its script. */
export function createDatabase(name: DatabaseName, file: string, tool = foreignTool): void {
  tool.execute(file, readFileSync(join(root, `test/introspection/databases/${name}.sql`), 'utf8'))
}
