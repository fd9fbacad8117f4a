import { rowsOf, type Connection } from '../../../storage/sqlite/connection/connection.ts'
import { literalText, quoted } from '../../../storage/sql/fragments.ts'
import { maxSpellings, type ColumnDescription, type UnreachableRows } from '../description.ts'
import type { CatalogueTable } from './catalogue.ts'

type Values = readonly (string | number)[]

/**
 * Returns the only values of a column, also as they are stored: a CHECK on a column with a collation such as NOCASE
 * accepts other spellings. Undefined if these are many, or if every value is accepted.
 */
export function spelled(
  connection: Connection,
  { name: table, statement }: CatalogueTable,
  name: string,
  allowed: Values | undefined,
): Values | undefined {
  const texts = allowed?.filter((value) => typeof value === 'string') ?? []
  if (allowed === undefined || texts.length < allowed.length) return allowed
  if (!/collate/i.test(statement)) return allowed
  const column = `${quoted(name)} COLLATE BINARY`
  const known = texts.map(literalText).join(', ')
  const others = rowsOf(
    connection,
    `SELECT DISTINCT ${column} FROM ${quoted(table)} WHERE ${column} NOT IN (${known}) LIMIT ${maxSpellings + 1}`,
  )
  if (others.length > maxSpellings) return undefined
  return [...allowed, ...others.map(([other]) => String(other)).toSorted()]
}

/** Returns the number of rows whose key no path can have. */
export function unreachable(
  connection: Connection,
  table: string,
  key: readonly ColumnDescription[],
): readonly UnreachableRows[] {
  const texts = key
    .filter(({ fields }) => fields[0]?.type === 'text')
    .map(({ name }) => `${quoted(name)} COLLATE BINARY`)
  if (texts.length === 0) return []
  const isOdd = texts.map((text) =>
    key.length === 1 ? `${text} IN ('', '.', '..')` : `(${text} = '' OR instr(${text}, ',') > 0)`,
  )
  const statement = `SELECT count(*) FROM ${quoted(table)} WHERE ${isOdd.join(' OR ')}`
  const rows = Number(rowsOf(connection, statement)[0]?.[0] ?? 0)
  return rows === 0 ? [] : [{ key: key.map(({ name }) => name), rows }]
}
