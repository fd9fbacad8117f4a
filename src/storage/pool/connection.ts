import type { ConnectionLoad } from '../../workload.ts'
import type { BoundValue, Inputs, Sql } from '../sql/fragments.ts'
import type { ServerFacts } from './server-watch.ts'

/** A row as a server writes it: its texts, in the order of the selected expressions. */
export type TextRow = readonly (string | null)[]

/**
 * A statement with its values. Statements of the same shape have the same `sql` object, so that a connection may
 * keep what it prepares for one.
 */
export interface BoundStatement {
  readonly sql: Sql
  readonly values: readonly BoundValue[]
}

/** Returns a statement with its values. Throws a TypeError for a value that the database can't store. */
export function bind(sql: Sql, inputs: Inputs = { conditions: [] }): BoundStatement {
  return { sql, values: sql.slots.map((slot) => slot.read(inputs)) }
}

/** A connection in use. */
export interface Connection {
  /** Stands for the connection as long as it leads to the same process of the server. Undefined: it may change. */
  readonly session: object | undefined
  /** Whether it sends a statement before the one before has ended. The server still runs them in their order. */
  readonly pipelines: boolean
  /** What it has read of its server when it was opened. */
  readonly server: ServerFacts
  /** Runs a statement and returns its rows. */
  rows(statement: BoundStatement): Promise<readonly TextRow[]>
  /** Runs a statement that returns no rows, and returns the number of rows that it has found. */
  matched(statement: BoundStatement): Promise<number>
  /**
   * Runs statements without parameters, in one round trip if the database allows it. Returns the command of the last
   * one, such as `COMMIT`.
   */
  command(...texts: readonly string[]): Promise<string>
  /** Runs a statement that changes the schema, which may take any time. */
  change(text: string): Promise<unknown>
  /** Closes the connection when it is given back. */
  discard(): void
  /** Called before each use, with the time at which it must end, on the clock of `performance`. Undefined: at any time. */
  use(deadline: number | undefined): void
}

/** The connections of a pool. */
export interface Connections {
  /**
   * Runs work with a connection. Rejects with `unavailable` if none becomes free in time. `deadline` is the time at which
   * the work must end, on the clock of `performance`.
   */
  use<Result>(work: (connection: Connection) => Promise<Result>, deadline?: number): Promise<Result>
  /** Returns how its connections are used. */
  load(): Omit<ConnectionLoad, 'name'>
  /** Rejects waiting and later calls, and resolves when those in progress have ended. */
  close(): Promise<void>
}
