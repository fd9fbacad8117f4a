import type { BoundStatement, Connections } from './connection.ts'
import type { BoundValue, Sql } from '../sql/fragments.ts'

/** How a read outside of transactions gets its connection. */
export interface ReadRoute {
  readonly use: Connections['use']
  /**
   * Returns how many writes the reads that begin to wait now must show. Default: the server shows every write that has
   * ended before a statement is sent.
   */
  readonly writes?: () => number
}

/**
 * Runs a read, or returns the result of an equal one that still waits for its connection. The read calls `begin` when
 * it has one, before it sends anything.
 */
export type JoinReads<Result> = (
  route: ReadRoute,
  statement: BoundStatement,
  read: (begin: () => void) => Promise<Result>,
) => Promise<Result>

interface WaitingRead<Result> {
  readonly route: ReadRoute
  readonly writes: number
  /** When it began to wait, on the clock of `performance`. */
  readonly since: number
  readonly result: Promise<Result>
}

/**
 * Returns a function that runs equal reads once. A statement that has not been sent shows every write that had ended
 * when the last of its readers arrived. A read that has waited for more than `maxWait` milliseconds is not joined,
 * because it may be given up soon.
 */
export function joinedReads<Result>(maxWait: number): JoinReads<Result> {
  // Statements of one shape have the same object.
  const waiting = new WeakMap<Sql, Map<string, WaitingRead<Result>>>()

  return (route, { sql, values }, read) => {
    const reads = waiting.get(sql) ?? new Map<string, WaitingRead<Result>>()
    waiting.set(sql, reads)
    const key = keyOf(values)
    const writes = route.writes?.() ?? 0
    const since = performance.now()
    const equal = reads.get(key)
    if (equal?.route === route && equal.writes === writes && since - equal.since <= maxWait) {
      return equal.result
    }
    const leave = (): void => {
      if (reads.get(key) === own) reads.delete(key)
    }
    const own = { route, writes, since, result: read(leave) }
    reads.set(key, own)
    own.result.catch(leave)
    return own.result
  }
}

/** Returns a string that is the same for the same values only. */
function keyOf(values: readonly BoundValue[]): string {
  let key = ''
  for (const value of values) {
    const text = String(value)
    key += `${typeof value} ${text.length} ${text}`
  }
  return key
}
