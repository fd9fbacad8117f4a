import type { Connection } from './connection.ts'
import type { Task } from './task.ts'

/** Undoes one of the transactions that share a commit. */
export interface Savepoint {
  /**
   * Called when a transaction begins. If its one statement that writes fails, it has changed nothing, so such a
   * transaction needs no savepoint until {@link protect} is called. Throws the errors of the driver.
   */
  begin(isOneWrite: boolean): void
  /** Called before a statement that may leave changes behind if it fails. Throws the errors of the driver. */
  protect(): void
  /** Called when the transaction has ended. Keeps its changes, or undoes them. Throws if that is not possible. */
  end(task: Task, undo: boolean): void
}

/** Creates the savepoint of a connection. */
export function savepointOf(connection: Connection): Savepoint {
  const set = connection.command('SAVEPOINT rowgate_turn')
  const release = connection.command('RELEASE rowgate_turn')
  const rollbackTo = connection.command('ROLLBACK TO rowgate_turn')
  let state: 'none' | 'later' | 'set' = 'none'

  function protect(): void {
    if (state !== 'later') return
    set()
    state = 'set'
  }

  return {
    begin(isOneWrite) {
      state = 'later'
      if (!isOneWrite) protect()
    },
    protect,
    end({ opened, failure }, undo) {
      const isSet = state === 'set'
      const cause = failure()?.error
      state = 'none'
      // SQLite may have rolled back everything because of a full disk or an I/O error.
      if (!connection.inTransaction()) {
        throw new Error('SQLite has rolled back the transaction', { cause })
      }
      if (isSet) {
        if (undo) rollbackTo()
        release()
      } else if (undo && opened.hasSaved()) {
        throw new Error('a transaction of one write has failed after it', { cause })
      }
    },
  }
}
