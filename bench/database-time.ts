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

/** The microseconds that processes or threads have used, by their folders in /proc. */
class UsedTime {
  // Of those that have ended, what was last read is kept.
  readonly #used = new Map<string, number>()

  /** Returns the sum of these and all earlier ones. */
  of(folders: readonly string[]): number {
    for (const folder of folders) {
      try {
        const text = readFileSync(`${folder}/stat`, 'utf8')
        // The name in parentheses may have blanks.
        const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
        const ticks = Number(fields[11]) + Number(fields[12])
        this.#used.set(folder, (ticks / ticksPerSecond) * 1e6)
      } catch {
        // It has ended, or is on another machine.
      }
    }
    if (this.#used.size === 0) return NaN
    return [...this.#used.values()].reduce((sum, one) => sum + one, 0)
  }
}

async function postgresTime(place: string): Promise<DatabaseTime> {
  const client = new Client({ connectionString: place })
  await client.connect()
  const used = new UsedTime()
  const text =
    'select pid from pg_stat_activity where application_name = current_setting($1) and pid <> pg_backend_pid()'
  return {
    async microseconds() {
      const { rows } = await client.query<{ pid: number }>(text, ['application_name'])
      return used.of(rows.map(({ pid }) => `/proc/${pid}`))
    },
    close: () => client.end(),
  }
}

async function mysqlTime(place: string): Promise<DatabaseTime> {
  const connection = await createConnection(place)
  const [[file] = []] = await connection.query<never[]>('select @@pid_file as name')
  const used = new UsedTime()
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
      return used.of(server === '' ? [] : all.map(({ tid }) => `/proc/${server}/task/${tid}`))
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
