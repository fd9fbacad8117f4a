import type { PublishedCollection } from '../../definition/published.ts'
import { keyIn } from '../../request/resolve.ts'
import { StorageError, type Condition, type Row } from '../adapter.ts'
import type { BoundStatement, Connection, TextRow } from './connection.ts'
import { readsOthers } from '../sql/conditions.ts'
import type { Tables } from '../sql/dialect.ts'
import { withAmounts, type Inputs } from '../sql/fragments.ts'
import type { Table } from '../../schema/model.ts'
import { rowReader } from './rows.ts'
import {
  insertStatement,
  insertText,
  keyConditions,
  returnsInserts,
  rowStatement,
  updateClauses,
  updateStatement,
} from '../sql/write-statements.ts'
import { isPlainColumn } from '../sql/table-conditions.ts'
import { bringsNumber, fixedNames } from './writes.ts'

/** A write that may be one statement with others. */
export interface JoinableWrite {
  readonly kind: 'insert' | 'update'
  readonly collection: PublishedCollection
  /** What it is alone. Statements that may be one have the same `sql`. */
  readonly statement: BoundStatement
  /** What the statement binds. */
  readonly inputs: Inputs
  /** The key of the row that it writes. Undefined: the database numbers the row. */
  readonly target: string | undefined
  /** The fields that it writes. */
  readonly names: readonly string[]
  /** Returns the statement of several such writes. */
  together(writes: readonly JoinableWrite[]): BoundStatement
  /**
   * Returns the statement that reads their rows afterwards, in the same transaction. Absent: their statement returns them, and
   * needs no transaction.
   */
  reading?(writes: readonly JoinableWrite[]): BoundStatement
  /** Returns the row of each write, among the rows of their statement. Throws an error if one can't be known. */
  rowsOf(rows: readonly TextRow[], count: number): readonly (TextRow | undefined)[]
}

/**
 * The tables that may store a row otherwise than it is given, such as those with triggers. What they return of an insert
 * is checked before its commit.
 */
export interface ChangingTables {
  has(table: Table): boolean
  add(table: Table): unknown
}

/** Where joinable writes are made. */
export interface JoinPlace {
  readonly tables: Tables
  readonly changing: Pick<ChangingTables, 'has'> | undefined
}

/** The arguments of an update of storage. */
export interface UpdateOfRow {
  readonly collection: PublishedCollection
  readonly conditions: readonly Condition[]
  readonly changes: Row
  readonly increments?: Readonly<Record<string, string>> | undefined
}

/**
 * Returns a function that creates the insert of a row, and throws for a value that can't be stored. Undefined if the row
 * can't be inserted in one statement with others.
 */
export function joinableInsert(
  place: JoinPlace,
  collection: PublishedCollection,
  row: Row,
): (() => JoinableWrite) | undefined {
  const { tables } = place
  // Without RETURNING, a statement that reads the row must follow each insert.
  const returns = returnsInserts(tables, collection)
  if (!joins(place, collection) || !returns || bringsNumber(collection, row)) return undefined
  const key = collection.key.map(({ name }) => row[name] ?? null)
  return () => ({
    kind: 'insert',
    collection,
    statement: insertStatement(tables, collection, row),
    inputs: { conditions: [], row },
    target: key.length === 0 || key.includes(null) ? undefined : JSON.stringify(key),
    names: Object.keys(row),
    together: (writes) => ({
      sql: insertText(tables, collection, row, writes.length),
      values: writes.flatMap(({ statement }) => statement.values),
    }),
    // The server returns each row when it has inserted it, in the order of the statement.
    rowsOf(rows, count) {
      if (rows.length === count) return rows
      throw new Error(`the server returned ${rows.length} of ${count} inserted rows`)
    },
  })
}

/**
 * Returns a function that creates the update of a row, and throws for a value that can't be stored. Undefined if the row
 * can't be changed in one statement with others.
 */
