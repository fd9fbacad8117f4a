import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { InspectionProgress } from '../../storage/problem.ts'
import {
  rowsOf,
  type Connection,
  type SqliteRow,
  type SqliteValue,
} from '../../storage/sqlite/connection/connection.ts'
import { quoted } from '../../storage/sql/fragments.ts'
import type { Table } from '../model.ts'

/** The table of a collection, and how its rows are inspected. */
export interface InspectedTable {
  readonly collection: PublishedCollection
  readonly table: Table
  /** The fields whose columns exist. */
  readonly fields: readonly PublishedField[]
  readonly guaranteed: ReadonlySet<PublishedField>
  /** The name of the table in SQL. */
  readonly from: string
  /** The name of its row number; undefined if it has none. */
  readonly rowId: string | undefined
  readonly progress: InspectionProgress
  run(sql: string, parameters?: readonly SqliteValue[]): Promise<readonly SqliteRow[]>
  /** Returns the keys of up to three rows, each with the values of columns. `rows` is what follows FROM. */
  examples(rows: string, columns: readonly string[]): Promise<readonly string[]>
}

/** Runs work on a connection when it can read. */
export type ReadWith = <Result>(work: (connection: Connection) => Result) => Promise<Result>

/** Returns the table of a collection, to be inspected. */
export function createInspectedTable(
  collection: PublishedCollection,
  table: Table,
  options: Pick<InspectedTable, 'guaranteed' | 'progress'> & { readonly read: ReadWith },
): InspectedTable {
  const { guaranteed, progress, read } = options
  const hasColumn = ({ column }: PublishedField): boolean => table.find(column) !== undefined
  const key = collection.key.filter(hasColumn).map(({ column }) => quotedValue(column))
  const run: InspectedTable['run'] = (sql, parameters) =>
    read((connection) => rowsOf(connection, sql, parameters))
  return {
    collection,
    table,
    fields: collection.fields.filter(hasColumn),
    guaranteed,
    from: quoted(collection.table),
    rowId: table.kind === 'table' && !table.withoutRowId ? table.identity?.[0] : undefined,
    progress,
    run,
    async examples(rows, columns) {
      const shown = columns.map(quotedValue).join(` || ', ' || `) || "''"
      const found = await run(`SELECT ${[shown, ...key].join(', ')} FROM ${rows} LIMIT 3`)
      return found.map(([value, ...keys]) =>
        [keys.map(String).join(', '), String(value)].filter((part) => part !== '').join(': '),
      )
    },
  }
}

/** Returns the expression of a value of a column as a short literal of SQL. */
export function quotedValue(column: string): string {
  return `substr(quote(${quoted(column)}), 1, 60)`
}
