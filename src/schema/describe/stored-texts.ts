import { join, raw, sql } from '../../storage/sql/fragments.ts'
import type { AllowedValues } from './allowed-values.ts'
import type { CatalogueColumn, CatalogueTable } from '../catalogue-tables.ts'
import type { ReadValues } from './described-database.ts'
import { maxSpellings, type ColumnDescription, type UnreachableRows } from './description.ts'

/**
 * Returns the only values of a column, also as they are stored: a CHECK on a column that ignores case, accents or
 * spaces at the end accepts other spellings. Undefined if these are many.
 */
export async function spelled(
  database: ReadValues,
  table: CatalogueTable,
  column: CatalogueColumn,
  values: AllowedValues,
): Promise<AllowedValues | undefined> {
  const isLoose = !column.isDeterministic || column.base === 'citext'
  const texts = values.filter((value) => typeof value === 'string')
  if (!isLoose || texts.length < values.length) return values
  const stored = database.textOf(raw(database.quoted(column.name)))
  const known = join(texts.map((known) => sql`${{ read: () => known }}`))
  const others = await database.rows(
    sql`select distinct ${stored} from ${database.place(table)} where ${stored} not in (${known}) limit ${raw(String(maxSpellings + 1))}`,
  )
  if (others.length > maxSpellings) return undefined
  return [...values, ...others.flatMap(([other]) => other ?? []).toSorted()]
}

/** Returns how many rows have keys that no path can have. */
export async function unreachableRows(
  database: ReadValues,
  table: CatalogueTable,
  keys: readonly (readonly string[])[],
  columns: readonly ColumnDescription[],
): Promise<readonly UnreachableRows[]> {
  const found: UnreachableRows[] = []
  for (const key of keys) {
    const texts = columns
      .filter(({ name, fields }) => key.includes(name) && fields[0]?.type === 'text')
      .map(({ name }) => database.textOf(raw(database.quoted(name))))
    if (texts.length === 0) continue
    const isOdd = texts.map((text) => {
      const length = database.lengthOf(text)
      return key.length === 1
        ? sql`(${length} = 0 or ${length} < 3 and ${text} in ('.', '..'))`
        : sql`(${length} = 0 or ${text} like '%,%')`
    })
    const [[rows] = []] = await database.rows(
      sql`select count(*) from ${database.place(table)} where ${join(isOdd, raw(' or '))}`,
    )
    if (Number(rows) > 0) found.push({ key, rows: Number(rows) })
  }
  return found
}
