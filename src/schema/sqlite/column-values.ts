import type { PublishedCollection } from '../../definition/published.ts'
import { quoted } from '../../storage/sql/fragments.ts'
import { rowsOf, type Connection } from '../../storage/sqlite/connection/connection.ts'
import { throwMistakes } from '../../storage/sqlite/connection/failure.ts'
import { unfilled } from '../column-values.ts'
import type { FoundTables } from '../database.ts'
import { lackingOf, unfilledMistake, valueCounts, type Lacking } from '../required-columns.ts'

/** Counts the rows without required values: in all columns (default), or only in those that tables lack. */
export function countLacking(
  connection: Connection,
  tables: FoundTables,
  collections: readonly PublishedCollection[],
  of: 'all' | 'absent' = 'all',
): Lacking {
  const counts = valueCounts(collections, tables, quoted, of)
  return lackingOf(
    counts,
    counts.map(({ statement }) => rowsOf(connection, statement)[0]),
  )
}

/** Counts the rows that need a value of a column that tables lack. Throws a TypeError if a value is not known. */
export function absentValues(
  connection: Connection,
  tables: FoundTables,
  collections: readonly PublishedCollection[],
): Lacking {
  const lacking = countLacking(connection, tables, collections, 'absent')
  const empty = unfilled(tables, collections, lacking).filter(
    ({ statement }) => statement === undefined,
  )
  throwMistakes(empty.map(unfilledMistake))
  return lacking
}