export function joinableUpdate(
  place: JoinPlace,
  { collection, conditions, changes: given, increments }: UpdateOfRow,
): (() => JoinableWrite) | undefined {
  const { tables } = place
  const changes = withAmounts(given, increments)
  const key = keyIn(collection, conditions)
  const names = Object.keys(changes)
  const { joinedUpdates, returning } = tables.dialect.writes
  const returns = returning.includes('update')
  const isJoinable =
    key !== undefined &&
    names.length > 0 &&
    joins(place, collection) &&
    // Otherwise two keys may be the same row.
    collection.key.every((field) => isPlainColumn(tables, collection, field)) &&
    fixedNames(tables, collection, changes).length === 0 &&
    (returns || isByPrimaryKey(tables, collection, { conditions, names }))
  if (!isJoinable) return undefined
  const inputs = { conditions, row: changes }
  return () => ({
    kind: 'update',
    collection,
    statement: updateStatement(tables, collection, conditions, changes),
    inputs,
    target: JSON.stringify(key),
    names,
    together: (writes) =>
      joinedUpdates({
        statements: writes.map(({ statement }) => statement),
        inputs: writes.map((write) => write.inputs),
        clauses: () => updateClauses(tables, collection, { conditions, changes }),
      }),
    ...(!returns && {
      reading: (writes) => rowsByKey(tables, collection, writes),
    }),
    rowsOf(rows, count) {
      const found = Array.from<TextRow | undefined>({ length: count })
      for (const row of rows) found[Number(row[0])] = row.slice(1)
      return found
    },
  })
}

/** Returns whether an update finds its row by the primary key, which it does not change, and reads no other table. */
function isByPrimaryKey(
  { find }: Tables,
  { table, key }: PublishedCollection,
  {
    conditions,
    names,
  }: { readonly conditions: readonly Condition[]; readonly names: readonly string[] },
): boolean {
  const primary = new Set(find(table)?.primary)
  return (
    primary.size === key.length &&
    key.every(({ name, column }) => primary.has(column) && !names.includes(name)) &&
    !conditions.some(readsOthers)
  )
}

/** Returns the statement of the rows of updates. */
function rowsByKey(
  tables: Tables,
  collection: PublishedCollection,
  updates: readonly JoinableWrite[],
): BoundStatement {
  return tables.dialect.joined(
    updates.map(({ inputs: { conditions } }) =>
      rowStatement(tables, collection, keyConditions(collection, conditions), ''),
    ),
  )
}

function joins({ tables, changing }: JoinPlace, collection: PublishedCollection): boolean {
  const { dialect, find } = tables
  const table = find(collection.table)
  const isJoined = table !== undefined && dialect.writes.joins(table)
  return isJoined && table.unwritable === undefined && changing?.has(table) !== true
}

// The protocol of PostgreSQL counts parameters with 16 bits.
const maxValues = 65_535
// A server rejects statements above a size, and closes the connection: MariaDB by default above 16 MB. Each character
// may be four bytes, and twice as many if it is escaped.
const maxCharacters = 1_000_000

/** The size of a statement of several writes. */
export class StatementSize {
  #values = 0
  #characters = 0

  /** Returns whether a write may be added. */
  accepts({ statement: { values } }: JoinableWrite): boolean {
    return (
      this.#values + values.length <= maxValues &&
      this.#characters + charactersOf(values) <= maxCharacters
    )
  }

  add({ statement: { values } }: JoinableWrite): void {
    this.#values += values.length
    this.#characters += charactersOf(values)
  }
}

function charactersOf(values: BoundStatement['values']): number {
  let characters = 0
  for (const value of values) if (typeof value === 'string') characters += value.length
  return characters
}

/** Thrown if a row of several updates is missing, and the database does not say which one. All of them must be undone. */
export class MissingRow extends StorageError {
  constructor() {
    super('invalid', { cause: new Error('a row of several updates is missing') })
  }
}

/**
 * Runs writes of one `sql` in one statement. Returns the complete row of each; undefined if there is none. Throws a
 * {@link MissingRow}.
 */
export async function runTogether(
  connection: Connection,
  tables: Tables,
  writes: readonly JoinableWrite[],
): Promise<readonly (() => Row | undefined)[]> {
  const { collection, together, reading, rowsOf } = (writes as readonly [JoinableWrite])[0]
  let statement = together(writes)
  if (reading !== undefined) {
    if ((await connection.matched(statement)) !== writes.length) throw new MissingRow()
    statement = reading(writes)
  }
  const rows = rowsOf(await connection.rows(statement), writes.length)
  const read = rowReader(statement.sql, { tables, collection, names: collection.allNames })
  return rows.map((row) => () => row && read(row))
}
