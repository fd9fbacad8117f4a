import { createHash } from 'node:crypto'
import type { OnDelete } from '../definition/field.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../definition/published.ts'
import type { Dialect, Tables } from '../storage/sql/dialect.ts'
import { unfilled } from './column-values.ts'
import { isNotNull, nothingLacks, type Lacking } from './required-columns.ts'
import { missingSearches } from './search-index.ts'
import { statementTexts } from '../storage/sql/shape.ts'
import { exactNames, folded, groupByTable, hasColumn, type Table } from './model.ts'
import { declaredIndexes, indexesOfNew, sharedFields, type WantedIndex } from './wanted-indexes.ts'

/** Returns the statements that create the tables of collections, with their indexes and foreign keys. */
export function createTables(
  dialect: Dialect,
  collections: readonly PublishedCollection[],
  targets: readonly PublishedCollection[] = collections,
): readonly string[] {
  return missingStatements(noTables(dialect, targets), collections, { targets })
}

/** Returns the tables of an empty database, where names that differ in case are different. */
export function noTables(dialect: Dialect, collections: readonly PublishedCollection[]): Tables {
  const names = exactNames(collections)
  return { dialect, texts: statementTexts(0), names, ...names([]) }
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
  tables: Tables,
  collections: readonly PublishedCollection[],
  { addsColumns = false, targets = collections, lacking = nothingLacks }: MissingOptions = {},
): readonly string[] {
  const { dialect } = tables
  const created = collections.filter(
    (one) => tables.find(one.table) === undefined && !one.hasColumnDefaults,
  )
  const present = collections.filter(({ table }) => isTable(tables.find(table)))
  const references = created
    .flatMap(({ references: all }) => all)
    .filter((reference) => targets.includes(reference.to))
    .filter((reference) => dialect.schema.isForeignKey(reference, tables.identityOf))
    .filter((reference) => created.includes(reference.to) || canReferToExisting(tables, reference))
  const added = addsColumns
    ? present.map((one) => [one, missingColumns(one, tables.find(one.table))] as const)
    : []
  const columns = new Set(added.flatMap(([, fields]) => fields))
  const groups = [...groupByTable(created, tables.identityOf).values()]
  const indexes = [
    ...groups.flatMap(indexesOfNew),
    ...present.flatMap((one) => {
      const table = tables.find(one.table)
      return declaredIndexes(one).filter(
        (index) =>
          !hasIndex(table, index) &&
          index.fields.every(
            ({ field }) => columns.has(field) || table?.find(field.column) !== undefined,
          ),
      )
    }),
  ]
  const names = namesIn(tables, [...collections, ...targets])
  const statements = [
    ...groups.map((sharing) => createTable(dialect, sharing)),
    ...added.flatMap(([one, fields]) =>
      fields.map((field) => addColumn(dialect, { ...one, table: names.table(one.table) }, field)),
    ),
    ...unfilled(tables, collections, lacking).flatMap(({ statement = [] }) => statement),
    ...indexes.map((index) => createIndex(dialect, index, names)),
    ...missingSearches(tables, [...created, ...present]),
    ...references.map((reference) => addForeignKey(dialect, reference, names)),
  ]
  // Collections may share a table.
  return [...new Set(statements)]
}

