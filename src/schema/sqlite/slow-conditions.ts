import type { PublishedCollection } from '../../definition/published.ts'
import type { UnindexedConditions } from '../../storage/problem.ts'
import { quoted } from '../../storage/sql/fragments.ts'
import { rowsOf, type Connection } from '../../storage/sqlite/connection/connection.ts'
import type { FoundTables } from '../database.ts'
import { minScannedRows, unindexedConditions } from '../unindexed-conditions.ts'

/** Returns the conditions of a collection that read the whole table and that an index would serve, if it is large. */
export function slowConditions(
  connection: Connection,
  tables: FoundTables,
  collection: PublishedCollection,
): readonly UnindexedConditions[] {
  return allSlowConditions(connection, tables, collection).filter(
    ({ statements }) => statements.length > 0,
  )
}

/** Returns the same conditions, and those that no index would serve. */
export function allSlowConditions(
  connection: Connection,
  tables: FoundTables,
  collection: PublishedCollection,
): readonly UnindexedConditions[] {
  const { table } = collection
  // Decimals are compared by their value, which no index has.
  const found = unindexedConditions(tables, collection, (_, { type }) =>
    type === 'decimal' ? [] : 'equality',
  )
  if (found.length === 0) return []
  // The file has no estimate of its own. The read ends at this row.
  const row = `SELECT 1 FROM ${quoted(table)} LIMIT 1 OFFSET ${minScannedRows - 1}`
  return rowsOf(connection, row).length === 0 ? [] : found
}
