import type { Row } from '../adapter.ts'
import type { Tables } from '../sql/dialect.ts'
import type { Sql } from '../sql/fragments.ts'
import type { Connection } from './connection.ts'
import { runTogether, StatementSize, type JoinableWrite } from './joinable-write.ts'

const maxWrites = 128

/** A write of a batch. */
export interface BatchedWrite {
  readonly write: JoinableWrite
  /** Runs it in the same transaction, if the batch has failed. */
  readonly alone: () => Promise<Row | undefined>
}

interface WaitingWrite extends BatchedWrite {
  readonly settle: (row: Row | undefined | Promise<Row | undefined>) => void
}

/** How the transaction of a batch runs its writes. */
interface BatchRuns {
  /** Runs statements, of which all or none are kept. The transaction stays usable if one fails. */
  together(statements: (connection: Connection) => Promise<void>): Promise<void>
  alone(write: BatchedWrite['alone']): Promise<Row | undefined>
}

/**
 * Writes of one collection in one transaction that wait for their turn together. They run in few statements, with the
 * outcome that they have one after the other: if a statement fails, all of them are undone, and each runs alone.
 */
export class WriteBatch {
  readonly #tables: Tables
  readonly #runs: BatchRuns
  readonly #waiting: WaitingWrite[] = []
  readonly #targets = new Set<string>()
  readonly #size = new StatementSize()
  #hasUpdates = false
  #hasNumbered = false

  constructor(tables: Tables, runs: BatchRuns) {
    this.#tables = tables
    this.#runs = runs
  }

  /** Returns whether a write can run with the others. */
  accepts(write: JoinableWrite): boolean {
    const { kind, collection, target } = write
    // An update may mean the row that an insert is numbered as.
    const mayMeet = kind === 'update' ? this.#hasNumbered : target === undefined && this.#hasUpdates
    return (
      !mayMeet &&
      this.#waiting[0]?.write.collection === collection &&
      (target === undefined || !this.#targets.has(target)) &&
      this.#waiting.length < maxWrites &&
      this.#size.accepts(write)
    )
  }

  /** Adds a write. Resolves to its complete row, or to undefined if there is none. */
  add({ write, alone }: BatchedWrite): Promise<Row | undefined> {
    const { kind, target } = write
    if (kind === 'update') this.#hasUpdates = true
    if (target === undefined) this.#hasNumbered = true
    else this.#targets.add(target)
    this.#size.add(write)
    return new Promise((settle) => {
      this.#waiting.push({ write, alone, settle })
    })
  }

  /** Runs the writes. */
  async run(): Promise<void> {
    const waiting = this.#waiting
    if (waiting.length > 1) {
      const rows = new Map<WaitingWrite, () => Row | undefined>()
      try {
        await this.#runs.together(async (connection) => {
          for (const some of statementsOf(waiting, this.#tables.dialect.maxJoined)) {
            const writes = some.map(({ write }) => write)
            const read = await runTogether(connection, this.#tables, writes)
            for (const [index, one] of some.entries()) {
              rows.set(one, read[index] as () => Row | undefined)
            }
          }
        })
        for (const one of waiting) one.settle(new Promise((resolve) => resolve(rows.get(one)?.())))
        return
      } catch {
        // One of them is the reason, and its error names the row.
      }
    }
    for (const { alone, settle } of waiting) {
      const row = this.#runs.alone(alone)
      settle(row)
      await row.catch(() => undefined)
    }
  }

  /** Rejects all writes. */
  fail(error: unknown): void {
    for (const { settle } of this.#waiting) settle(Promise.reject(error))
  }
}

/**
 * Returns whether a write can be one of a batch, in which it may run before an earlier one: it does not refer to a row of
 * its own table, and does not change a unique value, which another row may have given up.
 */
export function isBatched(tables: Tables, { kind, collection, names }: JoinableWrite): boolean {
  const table = tables.find(collection.table)
  if (table === undefined) return false
  const written = new Set(names.map((name) => collection.byName.get(name)?.column ?? name))
  const hasWritten = (columns: readonly (string | null)[]): boolean =>
    columns.some((column) => column === null || written.has(column))
  const refersToOwn = table.foreignKeys.some(
    ({ target, columns }) => target === table.id && hasWritten(columns),
  )
  if (refersToOwn || kind === 'insert') return !refersToOwn
  const unique = table.indexes.filter((index) => index.unique)
  const changesUnique = unique.some(({ columns }) => hasWritten(columns.map(({ name }) => name)))
  return !changesUnique && !hasWritten(table.primary ?? [])
}

/**
 * Returns the writes of each statement: a power of two, because each number of rows is another statement. `maxReads` is how
 * many rows one statement reads afterwards.
 */
function statementsOf(
  waiting: readonly WaitingWrite[],
  maxReads: number,
): readonly (readonly WaitingWrite[])[] {
  const bySql = new Map<Sql, WaitingWrite[]>()
  // An insert before an update can only find values that are still used, which is noticed.
  const inserts = waiting.filter(({ write }) => write.kind === 'insert')
  const updates = waiting.filter(({ write }) => write.kind === 'update')
  for (const one of [...inserts, ...updates]) {
    const { sql } = one.write.statement
    const same = bySql.get(sql)
    if (same === undefined) bySql.set(sql, [one])
    else same.push(one)
  }
  return [...bySql.values()].flatMap((same) => {
    const parts: WaitingWrite[][] = []
    const most = same[0]?.write.reading === undefined ? maxWrites : maxReads
    for (let from = 0; from < same.length;) {
      const count = 2 ** Math.floor(Math.log2(Math.min(most, same.length - from)))
      parts.push(same.slice(from, from + count))
      from += count
    }
    return parts
  })
}
