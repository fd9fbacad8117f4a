import { quoted } from '../../storage/sql/fragments.ts'
import type { WantedIndex } from '../wanted-indexes.ts'
import type { IndexColumn, Table, Tables } from './tables.ts'
import { folded } from '../model.ts'

/** Returns the statement that creates an index. */
export function createIndex(wanted: WantedIndex): string {
  const { table, unique } = wanted
  const name = quoted(indexName(wanted))
  const terms = columnsOf(wanted).map(
    (column) => `${quoted(column.name)}${column.descending ? ' DESC' : ''}`,
  )
  const kind = unique ? 'UNIQUE INDEX' : 'INDEX'
  return `CREATE ${kind} IF NOT EXISTS ${name} ON ${quoted(table)} (${terms.join(', ')});`
}

/**
 * Returns the name of an index, such as `orders_status_-orderDate_index`. Different indexes have different names,
 * because SQLite does not create an index whose name exists. If a name contains `_`, points separate the names:
 * `order_lines.product.index`.
 */
function indexName(wanted: WantedIndex): string {
  const { table, unique } = wanted
  const own = columnsOf(wanted).map(
    ({ name, descending }) => `${descending ? '-' : ''}${plainName(name)}`,
  )
  const names = [plainName(table), ...own, unique ? 'unique' : 'index']
  return names.join(names.some((name) => name.includes('_')) ? '.' : '_')
}

// A name that contains a separator or begins with a sign is quoted.
function plainName(name: string): string {
  return /^-|[."]/.test(name) ? quoted(name) : name
}

/** Returns the indexes that existing tables lack, if their columns exist. Views have none. */
export function missingIndexes(
  tables: Tables,
  wanted: readonly WantedIndex[],
): readonly WantedIndex[] {
  const missing = wanted.filter((index) => {
    const table = tables.find(index.table)
    if (table?.kind !== 'table' || hasIndex(table, index)) return false
    return columnsOf(index).every(({ name }) => table.columns.has(folded(name)))
  })
  // Collections may share a table.
  return [...new Map(missing.map((index) => [createIndex(index), index])).values()]
}

/** Returns whether a table has an index that serves the same reads or, if it is unique, the same group. */
export function hasIndex(table: Table, wanted: WantedIndex): boolean {
  const columns = columnsOf(wanted)
  if (wanted.unique) return table.isUnique(columns.map(({ name }) => folded(name)))
  return table.indexes().some((index) => !index.partial && isStart(columns, index.columns))
}

/** Returns the error of a failed statement: that of a unique index names the cause. */
export function indexFailure(error: unknown, statement: string): unknown {
  if (!statement.startsWith('CREATE UNIQUE INDEX')) return error
  if (!(error instanceof Error) || !error.message.includes('UNIQUE constraint failed')) return error
  const [, place = ''] = statement.split(' ON ', 2)
  return new TypeError(
    `sqliteStorage: rows of ${place.replace(/;$/, '')} have the same values, which the definition declares unique. Change them, or remove the option unique.`,
    { cause: error },
  )
}

function columnsOf({ fields }: WantedIndex): readonly IndexColumn[] {
  return fields.map(({ field, descending }) => ({ name: field.column, descending }))
}

function isStart(columns: readonly IndexColumn[], of: readonly IndexColumn[]): boolean {
  return columns.every(({ name, descending }, index) => {
    const other = of[index]
    return (
      other !== undefined && folded(other.name) === folded(name) && other.descending === descending
    )
  })
}
