import type { CatalogueColumn, CatalogueTable } from '../../catalogue-tables.ts'
import { bind, type Connection, type TextRow } from '../../../storage/pool/connection.ts'
import { join, raw, sql, type Sql } from '../../../storage/sql/fragments.ts'
import { maxSpellings, type ColumnDescription, type UnreachableRows } from '../description.ts'
import type { ValueCatalogue } from './fitting-fields.ts'

/** Reads the strings of a table. */
export interface TextsOfTable {
  /**
   * Returns the only values of a column, also as they are stored: a CHECK on a column that ignores case, accents or
   * spaces at the end accepts other spellings. Undefined if these are many.
   */
  spelled(
    column: CatalogueColumn,
    values: readonly (string | number)[],
  ): Promise<readonly (string | number)[] | undefined>
  /** Returns the number of rows whose key no path can have. */
  unreachable(key: readonly ColumnDescription[]): Promise<readonly UnreachableRows[]>
}

/** Returns the functions that read the strings of a table. */
export function textsOf(
  connection: Connection,
  { textOf, quoted }: ValueCatalogue,
  { schema, name }: CatalogueTable,
): TextsOfTable {
  const from = raw([schema, name].map(quoted).join('.'))
  const read = (statement: Sql): Promise<readonly TextRow[]> => connection.rows(bind(statement))
  const text = (column: string): Sql => textOf(raw(quoted(column)))
  return {
    async spelled(column, values) {
      const isLoose = !column.isDeterministic || column.base === 'citext'
      const texts = values.filter((value) => typeof value === 'string')
      if (!isLoose || texts.length < values.length) return values
      const stored = text(column.name)
      const known = join(texts.map((known) => sql`${{ read: () => known }}`))
      const others = await read(
        sql`select distinct ${stored} from ${from} where ${stored} not in (${known}) limit ${raw(String(maxSpellings + 1))}`,
      )
      if (others.length > maxSpellings) return undefined
      return [...values, ...others.flatMap(([other]) => other ?? []).toSorted()]
    },
    async unreachable(key) {
      const names = key.map((column) => column.name)
      const texts = key
        .filter(({ fields }) => fields[0]?.type === 'text')
        .map((one) => text(one.name))
      if (texts.length === 0) return []
      const isOdd = texts.map((one) => {
        const isEmpty = sql`octet_length(${one}) = 0`
        return key.length === 1
          ? sql`(${isEmpty} or octet_length(${one}) < 3 and ${one} in ('.', '..'))`
          : sql`(${isEmpty} or ${one} like '%,%')`
      })
      const [[rows] = []] = await read(
        sql`select count(*) from ${from} where ${join(isOdd, raw(' or '))}`,
      )
      return Number(rows) === 0 ? [] : [{ key: names, rows: Number(rows) }]
    },
  }
}
