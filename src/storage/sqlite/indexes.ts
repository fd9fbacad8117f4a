import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { quoted } from '../sql.ts'
import type { IndexColumn, Table, Tables } from './tables.ts'

/** An index that a table should have. */
export interface WantedIndex {
  readonly table: string
  readonly unique: boolean
  readonly columns: readonly IndexColumn[]
}

/** Returns the indexes of unique groups and those that the definitions of collections declare. */
export function declaredIndexes(
  collections: readonly PublishedCollection[],
): readonly WantedIndex[] {
  return collections.flatMap((collection) => {
    const { table, uniques, indexes } = collection
    return [
      ...uniques.map((fields) => uniqueIndex(collection, fields)),
      ...indexes.map((fields) => ({
        table,
        unique: false,
        columns: fields.map(({ field, descending }) => ({ name: field.column, descending })),
      })),
    ]
  })
}

/** Returns the unique index of a group of fields. */
export function uniqueIndex(
  { table }: PublishedCollection,
  fields: readonly PublishedField[],
): WantedIndex {
  return { table, unique: true, columns: ascending(fields) }
}

/**
 * Returns the statements that create the indexes of a new table: those that are declared, and one for each
 * reference, because a delete of a referenced row looks for the rows that refer to it.
 */
export function indexesOfNew(collections: readonly PublishedCollection[]): readonly string[] {
  const table = (collections[0] as PublishedCollection).table
  const declared = declaredIndexes(collections)
  const ofReferences = collections
    .flatMap(({ references }) => references)
    .map(({ fields }) => ({ table, unique: false, columns: ascending(fields) }))
  const keys = collections.map(({ key }) => ascending(key))
  const created: WantedIndex[] = []
  const uniques = declared.filter(({ unique }) => unique)
  const others = [...declared.filter(({ unique }) => !unique), ...ofReferences]
  // The longest first: an index also serves reads by its first columns.
  for (const wanted of [
    ...uniques,
    ...others.toSorted((a, b) => b.columns.length - a.columns.length),
  ]) {
    const present = [...keys, ...created.map(({ columns }) => columns)]
    const isPresent = wanted.unique
      ? created.some(
          (one) =>
            one.unique &&
            isStart(wanted.columns, one.columns) &&
            isStart(one.columns, wanted.columns),
        )
      : present.some((columns) => isStart(wanted.columns, columns))
    if (!isPresent) created.push({ ...wanted, table })
  }
  return created.map(createIndex)
}

/** Returns the statement that creates an index. */
export function createIndex(wanted: WantedIndex): string {
  const { table, unique, columns } = wanted
  const name = quoted(indexName(wanted))
  const terms = columns.map((column) => `${quoted(column.name)}${column.descending ? ' DESC' : ''}`)
  const kind = unique ? 'UNIQUE INDEX' : 'INDEX'
  return `CREATE ${kind} IF NOT EXISTS ${name} ON ${quoted(table)} (${terms.join(', ')});`
}

/**
 * Returns the name of an index, such as `orders_status_-orderDate_index`. Different indexes have different names,
 * because SQLite does not create an index whose name exists. If a name contains `_`, points separate the names:
 * `order_lines.product.index`.
 */
function indexName({ table, unique, columns }: WantedIndex): string {
  const own = columns.map(({ name, descending }) => `${descending ? '-' : ''}${plainName(name)}`)
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
    return index.columns.every(({ name }) => table.columns.has(name.toLowerCase()))
  })
  // Collections may share a table.
  return [...new Map(missing.map((index) => [createIndex(index), index])).values()]
}

/** Returns whether a table has an index that serves the same reads or, if it is unique, the same group. */
export function hasIndex(table: Table, { unique, columns }: WantedIndex): boolean {
  if (unique) return table.isUnique(columns.map(({ name }) => name.toLowerCase()))
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

function ascending(fields: readonly PublishedField[]): readonly IndexColumn[] {
  return fields.map(({ column }) => ({ name: column, descending: false }))
}

function isStart(columns: readonly IndexColumn[], of: readonly IndexColumn[]): boolean {
  return columns.every(({ name, descending }, index) => {
    const other = of[index]
    return other?.name.toLowerCase() === name.toLowerCase() && other.descending === descending
  })
}
