import { runtime } from '../../../runtime.ts'
import type { Connection } from '../connection/connection.ts'

/**
 * Lets the reads of one turn of the event loop share a read transaction, on a connection that only reads. Beginning and
 * ending a read transaction takes as long as reading an item, and without an open transaction each statement has one of
 * its own.
 */
export class ReadSnapshot {
  readonly #connection: Connection
  readonly #maxAge: number
  readonly #begin: () => void
  readonly #commit: () => void
  #isOpen = false
  #beganAt = 0
  #hasTurnRead = false

  /** @param maxAge the age in milliseconds from which a transaction is not shared. 0: none is */
  constructor(connection: Connection, maxAge: number) {
    this.#connection = connection
    this.#maxAge = maxAge
    this.#begin = connection.command('BEGIN')
    this.#commit = connection.command('COMMIT')
  }

  /** Called before each read that may share one. */
  enter(): void {
    if (this.#maxAge === 0) return
    // The only read of a turn needs no transaction.
    if (!this.#hasTurnRead) {
      this.#hasTurnRead = true
      runtime.setImmediate(this.#endTurn)
      return
    }
    const now = runtime.performanceNow()
    if (this.#isOpen && now - this.#beganAt <= this.#maxAge) return
    this.end()
    this.#begin()
    this.#isOpen = true
    this.#beganAt = now
  }

  /** Ends the transaction, so that the next read sees everything that is committed. */
  end(): void {
    if (!this.#isOpen) return
    this.#beganAt = -Infinity
    try {
      // SQLite may have ended it because of an I/O error.
      if (this.#connection.inTransaction()) this.#commit()
      this.#isOpen = false
    } catch {
      // The next read tries again, and fails if it can't begin another one.
    }
  }

  readonly #endTurn = (): void => {
    this.#hasTurnRead = false
    this.end()
  }
}
