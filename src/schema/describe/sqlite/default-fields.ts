import type { Field } from '../../../definition/field.ts'
import type { Connection } from '../../../storage/sqlite/connection/connection.ts'
import type { CatalogueTable } from '../../catalogue-tables.ts'
import type { ReadValues } from '../described-database.ts'
import type { ColumnDescription } from '../description.ts'
import { fittingFields } from '../fitting-fields.ts'

// Tables of this prefix are left out of the description.
const defaultTable = 'rowgate_default'

/**
 * Returns those fields of a column that its default fits: it is stored in a temporary table, which converts it as the
 * column does. Returns all fields if there is no default, or if it can't be computed, for example because it calls a
 * function of the application.
 */
export async function fieldsOfDefault(
  connection: Connection,
  database: ReadValues,
  table: CatalogueTable,
  column: ColumnDescription,
): Promise<readonly Field[]> {
  const { fields } = column
  if (column.default === undefined || fields.length === 0) return fields
  if (!storeDefault(connection, column.base, column.default)) return fields
  const stored = { ...table, name: defaultTable, columns: [{ ...column, name: 'value' }] }
  const announce = (): Promise<void> => Promise.resolve()
  const [fitting = []] = await fittingFields(database, {
    ...{ table: stored, candidates: [{ fields }], announce },
  })
  connection.execute(`DROP TABLE temp.${defaultTable}`)
  return fitting
}

// The name of an affinity is also a declared type with this affinity.
function storeDefault(connection: Connection, affinity: string, value: string): boolean {
  // Only without parentheses, a name in double quotes is a string.
  return [`(${value})`, value].some((expression) => {
    try {
      connection.execute(
        `CREATE TEMP TABLE ${defaultTable} (value ${affinity} DEFAULT ${expression})`,
      )
    } catch {
      return false
    }
    try {
      connection.execute(`INSERT INTO temp.${defaultTable} DEFAULT VALUES`)
      return true
    } catch {
      connection.execute(`DROP TABLE temp.${defaultTable}`)
      return false
    }
  })
}
