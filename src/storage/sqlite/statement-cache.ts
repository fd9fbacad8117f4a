import type { Prepared, SqliteValue } from './connection.ts'
import type { Inputs, Slot, StatementText } from './statements.ts'

interface Kept {
  readonly run: Prepared<unknown>
  readonly slots: readonly Slot[]
}

/** The statements of one connection by their shape. */
export interface StatementCache {
  /** Runs the statement of a shape, which is written and prepared when it is not kept yet. */
  run<Result>(
    shape: string,
    write: () => StatementText,
    prepare: (sql: string) => Prepared<Result>,
    inputs: Inputs,
  ): Result
}

// Clients choose fields and sort orders: the number of shapes has no other bound.
const mostStatements = 256

/** Keeps the statements that were used last. */
export function statementCache(capacity = mostStatements): StatementCache {
  // In order of use, the latest at the end.
  const kept = new Map<string, Kept>()
  let latest: string | undefined

  function find(
    shape: string,
    write: () => StatementText,
    prepare: (sql: string) => Prepared<unknown>,
  ): Kept {
    let found = kept.get(shape)
    if (found !== undefined && shape === latest) return found
    if (found !== undefined) {
      kept.delete(shape)
    } else {
      const { sql, slots } = write()
      found = { run: prepare(sql), slots }
      if (kept.size >= capacity) kept.delete(kept.keys().next().value as string)
    }
    kept.set(shape, found)
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
