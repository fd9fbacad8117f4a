import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../definition/published.ts'
import { unfilled } from './column-values.ts'
import { hasIndex } from './compare.ts'
import type { FoundTables, TableDialect } from './database.ts'
import { exactNames, foldedNames, groupByTable, type Table } from './model.ts'
import { nothingLacks, type Lacking } from './required-columns.ts'
import {
  addColumn,
  addForeignKey,
  createIndex,
  createTable,
  declaredType,
  namesIn,
} from './statements.ts'
import { declaredIndexes, indexesOfNew, type WantedIndex } from './wanted-indexes.ts'

/** Returns the statements that create the tables of collections, with their indexes and foreign keys. */
export function createTables(
  dialect: TableDialect,
  collections: readonly PublishedCollection[],
  targets: readonly PublishedCollection[] = collections,
): readonly string[] {
  return missingStatements(noTables(dialect, targets), collections, { targets })
}

function noTables(dialect: TableDialect, collections: readonly PublishedCollection[]): FoundTables {
  const names = dialect.schema.ignoresCase === true ? foldedNames : exactNames(collections)
  return { dialect, ...names([]) }
}

/** Options of {@link missingStatements}. */
export interface MissingOptions {
  /** Whether missing columns are added to existing tables. Default false. */
  readonly addsColumns?: boolean
  /** The collections to which foreign keys can refer. Default: all that are given. */
  readonly targets?: readonly PublishedCollection[]
  /** The rows without a value of a missing column. Default: none. */
  readonly lacking?: Lacking
}

/**
 * Returns the statements that create missing tables, columns and indexes, and the foreign keys of missing tables, in
 * the order in which they must run. What needs a default of a column is left out, because definitions do not contain it.
 */
export function missingStatements(
  tables: FoundTables,
  collections: readonly PublishedCollection[],
  { addsColumns = false, targets = collections, lacking = nothingLacks }: MissingOptions = {},
): readonly string[] {
  const { dialect, find } = tables
  const created = collections.filter(
    (one) => find(one.table) === undefined && !one.hasColumnDefaults,
  )
  const present = collections.filter(({ table }) => isTable(find(table)))
  const added = addsColumns
    ? present.map((one) => [one, missingColumns(one, find(one.table))] as const)
    : []
  const groups = [...groupByTable(created, tables.identityOf).values()]
  const names = namesIn(tables, [...collections, ...targets])
  const references = created.flatMap((one) => one.references)
  const statements = [
    ...groups.map((sharing) => createTable(dialect, sharing, newKeys(tables, sharing, targets))),
    ...added.flatMap(([one, fields]) =>
      fields.map((field) => addColumn(dialect, { ...one, table: names.table(one.table) }, field)),
    ),
    ...unfilled(tables, collections, lacking).flatMap(({ statement = [] }) => statement),
    ...[
      ...groups.flatMap(indexesOfNew),
      ...missingIndexes(tables, present, new Set(added.flatMap(([, fields]) => fields))),
    ].map((index) => createIndex(dialect, index, names)),
    ...missingSearches(tables, [...created, ...present]),
    ...(dialect.schema.foreignKey === undefined ? references : [])
      .filter((reference) => canAdd(tables, reference, { created, targets }))
      .map((reference) => addForeignKey(dialect, reference, names)),
  ]
  // Collections may share a table.
  return [...new Set(statements)]
}

/** Returns the indexes that existing tables lack, if their columns exist or are added. */
function missingIndexes(
  { find }: FoundTables,
  present: readonly PublishedCollection[],
  added: ReadonlySet<PublishedField>,
): readonly WantedIndex[] {
  return present.flatMap((one) => {
    const table = find(one.table)
    return declaredIndexes(one).filter(
      (index) =>
        !hasIndex(table, index) &&
        index.fields.every(
          ({ field }) => added.has(field) || table?.find(field.column) !== undefined,
        ),
    )
  })
}

function missingSearches(
  tables: FoundTables,
  collections: readonly PublishedCollection[],
): readonly string[] {
  const { search } = tables.dialect.schema
  if (search === undefined) return []
  const groups = [...groupByTable(collections, tables.identityOf).values()]
  return groups.flatMap((sharing) => search.missing(tables, sharing))
}

/** Returns the references that are constraints of a new table. A foreign key can't refer to a view. */
export function newKeys(
  { dialect: { schema }, find, identityOf }: FoundTables,
  sharing: readonly PublishedCollection[],
  targets: readonly PublishedCollection[],
): readonly Reference[] {
  if (schema.foreignKey === undefined) return []
  return sharing
    .flatMap(({ references }) => references)
    .filter((reference) => targets.includes(reference.to))
    .filter((reference) => schema.isForeignKey(reference, identityOf))
    .filter(({ to }) => (find(to.table)?.kind ?? 'table') === 'table')
}

/** Returns whether new columns can have a foreign key. If not, the service obeys the reference. */
function canAdd(
  { dialect, find, identityOf }: FoundTables,
  reference: Reference,
  { created, targets }: Readonly<Record<'created' | 'targets', readonly PublishedCollection[]>>,
): boolean {
  const { from, fields, to } = reference
  if (!targets.includes(to) || !dialect.schema.isForeignKey(reference, identityOf)) return false
  if (created.includes(to)) return true
  const target = find(to.table)
  if (!isTable(target)) return false
  return fields.every((field, index) => {
    const column = target?.find(to.key[index]?.column ?? '')
    if (column === undefined) return false
    return dialect.schema.canRefer?.(declaredType(dialect, [from], field), column) !== false
  })
}

function isTable(table: Table | undefined): boolean {
  return table?.kind === 'table'
}

function missingColumns(
  collection: PublishedCollection,
  table: Table | undefined,
): readonly PublishedField[] {
  return collection.fields
    .filter(({ inKey, hasColumnDefault }) => !inKey && !hasColumnDefault)
    .filter(({ column }) => table?.find(column) === undefined)
}
