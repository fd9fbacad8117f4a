import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { quoted } from '../../storage/sql/fragments.ts'
import { rowsOf, type Connection } from '../../storage/sqlite/connection/connection.ts'
import type { TableCopies } from '../database.ts'
import type { Table } from '../model.ts'
import { nullStatements, rebuildStatements } from './rebuild.ts'
import { isWrittenNotNull, otherCheck, sqliteText } from './statements.ts'

/** Returns how the tables of a database are changed by copying them. */
export function sqliteCopies(connection: Connection): TableCopies {
  return {
    redeclare(table, sharing) {
      const unfit = misfits(table, sharing)
      const statements =
        unfit.length === 0 ? undefined : rebuildStatements(connection, { table, unfit })
      return statements && { columns: unfit.map(({ column }) => column), statements }
    },
    isOwnNotNull: ({ statement = '' }, fields) =>
      fields.some((field) => isWrittenNotNull(statement, field)),
    changeNulls: (table, sharing, change) =>
      nullStatements(connection, { table, sharing, ...change }),
    // SQLite drops no column that an index contains.
    dropColumn: ({ name }, column) => [
      ...indexesWith(connection, name, column).map((index) => `DROP INDEX ${quoted(index)};`),
      `ALTER TABLE ${quoted(name)} DROP COLUMN ${quoted(column)};`,
    ],
  }
}

/** Returns the fields of a table whose columns would change or reject their values. */
function misfits(
  { statement = '', find }: Table,
  sharing: readonly PublishedCollection[],
): readonly PublishedField[] {
  return sharing
    .flatMap((collection) => collection.fields)
    .filter((field) => {
      const column = find(field.column)
      if (column === undefined) return false
      return sqliteText.kept(column, field) === undefined || otherCheck(statement, field)
    })
}

function indexesWith(connection: Connection, table: string, column: string): readonly string[] {
  const select = `SELECT DISTINCT i.name FROM pragma_index_list(?) AS i, pragma_index_xinfo(i.name) AS c
    WHERE i.origin = 'c' AND lower(c.name) = lower(?)`
  return rowsOf(connection, select, [table, column]).map(([name]) => name as string)
}
