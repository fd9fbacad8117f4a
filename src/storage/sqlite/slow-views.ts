import type { ChildProcess } from 'node:child_process'
import { quoted } from '../sql/fragments.ts'
import { rowsOf, type Connection } from './connection.ts'
import { driverPathOf } from './open.ts'

// As the program of the thread for scans, it is a string, so that no file has to be found.
const program = `'use strict'
const { driver, driverPath, file, statements } = JSON.parse(process.argv.at(-1))
const getBuiltin = process.getBuiltinModule
const open = () => {
  if (driver === 'node:sqlite') return new (getBuiltin('node:sqlite').DatabaseSync)(file, { readOnly: true })
  const Database = getBuiltin('node:module').createRequire(driverPath)(driverPath)
  return new Database(file, { readonly: true })
}
const database = open()
for (const statement of statements) {
  try { database.prepare(statement).all() } catch {}
}
`

/** A view and the names of its columns. */
export interface ReadView {
  readonly name: string
  readonly columns: readonly string[]
}

/**
 * Resolves to the names of the views that can't be read in time. Neither driver can interrupt a statement, and a thread
 * ends after its statement only. So another process reads the views first, and is killed if it takes longer. Without a
 * file, or where processes can't be started, no view counts as slow.
 *
 * @param limit milliseconds for one view
 */
export async function slowViews(
  connection: Connection,
  views: readonly ReadView[],
  limit: number,
): Promise<readonly string[]> {
  const ends = (some: readonly ReadView[]): Promise<boolean> => {
    const line = commandLine(connection, some)
    if (line === undefined) return Promise.resolve(true)
    const { spawn } = process.getBuiltinModule('node:child_process')
    return endsWithin(limit, () => spawn(process.execPath, line, options()))
  }
  // One process is enough if none is slow.
  if (await ends(views)) return []
  const slow: string[] = []
  for (const view of views) if (!(await ends([view]))) slow.push(view.name)
  return slow
}

/** Returns what {@link slowViews} resolves to. It blocks the event loop. */
export function slowViewsNow(
  connection: Connection,
  views: readonly ReadView[],
  limit: number,
): readonly string[] {
  const ends = (some: readonly ReadView[]): boolean => {
    const line = commandLine(connection, some)
    if (line === undefined) return true
    const { spawnSync } = process.getBuiltinModule('node:child_process')
    const ending = { timeout: limit, killSignal: 'SIGKILL' } as const
    try {
      return spawnSync(process.execPath, line, { ...options(), ...ending }).signal !== 'SIGKILL'
    } catch {
      return true
    }
  }
  if (ends(views)) return []
  return views.filter((view) => !ends([view])).map(({ name }) => name)
}

/** Returns why a slow view is not read. */
export function slowReason(limit: number): string {
  return `it takes longer than ${limit} ms`
}

/** Returns the absolute path of the database. Undefined if it has no file. */
export function fileOf(connection: Connection): string | undefined {
  const [, , file] = rowsOf(connection, 'PRAGMA database_list')[0] ?? []
  return typeof file === 'string' && file !== '' ? file : undefined
}

function commandLine(
  connection: Connection,
  views: readonly ReadView[],
): readonly string[] | undefined {
  const { driver } = connection
  const file = fileOf(connection)
  if (file === undefined || views.length === 0) return undefined
  // A count of each column computes its values.
  const statements = views.map(({ name, columns }) => {
    const counts = columns.map((column) => `count(${quoted(column)})`)
    return `SELECT ${counts.join(', ')} FROM ${quoted(name)}`
  })
  const given = { driver, driverPath: driverPathOf(driver), file, statements }
  return ['-e', program, JSON.stringify(given)]
}

// Options of the process, such as modules to load first, are for its own code.
function options() {
  return { stdio: 'ignore', env: { ...process.env, NODE_OPTIONS: '' } } as const
}

/** Resolves to false if a process has not ended in time. It is killed then. An error ends it, too. */
function endsWithin(milliseconds: number, start: () => ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    try {
      const child = start()
      const timer = setTimeout(() => {
        child.kill('SIGKILL')
        resolve(false)
      }, milliseconds)
      const ended = (): void => {
        clearTimeout(timer)
        resolve(true)
      }
      child.on('error', ended).on('exit', ended)
    } catch {
      // The permissions of this process do not include others.
      resolve(true)
    }
  })
}
