import { completeOptions } from '../../checks/options.ts'
import { isJsonNumber } from '../../protocol/json-number.ts'
import type { Json } from '../../protocol/json.ts'
import { flattenShape, flattenWithin, type FlattenOptions } from './flatten.ts'
import { allTables } from './table.ts'

/** A table of a response, as {@link describeTables} returns it. */
export interface TableDescription {
  /** The path that `from` of a rule names; null is the root. */
  readonly path: string | null
  /** How many rows it has. */
  readonly rows: number
  readonly columns: readonly ColumnDescription[]
}

/** A column of a table of a response. */
export interface ColumnDescription {
  readonly name: string
  /** The types of its cells: `string`, `number`, `boolean`, `null`, and for an empty `object` or `array` this word. */
  readonly types: readonly string[]
  /** Whether every row has the column. */
  readonly inEveryRow: boolean
}

/** Returns the tables of a response with their columns and types. Throws as `flatten` does. */
export function describeTables(
  response: unknown,
  options: FlattenOptions = {},
): readonly TableDescription[] {
  const complete = completeOptions('describeTables', flattenShape, options)
  return allTables(flattenWithin(response as Json, complete)).map(({ path, rows, columns }) => ({
    path,
    rows: rows.length,
    columns: [...columns].map((name) => {
      const types = new Set<string>()
      let count = 0
      for (const { values, empty } of rows) {
        const isCell = Object.hasOwn(values, name)
        if (isCell) types.add(typeOf(values[name]))
        else if (empty !== undefined && Object.hasOwn(empty, name)) types.add(empty[name] ?? '')
        else continue
        count++
      }
      return { name, types: [...types].sort(), inEveryRow: count === rows.length }
    }),
  }))
}

function typeOf(cell: unknown): string {
  if (cell === null) return 'null'
  return isJsonNumber(cell) ? 'number' : typeof cell
}