/** Returns whether new columns can have a foreign key to a table that exists. If not, the service obeys the reference. */
function canReferToExisting({ dialect, find }: Tables, { from, fields, to }: Reference): boolean {
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

/** The names of tables and columns: those that exist, otherwise those that are created. */
export interface Names {
  table(name: string): string
  column(table: string, name: string): string
}

const ownNames: Names = { table: (name) => name, column: (_, name) => name }

/** Returns the names of tables and columns, which collections that share a table may write in different cases. */
export function namesIn(tables: Tables, collections: readonly PublishedCollection[]): Names {
  const { find, identityOf } = tables
  const groups = groupByTable(collections, identityOf)
  const fields = new Map(Array.from(groups, ([table, sharing]) => [table, sharedFields(sharing)]))
  return {
    table: (name) => find(name)?.name ?? groups.get(identityOf(name))?.[0]?.table ?? name,
    column: (table, name) =>
      find(table)?.find(name)?.name ??
      fields.get(identityOf(table))?.get(folded(name))?.column ??
      name,
  }
}

/** Returns the statement that creates the table of collections. */
export function createTable(dialect: Dialect, sharing: readonly PublishedCollection[]): string {
  const { quoted, schema } = dialect
  const fields = sharedFields(sharing)
  const lines = Array.from(fields.values(), (field) =>
    columnDefinition(dialect, sharing, field, isNotNull(sharing, field)),
  )
  const keyed = sharing.find(({ key }) => key.length > 0)
  if (keyed !== undefined) {
    const key = keyed.key.map(({ column }) => fields.get(folded(column)) as PublishedField)
    lines.push(`PRIMARY KEY (${key.map(({ column }) => quoted(column)).join(', ')})`)
  }
  const { table } = sharing[0] as PublishedCollection
  return `CREATE TABLE IF NOT EXISTS ${quoted(table)} (\n  ${lines.join(',\n  ')}\n)${schema.tableOptions};`
}

/** Returns the definition of a column. `rejectsNull`: default only in a key, as in a column that is added to a table. */
export function columnDefinition(
  dialect: Dialect,
  sharing: readonly PublishedCollection[],
  field: PublishedField,
  rejectsNull = field.inKey,
): string {
  const { quoted, schema } = dialect
  const numbered = field.generated === 'database' ? ` ${schema.numbered}` : ''
  const type = declaredType(dialect, sharing, field)
  return `${quoted(field.column)} ${type}${numbered}${rejectsNull ? ' NOT NULL' : ''}`
}

/** Returns the type of a new column. `table`: the table of one that is redeclared, whose indexes stay. */
export function declaredType(
  { columnTypes }: Dialect,
  sharing: readonly PublishedCollection[],
  field: PublishedField,
  table?: Table,
): string {
  const name = table?.find(field.column)?.name ?? ''
  const present = table?.indexes.filter((index) => hasColumn(index, name)) ?? []
  const parts = present.map(({ columns }) => columns.length)
  return columnTypes[field.type].declared(
    field.definition,
    Math.max(indexedColumns(sharing, field), ...parts),
  )
}

/** Returns the number of columns in the longest key, index or reference that a column is part of. */
function indexedColumns(
  sharing: readonly PublishedCollection[],
  { column }: PublishedField,
): number {
  const keys = sharing.flatMap(({ key, references }) => [
    key,
    ...references.map(({ fields }) => fields),
  ])
  const indexes = sharing
    .flatMap(declaredIndexes)
    .map(({ fields }) => fields.map(({ field }) => field))
  return [...keys, ...indexes]
    .filter((fields) => fields.some((field) => folded(field.column) === folded(column)))
    .reduce((most, fields) => Math.max(most, fields.length), 0)
}

/** Returns the statement that adds a column to a table. */
export function addColumn(
  dialect: Dialect,
  collection: PublishedCollection,
  field: PublishedField,
): string {
  const column = columnDefinition(dialect, [collection], field)
  return `ALTER TABLE ${dialect.quoted(collection.table)} ADD COLUMN ${column};`
}

function missingColumns(
  collection: PublishedCollection,
  table: Table | undefined,
): readonly PublishedField[] {
  return collection.fields
    .filter(({ inKey, hasColumnDefault }) => !inKey && !hasColumnDefault)
    .filter(({ column }) => table?.find(column) === undefined)
}

/** Returns whether a table has an index for the same group of columns or, if it is not unique, the same order. */
export function hasIndex(table: Table | undefined, wanted: WantedIndex): boolean {
  if (table === undefined) return false
  const columns = wanted.fields.map(({ field }) => table.find(field.column)?.name ?? null)
  return table.indexes.some((index) => {
    if (!wanted.unique) {
      return wanted.fields.every(({ descending }, at) => {
        const part = index.columns[at]
        return part?.name === columns[at] && part?.descending === descending
      })
    }
    if (!index.unique || index.columns.length !== columns.length) return false
    return index.columns.every(({ name }) => columns.includes(name))
  })
}

/** Returns the statement that creates an index, in the order in which pages are sorted. */
export function createIndex(
  { quoted, schema }: Dialect,
  wanted: WantedIndex,
  names: Names = ownNames,
): string {
  const table = names.table(wanted.table)
  const terms = wanted.fields.map(({ field, descending }) => {
    const column = quoted(names.column(wanted.table, field.column))
    return wanted.unique ? column : `${column}${schema.indexOrder(field, descending)}`
  })
  const kind = wanted.unique ? 'UNIQUE INDEX' : 'INDEX'
  const name = quoted(shortName([table, ...terms, wanted.unique ? 'unique' : 'index']))
  return `CREATE ${kind} ${schema.ifMissing}${name} ON ${quoted(table)} (${terms.join(', ')});`
}

// A name has at most 63 bytes, and an index with an existing name would not be created.
function shortName(parts: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 8)
  const plain = parts
    .map((part) =>
      part
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, ' ')
        .trim(),
    )
    .join(' ')
    .replace(/ +/g, '_')
  return `${plain.slice(0, 50)}_${digest}`
}

const effects: Readonly<Record<OnDelete, string>> = {
  restrict: '',
  cascade: ' ON DELETE CASCADE',
  setNull: ' ON DELETE SET NULL',
}

/** Returns the statement that adds the foreign key of a reference. */
export function addForeignKey(
  { quoted }: Dialect,
  { from, fields, to, onDelete }: Reference,
  names: Names,
): string {
  const listed = ({ table }: PublishedCollection, columns: readonly PublishedField[]): string =>
    columns.map(({ column }) => quoted(names.column(table, column))).join(', ')
  const target = `${quoted(names.table(to.table))} (${listed(to, to.key)})`
  const key = `FOREIGN KEY (${listed(from, fields)}) REFERENCES ${target}${effects[onDelete]}`
  return `ALTER TABLE ${quoted(names.table(from.table))} ADD ${key};`
}
