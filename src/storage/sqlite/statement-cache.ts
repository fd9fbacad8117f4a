import { keepLatest } from '../../keep-latest.ts'
import type { Prepared, SqliteValue } from './connection.ts'
import type { Inputs, Slot } from '../sql/fragments.ts'
import type { StatementText } from './statements.ts'

interface Entry {
  readonly run: Prepared<unknown>
  readonly slots: readonly Slot[]
}

/** The prepared statements of one connection by shape. */
export interface StatementCache {
  /** Runs the statement of a shape. Writes and prepares it if it is not cached. */
  run<Result>(
    shape: string,
    write: () => StatementText,
    prepare: (sql: string) => Prepared<Result>,
    inputs: Inputs,
  ): Result
}

/** Creates a cache that evicts the least recently used statement. The capacity may grow. */
export function statementCache(capacity: () => number): StatementCache {
  // In order of use, the most recent one last.
  const entries = new Map<string, Entry>()
  let latest: string | undefined

  function find(
    shape: string,
    write: () => StatementText,
    prepare: (sql: string) => Prepared<unknown>,
  ): Entry {
    let found = entries.get(shape)
    // As long as nothing is about to be evicted, the order does not matter.
    const isKept = shape === latest || entries.size < capacity() / 2
    if (found !== undefined && isKept) return found
    if (found === undefined) {
      const { sql, slots } = write()
      found = { run: prepare(sql), slots }
    }
    keepLatest(entries, shape, found, capacity())
    latest = shape
    return found
  }

  return {
    run<Result>(
      shape: string,
      write: () => StatementText,
      prepare: (sql: string) => Prepared<Result>,
      inputs: Inputs,
    ): Result {
      const { run, slots } = find(shape, write, prepare)
      const parameters: SqliteValue[] = []
      for (const slot of slots) parameters.push(slot.read(inputs))
      return run(parameters) as Result
    },
  }
}
