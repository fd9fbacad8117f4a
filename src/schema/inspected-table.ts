import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { bind, type Connection, type TextRow } from '../storage/pool/connection.ts'
import type { Tables } from '../storage/sql/dialect.ts'
import { join, sql, type Sql } from '../storage/sql/fragments.ts'
import { columnOf, keptType, placeOf, type TablePlace } from '../storage/sql/table-conditions.ts'

/** The table of a collection, under the alias `t`, and how its rows are inspected. */
export interface InspectedTable {
  readonly tables: Tables
  readonly collection: PublishedCollection
  readonly connection: Connection
  readonly place: TablePlace
  /** The fields whose columns keep their values. */
  readonly fields: readonly PublishedField[]
  rows(statement: Sql): Promise<readonly TextRow[]>
  /** Returns the keys of up to three rows, each with the values of fields. */
  examples(condition: Sql, fields: readonly PublishedField[]): Promise<readonly string[]>
}

/** The alias of the table in statements. */
export const alias = 't'

/** Returns the table of a collection, to be inspected. */
export function inspectedTable(
  connection: Connection,
  tables: Tables,
  collection: PublishedCollection,
): InspectedTable {
  const place = placeOf(tables, collection, alias)
  const fields = collection.fields.filter(({ column }) => place.found.find(column) !== undefined)
  const key = collection.key.filter((field) => fields.includes(field))
  const rows = (statement: Sql): Promise<readonly TextRow[]> => connection.rows(bind(statement))
  return {
    tables,
    collection,
    connection,
    place,
    fields: fields.filter(
      (field) => keptType(tables.dialect, columnOf(place.found, field), field) !== undefined,
    ),
    rows,
    async examples(condition, shown) {
      const columns = [...key, ...shown].map((field) => place.stored(field))
      const found = await rows(
        sql`select ${join(columns)} from ${place.table} where ${condition} limit 3`,
      )
      return found.map((row) => {
        const values = [...key, ...shown].map((field, at) => literalOf(field, row[at] ?? null))
        const [keys, others] = [values.slice(0, key.length), values.slice(key.length)]
        return [keys.join(', '), others.join(', ')].filter((part) => part !== '').join(': ')
      })
    },
  }
}

const numbers: readonly string[] = ['integer', 'bigint', 'decimal', 'double']

/** Returns the text of a value as a short literal of SQL. */
export function literalOf({ type }: PublishedField, text: string | null): string {
  if (text === null) return 'NULL'
  return (numbers.includes(type) ? text : `'${text.replaceAll("'", "''")}'`).slice(0, 60)
}
