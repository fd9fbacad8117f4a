import type { SqliteDriver } from './connection.ts'

/** Options of `sqliteStorage`. */
export interface SqliteOptions {
  /**
   * `true`: missing tables are created at start. `columns`: and missing columns are added to those that
   * are there, which releases before this one never notice. Nothing else is ever changed. Default false.
   */
  readonly ensureSchema?: boolean | 'columns'
  /**
   * `FULL`: an answered change survives a power cut. `NORMAL`: the last changes may be lost by one, the
   * file stays whole. Default FULL; a handle keeps its own setting unless this is given.
   */
  readonly synchronous?: 'FULL' | 'NORMAL'
  /**
   * Milliseconds that a call waits for a lock which another connection or process holds, before it
   * is answered with 503. The event loop goes on meanwhile. Default 250.
   */
  readonly busyTimeout?: number
  /** The driver that opens a file. Default: `node:sqlite` where Node has it, else better-sqlite3. */
  readonly driver?: SqliteDriver
}

const checks: Readonly<
  Record<keyof SqliteOptions, readonly [string, (value: unknown) => boolean]>
> = {
  ensureSchema: [
    "true, false or 'columns'",
    (value) => typeof value === 'boolean' || value === 'columns',
  ],
  synchronous: ["'FULL' or 'NORMAL'", (value) => value === 'FULL' || value === 'NORMAL'],
  busyTimeout: [
    'a whole number of milliseconds from 0 to 60000',
    (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 60_000,
  ],
  driver: [
    "'better-sqlite3' or 'node:sqlite'",
    (value) => value === 'better-sqlite3' || value === 'node:sqlite',
  ],
}

/** Throws a TypeError for an option that is unknown or wrong. */
export function checkOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError('sqliteStorage: the options must be an object')
  }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(checks, name)) {
      const known = Object.keys(checks).join(', ')
      throw new TypeError(`sqliteStorage: there is no option ${name}; there are ${known}`)
    }
    const [mustBe, accepts] = checks[name as keyof SqliteOptions]
    if (value !== undefined && !accepts(value)) {
      throw new TypeError(`sqliteStorage: the option ${name} must be ${mustBe}`)
    }
  }
}
