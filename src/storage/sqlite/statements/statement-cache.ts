import { boundedMap, type KeptSize } from '../../../keep-latest.ts'
import type { Prepared, SqliteValue } from '../connection/connection.ts'
import type { Inputs, Slot } from '../../sql/fragments.ts'
import type { StatementText } from './statements.ts'

interface Entry {
  readonly run: Prepared<unknown>
  readonly slots: readonly Slot[]
  /** As large as the memory of SQLite for the statement, of which the garbage collector knows nothing. */
  readonly weight: ArrayBuffer
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
  /** The same, with parameters that `bind` returns. */
  runWith<Result>(
    shape: string,
    write: () => StatementText,
    prepare: (sql: string) => Prepared<Result>,
    bind: (slots: readonly Slot[]) => readonly SqliteValue[],
  ): Result
  /** Returns what is cached. */
  size(): KeptSize
}

/** The most that a {@link StatementCache} keeps. It may grow. */
export interface CacheBounds {
  readonly entries: () => number
  readonly bytes: () => number
}

/**
 * Creates a cache that evicts the least recently used statement. SQLite's memory for a statement is freed when the garbage
 * collector frees the object of the driver, so each has a weight that makes it run in time.
 */
export function statementCache({ entries, bytes }: CacheBounds): StatementCache {
  const kept = boundedMap<Entry>({ maxEntries: entries, maxBytes: bytes })

  function find(
    shape: string,
    write: () => StatementText,
    prepare: (sql: string) => Prepared<unknown>,
  ): Entry {
    const known = kept.get(shape)
    if (known !== undefined) return known
    const { sql, slots } = write()
    const size = bytesOf(shape, sql, slots.length)
    const found = { run: prepare(sql), slots, weight: new ArrayBuffer(size) }
    kept.set(shape, found, size)
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
    runWith<Result>(
      shape: string,
      write: () => StatementText,
      prepare: (sql: string) => Prepared<Result>,
      bind: (slots: readonly Slot[]) => readonly SqliteValue[],
    ): Result {
      const { run, slots } = find(shape, write, prepare)
      return run(bind(slots)) as Result
    },
    size: kept.size,
  }
}

// Measured with statements of 300 to 5,000 characters: the program of SQLite takes 12 to 35 bytes for each.
const bytesPerCharacter = 32

function bytesOf(shape: string, sql: string, slots: number): number {
  return 2_000 + bytesPerCharacter * sql.length + 2 * shape.length + 100 * slots
}
