import { runtime } from '../../../runtime.ts'
import { quoted } from '../../sql/fragments.ts'
import { rowsOf, type Connection } from '../connection/connection.ts'
import { driverPathOf } from '../connection/open.ts'

// As the program of the thread for scans, it is a string, so that no file has to be found.
const program = `'use strict'
const getBuiltin = process.getBuiltinModule
const { driver, driverPath, file, statements } = JSON.parse(getBuiltin('node:fs').readFileSync(0, 'utf8'))
const open = () => {
  if (driver === 'node:sqlite') return new (getBuiltin('node:sqlite').DatabaseSync)(file, { readOnly: true })
  const Database = getBuiltin('node:module').createRequire(driverPath)(driverPath)
  return new Database(file, { readonly: true, timeout: 0 })
}
const isBusy = ({ code, errcode }) => errcode === undefined ? String(code).startsWith('SQLITE_BUSY') : (errcode & 255) === 5
const database = open()
for (const statement of statements) {
  try { database.prepare(statement).all() } catch (error) { if (isBusy(error)) process.exitCode = 1 }
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
 * file, or where it can't be opened or no process started, no view counts as slow.
 *
 * @param limit milliseconds for one view
 */
export async function slowViews(
  connection: Connection,
  views: readonly ReadView[],
  limit: number,
): Promise<readonly string[]> {
  const read = (some: readonly ReadView[]): Promise<Ending> => {
    const job = jobOf(connection, some)
    return job === undefined ? Promise.resolve('read') : endingOf(job, limit)
  }
  // One process is enough if none is slow.
  if ((await read(views)) === 'read') return []
  const slow: string[] = []
  for (const view of views) if ((await read([view])) === 'killed') slow.push(view.name)
  return slow
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

/**
 * Returns what the program reads from its input, which is not limited in length, unlike an argument. Undefined: nothing
 * is to be read.
 */
function jobOf(connection: Connection, views: readonly ReadView[]): string | undefined {
  const { driver } = connection
  const file = fileOf(connection)
  if (file === undefined || views.length === 0) return undefined
  // A count of each column computes its values.
  const statements = views.map(({ name, columns }) => {
    const counts = columns.map((column) => `count(${quoted(column)})`)
    return `SELECT ${counts.join(', ')} FROM ${quoted(name)}`
  })
  return JSON.stringify({ driver, driverPath: driverPathOf(driver), file, statements })
}

/** How a process ended that reads views. `failed`: the file was locked, or could not be opened. */
type Ending = 'read' | 'failed' | 'killed'

function endingOf(job: string, limit: number): Promise<Ending> {
  return new Promise((resolve) => {
    try {
      const { spawn } = process.getBuiltinModule('node:child_process')
      const child = spawn(process.execPath, ['-e', program], {
        stdio: ['pipe', 'ignore', 'ignore'],
        // Options of this process, such as modules to load first, are for its own code.
        env: { ...process.env, NODE_OPTIONS: '' },
      })
      const timer = runtime.setTimeout(() => {
        child.kill('SIGKILL')
        resolve('killed')
      }, limit)
      const ended = (ending: Ending): void => {
        runtime.clearTimeout(timer)
        resolve(ending)
      }
      child.on('error', () => ended('failed'))
      child.on('exit', (status) => ended(status === 0 ? 'read' : 'failed'))
      // It may have ended before it has read its input.
      child.stdin.on('error', () => undefined)
      child.stdin.end(job)
    } catch {
      // The permissions of this process do not include others.
      resolve('read')
    }
  })
}
