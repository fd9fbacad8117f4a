import type { Connection } from './connection.ts'

/** The snapshot that the reads of one turn of the event loop may share. */
export interface TurnSnapshot {
  /**
   * The number that differs after every commit of another connection, in this process or in another
   * one; undefined while SQLite can't tell, for instance because the file is locked.
   */
  version(): number | undefined
  /** Ends the snapshot: after a commit of this process, whose reads have to see it. */
  end(): void
}

// Promises that lead to promises can keep a turn going.
const longestMilliseconds = 1

/**
 * Asks for the version in a read transaction that stays open until the turn's callbacks have run, so
 * that the reads which follow in the same turn don't lock the file again: half of their cost. What a
 * request is answered with was then committed when it arrived, or later.
 */
export function turnSnapshot(connection: Connection): TurnSnapshot {
  const begin = connection.command('BEGIN')
  const commit = connection.command('COMMIT')
  const rollback = connection.command('ROLLBACK')
  const ask = connection.value('PRAGMA data_version')
  let open = false
  let began = 0

  function end(): void {
    if (!open) return
    open = false
    for (const attempt of [commit, rollback]) {
      try {
        if (connection.inTransaction()) attempt()
      } catch {
        // Reads must not stay in this snapshot: what can't be committed is rolled back.
      }
    }
  }

  // Ticks come before promises in a callback, but after those that a promise has led to.
  const endAfterPromises = (): void => process.nextTick(end)

  return {
    version() {
      try {
        if (open && performance.now() - began > longestMilliseconds) end()
        if (!open) {
          begin()
          open = true
          began = performance.now()
          queueMicrotask(endAfterPromises)
        }
        return Number(ask())
      } catch {
        end()
        return undefined
      }
    },
    end,
  }
}
