import type { StoredValue } from '../../../definition/field-type.ts'
import type { PublishedCollection } from '../../../definition/published.ts'
import { oneItem } from '../../../request/query.ts'
import { StorageError, type Condition, type Row } from '../../adapter.ts'
import type { Inputs } from '../../sql/fragments.ts'
import {
  savepoint,
  type Connection,
  type Prepared,
  type Savepoint,
  type SqliteRow,
} from '../connection/connection.ts'
import { ReadSession, type Opened } from '../reading/read-session.ts'
import { keptRow, readRow, type ReadRow } from '../reading/rows.ts'
import {
  deleteStatement,
  insertStatement,
  updateStatement,
  writeKey,
  type StatementText,
  type WriteShape,
} from '../statements/statements.ts'
import { updateText, type UpdateText } from '../statements/update-text.ts'
import type { WrittenTables } from './written-tables.ts'

/**
 * Reads and writes rows on one connection, synchronously. Throws the errors of the driver. A write that returns no
 * row or throws has changed nothing.
 */
export class WriteSession {
  readonly reads: ReadSession
  readonly updateText: UpdateText
  readonly #connection: Connection
  readonly #opened: Opened
  readonly #written: WrittenTables
  readonly #savepoint: Savepoint
  readonly #prepareChanges: (sql: string) => Prepared<number>
  readonly #prepareReturning: (sql: string) => Prepared<readonly SqliteRow[]>
  // Whether the running write has a savepoint.
  #isGuarded = false

  /** @param written notes the tables that the session writes */
  constructor(connection: Connection, opened: Opened, written: WrittenTables) {
    this.reads = new ReadSession(connection, opened)
    this.#connection = connection
    this.#opened = opened
    this.#written = written
    this.#savepoint = savepoint(connection, 'rowgate_write')
    this.#prepareChanges = this.#noted(connection.changes)
    this.#prepareReturning = this.#noted(connection.rows)
    const { readBack, guaranteed } = opened
    const { statements } = this.reads
    this.updateText = updateText({ connection, statements, written, readBack, guaranteed })
  }

  insert(collection: PublishedCollection, row: Row): Row {
    let stored: Row | undefined
    try {
      return (stored = this.#insert(collection, row))
    } finally {
      this.#endWrite(stored !== undefined)
    }
  }

  update(
    collection: PublishedCollection,
    conditions: readonly Condition[],
    changes: Row,
  ): Row | undefined {
    let stored: Row | undefined
    try {
      return (stored = this.#update(collection, conditions, changes))
    } finally {
      this.#endWrite(stored !== undefined)
    }
  }

  delete(collection: PublishedCollection, conditions: readonly Condition[]): Row | undefined {
    let deleted: Row | undefined
    try {
      return (deleted = this.#delete(collection, conditions))
    } finally {
      this.#endWrite(deleted !== undefined)
    }
  }

  #insert(collection: PublishedCollection, row: Row): Row {
    const names = namesIn(collection, row)
    // A column keeps each value as it is given. Returning the row would cost as much as writing it.
    const isKnown = names === collection.allNames && !this.#opened.readBack.has(collection)
    // What is returned may not fit.
    if (!isKnown) this.#guard()
    const shape = { names, conditions: [], returning: !isKnown }
    const { count, written: stored } = this.#write('insert', collection, shape, row)
    if (isKnown && count === 1) return row
    if (stored === undefined) {
      const cause = new Error('a trigger of the table has skipped the row')
      throw new StorageError('invalid', { cause })
    }
    return keptRow(collection, stored, row, collection.allNames)
  }

  #update(
    collection: PublishedCollection,
    conditions: readonly Condition[],
    changes: Row,
  ): Row | undefined {
    const before = this.#rowBefore(collection, conditions)
    if (before === undefined) return undefined
    const names: string[] = []
    // A column that keeps its value is not set, because a trigger may watch it.
    for (const name in changes) {
      const value = changes[name]
      if (value !== undefined && value !== before.row[name]) names.push(name)
    }
    if (names.length === 0) return before.row
    const returning = this.#opened.readBack.has(collection)
    // What is returned may not fit.
    if (returning) this.#guard()
    const shape = { names, conditions, returning }
    const { count, written: stored } = this.#write('update', collection, shape, changes)
    if (count === 0) return undefined
    return stored === undefined
      ? changedRow(before.row, changes, names)
      : keptRow(collection, stored, changes, names)
  }

  #delete(collection: PublishedCollection, conditions: readonly Condition[]): Row | undefined {
    const before = this.#rowBefore(collection, conditions)
    if (before === undefined) return undefined
    const shape = { names: noNames, conditions, returning: false }
    return this.#write('delete', collection, shape).count === 0 ? undefined : before.row
  }

