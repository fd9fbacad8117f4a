import type { PublishedCollection } from '../../definition/published.ts'
import { StorageError, type Condition, type Row } from '../adapter.ts'
import type { RowChanges } from '../sql/fragments.ts'
import { readsOthers } from '../sql/conditions.ts'
import type { BoundStatement, Connection } from './connection.ts'
import type { Tables } from '../sql/dialect.ts'
import { rowReader } from './rows.ts'
import {
  deleteStatement,
  insertedStatement,
  insertStatement,
  keyConditions,
  returnsInserts,
  rowStatement,
  updateStatement,
} from '../sql/write-statements.ts'

/** Inserts a row and returns it complete. */
export async function insertRow(
  connection: Connection,
  tables: Tables,
  collection: PublishedCollection,
  row: Row,
): Promise<Row> {
  const { database, transactions } = tables.dialect
  const statement = insertStatement(tables, collection, row)
  if (!returnsInserts(tables, collection)) {
    const given = collection.key.length === 0 ? completeRow(collection, row) : null
    if (given === undefined) {
      throw new Error(`${database} returns no values of column defaults of a row without a key`)
    }
    await connection.matched(statement)
    // Another row could be found.
    if (given !== null) return given
    const inserted = insertedStatement(tables, collection, row)
    const stored = await one(connection, tables, collection, inserted)
    if (stored !== undefined) return stored
    throw new Error('the inserted row is not found: a trigger of the table has changed its key')
  }
  const stored = await one(connection, tables, collection, statement)
  if (stored === undefined) {
    const cause = new Error('a trigger of the table has skipped the row')
    throw new StorageError('invalid', { cause })
  }
  if (bringsNumber(collection, row)) {
    await transactions.afterInsert?.(connection, tables, collection, row)
  }
  return stored
}

/** Returns a row that gives a value to each column; undefined if the database supplies one. */
function completeRow({ allNames }: PublishedCollection, row: Row): Row | undefined {
  return allNames.every((name) => row[name] !== undefined) ? row : undefined
}

/** Returns whether a row has a number that storage would generate otherwise. */
export function bringsNumber({ fields }: PublishedCollection, row: Row): boolean {
  return fields.some(
    ({ name, generated }) => generated === 'database' && (row[name] ?? null) !== null,
  )
}

/** Changes the row that meets conditions and returns it complete. */
export async function updateRow(
  connection: Connection,
  tables: Tables,
  collection: PublishedCollection,
  { conditions, changes: given }: RowChange,
): Promise<Row | undefined> {
  const { returning } = tables.dialect.writes
  const locked = rowStatement(tables, collection, conditions, ' for update')
  const fixed = fixedNames(tables, collection, given)
  const stored = fixed.length === 0 ? noRow : await one(connection, tables, collection, locked)
  if (stored === undefined) return undefined
  const changes = withoutUnchanged(given, fixed, stored)
  if (Object.keys(changes).length === 0) return one(connection, tables, collection, locked)
  if (returning.includes('update')) {
    const update = updateStatement(tables, collection, conditions, changes)
    return one(connection, tables, collection, update)
  }
  const key = keyConditions(collection, conditions)
  const isJoined = conditions.some(readsOthers)
  // Not every server can read the table that it changes.
  if (isJoined && (await one(connection, tables, collection, locked)) === undefined) {
    return undefined
  }
  const update = updateStatement(tables, collection, isJoined ? key : conditions, changes)
  if ((await connection.matched(update)) === 0) return undefined
  return one(connection, tables, collection, rowStatement(tables, collection, key, ''))
}

/** The changes of a row that meets conditions. */
interface RowChange {
  readonly conditions: readonly Condition[]
  readonly changes: RowChanges
}

const noRow: Row = {}

/** Returns the names of changes of columns that the role may not change. It may send their values back. */
export function fixedNames(
  tables: Tables,
  { table, byName }: PublishedCollection,
  changes: RowChanges,
): readonly string[] {
  const found = tables.find(table)
  return Object.keys(changes).filter((name) => {
    const { column = name } = byName.get(name) ?? {}
    return found?.find(column)?.isUpdatable === false
  })
}

function withoutUnchanged(changes: RowChanges, fixed: readonly string[], stored: Row): RowChanges {
  const unchanged = fixed.filter((name) => changes[name] === stored[name])
  if (unchanged.length === 0) return changes
  return Object.fromEntries(Object.entries(changes).filter(([name]) => !unchanged.includes(name)))
}

/** Deletes the row that meets conditions and returns it as it was. */
export async function deleteRow(
  connection: Connection,
  tables: Tables,
  collection: PublishedCollection,
  conditions: readonly Condition[],
): Promise<Row | undefined> {
  if (tables.dialect.writes.returning.includes('delete')) {
    return one(connection, tables, collection, deleteStatement(tables, collection, conditions))
  }
  const locked = rowStatement(tables, collection, conditions, ' for update')
  const row = await one(connection, tables, collection, locked)
  if (row === undefined) return undefined
  const key = keyConditions(collection, conditions)
  await connection.matched(deleteStatement(tables, collection, key))
  return row
}

async function one(
  connection: Connection,
  tables: Tables,
  collection: PublishedCollection,
  statement: BoundStatement,
): Promise<Row | undefined> {
  const [row] = await connection.rows(statement)
  if (row === undefined) return undefined
  return rowReader(statement.sql, { tables, collection, names: collection.allNames })(row)
}
