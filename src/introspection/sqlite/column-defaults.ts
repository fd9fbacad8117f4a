import type { Field } from '../../definition/field.ts'
import type { Affinity } from '../../storage/sqlite/column-types.ts'
import type { Connection } from '../../storage/sqlite/connection.ts'
import { fittingFields } from './value-profile.ts'

/** A column with a default. */
export interface DefaultedColumn {
  /** The name of an affinity is also a declared type with this affinity. */
  readonly affinity: Affinity
  /** The expression of its default. */
  readonly default: string
}

// Tables of this prefix are left out of the description.
const table = 'rowgate_default'

/**
 * Returns those fields that the default of a column fits: it is stored in a temporary table, which converts it as
 * the column does. Returns all fields if the default can't be computed, for example because it calls a function of
 * the application.
 */
export function fieldsOfDefault(
  connection: Connection,
  column: DefaultedColumn,
  fields: readonly Field[],
): readonly Field[] {
  if (!storeDefault(connection, column)) return fields
  const [fitting = []] = fittingFields(connection, table, [{ column: 'value', fields }])
  connection.execute(`DROP TABLE temp.${table}`)
  return fitting
}

function storeDefault(
  connection: Connection,
  { affinity, default: value }: DefaultedColumn,
): boolean {
  // Only without parentheses, a name in double quotes is a string.
  return [`(${value})`, value].some((expression) => {
    try {
      connection.execute(`CREATE TEMP TABLE ${table} (value ${affinity} DEFAULT ${expression})`)
    } catch {
      return false
    }
    try {
      connection.execute(`INSERT INTO temp.${table} DEFAULT VALUES`)
      return true
    } catch {
      connection.execute(`DROP TABLE temp.${table}`)
      return false
    }
  })
}
