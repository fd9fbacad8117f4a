import type { Connection } from './connection.ts'

/**
 * Asks SQLite for the number that differs after every commit of another connection, in this process or
 * in another one. Undefined while it can't tell, for instance because the file is locked.
 */
export function dataVersion(connection: Connection): () => number | undefined {
  const ask = connection.rows('PRAGMA data_version')
  return () => {
    try {
      return Number(ask([])[0]?.[0])
    } catch {
      return undefined
    }
  }
}
