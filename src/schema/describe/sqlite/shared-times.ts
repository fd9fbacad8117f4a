import type { Field } from '../../../definition/field.ts'
import { rowsOf, type Connection } from '../../../storage/sqlite/connection/connection.ts'
import { quoted } from '../../../storage/sql/fragments.ts'
import {
  isCut,
  uniqueGroups,
  type ColumnDescription,
  type TableDescription,
} from '../description.ts'

/**
 * Prefers times with microseconds where a program that writes them to one column is likely to write them to others, whose
 * values are without fraction by chance. Their values stay readable, whatever it writes later.
 */
export function withSharedMicroseconds(
  tables: readonly TableDescription[],
): readonly TableDescription[] {
  const hasMicroseconds = tables.some(({ columns }) =>
    columns.some(({ fields }) => isCut(fields[0])),
  )
  if (!hasMicroseconds) return tables
  return tables.map((table) => {
    // A key and unique values can't have digits that clients do not see.
    const exact = new Set([...table.keys, ...uniqueGroups(table)].flat())
    const columns = table.columns.map((column) =>
      exact.has(column.name) ? column : withMicroseconds(column),
    )
    return { ...table, columns }
  })
}

function withMicroseconds(column: ColumnDescription): ColumnDescription {
  const [best] = column.fields
  if (best === undefined || storedAsOf(best) !== 'YYYY-MM-DD hh:mm:ss[.fff]') return column
  const other = column.fields.find((field) => field.type === best.type && isCut(field))
  return other === undefined ? column : preferring(other, column)
}

/** Prefers the form that always has six digits, if a stored value has them although they are zero. */
export function withFixedDigits(
  connection: Connection,
  table: string,
  column: ColumnDescription,
): ColumnDescription {
  const fixed = column.fields.find((field) => storedAsOf(field) === 'YYYY-MM-DD hh:mm:ss.ffffff')
  if (fixed === undefined || !isCut(column.fields[0])) return column
  const some = `SELECT 1 FROM ${quoted(table)} WHERE ${quoted(column.name)} GLOB '*.000000' LIMIT 1`
  return rowsOf(connection, some).length === 0 ? column : preferring(fixed, column)
}

function preferring(field: Field, column: ColumnDescription): ColumnDescription {
  return { ...column, fields: [field, ...column.fields.filter((each) => each !== field)] }
}

function storedAsOf(field: Field): string | undefined {
  return (field as { readonly storedAs?: string }).storedAs
}
