import { readFileSync } from 'node:fs'
import { createConnection } from 'mysql2/promise'
import { Client } from 'pg'

/** The databases that a figure is measured on. */
export const kinds = ['sqlite', 'postgres', 'mysql'] as const
export type Kind = (typeof kinds)[number]

export const databaseNames: Readonly<Record<Kind, string>> = {
  sqlite: 'SQLite',
  postgres: 'PostgreSQL',
  mysql: 'MariaDB',
}

/** Reads the processor time of what serves the connections of a program. */
export interface DatabaseTime {
  /** Returns microseconds; 0 for SQLite, which runs in the program, and NaN for a server of another machine. */
  microseconds(): Promise<number>
  close(): Promise<void>
}

const ticksPerSecond = 100

/** Returns the microseconds that processes or threads have used, by their folders in /proc. */
function usedBy(folders: readonly string[]): number {
  if (folders.length === 0) return NaN
  return folders.reduce((sum, folder) => {
    try {
      const text = readFileSync(`${folder}/stat`, 'utf8')
      // The name in parentheses may have blanks.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      return sum + ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1e6
    } catch {
      return NaN
    }
  }, 0)
}

async function postgresTime(place: string): Promise<DatabaseTime> {
  const client = new Client({ connectionString: place })
  await client.connect()
  const text =
    'select pid from pg_stat_activity where application_name = current_setting($1) and pid <> pg_backend_pid()'
  return {
    async microseconds() {
      const { rows } = await client.query<{ pid: number }>(text, ['application_name'])
      return usedBy(rows.map(({ pid }) => `/proc/${pid}`))
    },
    close: () => client.end(),
  }
}

async function mysqlTime(place: string): Promise<DatabaseTime> {
  const connection = await createConnection(place)
  const [[file] = []] = await connection.query<never[]>('select @@pid_file as name')
  let server = ''
  try {
    server = readFileSync((file as unknown as { name: string }).name, 'utf8').trim()
  } catch {
    // The file is on another machine, or not for this user.
  }
  return {
    async microseconds() {
      const [threads] = await connection.query<never[]>(
        'select tid from information_schema.processlist where db = database() and id <> connection_id()',
      )
      const all = threads as unknown as readonly { tid: number }[]
      return usedBy(server === '' ? [] : all.map(({ tid }) => `/proc/${server}/task/${tid}`))
    },
    close: () => connection.end(),
  }
}

const none: DatabaseTime = {
  microseconds: () => Promise.resolve(0),
  close: () => Promise.resolve(),
}

/** Opens the processor time of the connections to a place, of a program that has opened all of them. */
export function databaseTime(kind: Kind, place: string): Promise<DatabaseTime> {
  if (kind === 'postgres') return postgresTime(place)
  return kind === 'mysql' ? mysqlTime(place) : Promise.resolve(none)
}
