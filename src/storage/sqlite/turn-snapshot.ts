import type { Connection } from './connection.ts'

/** A snapshot that the reads of one turn of the event loop share. */
export interface TurnSnapshot {
  /**
   * Returns a number that changes with every commit of another connection, in this process or in another
   * one. Undefined if it can't be read, for instance because the file is locked.
   */
  version(): number | undefined
  /** Ends the snapshot. Called after a commit of this process, so that later reads see the commit. */
  end(): void
}

// A chain of promises can prolong a turn without limit.
const maxMilliseconds = 1

/**
 * Reads the version in a read transaction that stays open until the callbacks of the turn have run. Later
 * reads of the same turn do not lock the file again, which is half of their cost. A response contains
 * everything that was committed when its request arrived.
 */
export function turnSnapshot(connection: Connection): TurnSnapshot {
  const begin = connection.command('BEGIN')
  const commit = connection.command('COMMIT')
  const rollback = connection.command('ROLLBACK')
  const readVersion = connection.value('PRAGMA data_version')
  let open = false
  let began = 0

  function end(): void {
    if (!open) return
    open = false
    for (const attempt of [commit, rollback]) {
      try {
        if (connection.inTransaction()) attempt()
      } catch {
        // The snapshot must end: if the commit fails, it is rolled back.
      }
    }
  }

  // A tick that a promise callback schedules runs after all pending promise callbacks.
  const endAfterPromises = (): void => process.nextTick(end)

  return {
    version() {
      try {
        if (open && performance.now() - began > maxMilliseconds) end()
        if (!open) {
          begin()
          open = true
          began = performance.now()
          queueMicrotask(endAfterPromises)
        }
        return Number(readVersion())
      } catch {
        end()
        return undefined
      }
    },
    end,
  }
}
