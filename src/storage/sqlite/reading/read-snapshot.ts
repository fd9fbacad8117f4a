import type { Connection } from '../connection/connection.ts'

/** Lets the reads of one turn of the event loop share a read transaction. */
export interface ReadSnapshot {
  /** Called before each read that may share one. */
  enter(): void
  /** Ends the transaction, so that the next read sees everything that is committed. */
  end(): void
}

/**
 * Creates the snapshot of a connection that only reads. Beginning and ending a read transaction takes as long as
 * reading an item, and without an open transaction each statement has one of its own. A transaction that is
 * older than `maxAge` milliseconds is not shared; 0: none is.
 */
export function readSnapshot(connection: Connection, maxAge: number): ReadSnapshot {
  const begin = connection.command('BEGIN')
  const commit = connection.command('COMMIT')
  let isOpen = false
  let beganAt = 0
  let hasTurnRead = false

  function end(): void {
    if (!isOpen) return
    beganAt = -Infinity
    try {
      // SQLite may have ended it because of an I/O error.
      if (connection.inTransaction()) commit()
      isOpen = false
    } catch {
      // The next read tries again, and fails if it can't begin another one.
    }
  }

  function endTurn(): void {
    hasTurnRead = false
    end()
  }

  return {
    enter() {
      if (maxAge === 0) return
      // The only read of a turn needs no transaction.
      if (!hasTurnRead) {
        hasTurnRead = true
        setImmediate(endTurn)
        return
      }
      const now = performance.now()
      if (isOpen && now - beganAt <= maxAge) return
      end()
      begin()
      isOpen = true
      beganAt = now
    },
    end,
  }
}