  #rowBefore(
    collection: PublishedCollection,
    conditions: readonly Condition[],
  ): ReadRow | undefined {
    const query = oneItem(conditions, collection.allNames)
    const read = (output: 'rows' | 'lengths'): ReadRow | undefined => {
      const { rows } = this.reads.runPage(this.reads.pageRead(collection, query, output))
      const [row] = rows as readonly SqliteRow[]
      return row && readRow(collection, query.select, row)
    }
    const row = read('rows')
    return row?.uncertain === true ? read('lengths') : row
  }

  /** Writes one row, and returns it if the statement does. */
  #write(
    kind: keyof typeof writes,
    collection: PublishedCollection,
    shape: WriteShape,
    row?: Row,
  ): { readonly count: number; readonly written?: ReadRow } {
    const { statements } = this.reads
    const { conditions, names, returning } = shape
    const key = writeKey(`${kind}${returning ? '' : '!'}`, collection, conditions, names)
    const text = (): StatementText => writes[kind](collection, shape, this.#opened.guaranteed)
    const inputs: Inputs = { conditions, ...(row && { row }) }
    if (!returning) return { count: statements.run(key, text, this.#prepareChanges, inputs) }
    const [first] = statements.run(key, text, this.#prepareReturning, inputs)
    return first === undefined
      ? { count: 0 }
      : { count: 1, written: readRow(collection, collection.allNames, first) }
  }

  /** Returns what prepares statements that write, and notes their tables before they run. */
  #noted<Result>(prepare: (sql: string) => Prepared<Result>) {
    return (sql: string): Prepared<Result> => {
      const run = prepare(sql)
      return (parameters) => {
        if (!this.#written.note(sql, parameters)) this.#guard()
        return run(parameters)
      }
    }
  }

  /** Sets the savepoint of the running write, which may leave changes behind if it fails. */
  #guard(): void {
    if (this.#isGuarded) return
    this.#savepoint.set()
    this.#isGuarded = true
  }

  /** Ends a write. One that has failed or written no row has changed nothing. */
  #endWrite(isDone: boolean): void {
    if (!this.#isGuarded) return
    this.#isGuarded = false
    // A trigger may have rolled back the transaction.
    if (!this.#connection.inTransaction()) return
    if (!isDone) this.#savepoint.undo()
    this.#savepoint.release()
  }
}

const writes = { insert: insertStatement, update: updateStatement, delete: deleteStatement }
const noNames: readonly string[] = Object.freeze([])

/** Returns the names of the fields that have a value or null. If all have one, the list is `allNames`. */
function namesIn({ allNames }: PublishedCollection, row: Row): readonly string[] {
  for (const name of allNames) {
    if (row[name] === undefined) return allNames.filter((other) => row[other] !== undefined)
  }
  return allNames
}

function changedRow(before: Row, changes: Row, names: readonly string[]): Row {
  const row: Record<string, StoredValue> = {}
  for (const name in before) row[name] = before[name] as StoredValue
  for (const name of names) row[name] = changes[name] as StoredValue
  return row
}
