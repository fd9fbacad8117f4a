import { createHash } from 'node:crypto'
import type { OnDelete } from '../definition/field.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../definition/published.ts'
import type { FoundTables, TableDialect } from './database.ts'
import { folded, groupByTable, hasColumn, type Table } from './model.ts'
import { isNotNull } from './required-columns.ts'
import { declaredIndexes, sharedFields, type WantedIndex } from './wanted-indexes.ts'

/** The names of tables and columns: those that exist, otherwise those that are created. */
export interface Names {
  table(name: string): string
  column(table: string, name: string): string
}

const ownNames: Names = { table: (name) => name, column: (_, name) => name }

/** Returns the names of tables and columns, which collections that share a table may write in different cases. */
export function namesIn(
  { dialect, find, identityOf }: FoundTables,
  collections: readonly PublishedCollection[],
): Names {
  if (dialect.schema.ignoresCase === true) return ownNames
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

/** Returns the statement that creates the table of collections. `references`: those that are constraints of it. */
export function createTable(
  dialect: TableDialect,
  sharing: readonly PublishedCollection[],
  references: readonly Reference[] = [],
): string {
  const { quoted, schema } = dialect
  const fields = sharedFields(sharing)
  const all = sharing.flatMap((collection) => collection.fields)
  const lines = Array.from(fields, ([name, field]) => {
    const checks = new Set(
      all
        .filter(({ column }) => folded(column) === name)
        .map((each) => checkOf(schema, field, each)),
    )
    // A check for one of several fields could reject the values of another.
    const define = checks.size > 1 ? bareColumn : columnDefinition
    return define(dialect, sharing, field, isNotNull(sharing, field))
  })
  const keyed = sharing.find(({ key }) => key.length > 0)
  if (keyed !== undefined) {
    const key = keyed.key.map(({ column }) => fields.get(folded(column)) as PublishedField)
    lines.push(`PRIMARY KEY (${key.map(({ column }) => quoted(column)).join(', ')})`)
  }
  lines.push(...new Set(references.flatMap((one) => schema.foreignKey?.(one) ?? [])))
  const { table } = sharing[0] as PublishedCollection
  return `CREATE TABLE IF NOT EXISTS ${quoted(table)} (\n  ${lines.join(',\n  ')}\n)${schema.tableOptions};`
}

function checkOf(
  { check }: TableDialect['schema'],
  { column }: PublishedField,
  field: PublishedField,
): string {
  return check?.({ ...field, column }) ?? ''
}

/** Returns the definition of a column. `rejectsNull`: default only in a key, as in a column that is added to a table. */
export function columnDefinition(
  dialect: TableDialect,
  sharing: readonly PublishedCollection[],
  field: PublishedField,
  rejectsNull = field.inKey,
): string {
  const check = dialect.schema.check?.(field) ?? ''
  return `${bareColumn(dialect, sharing, field, rejectsNull)}${check}`
}

/** Returns the definition of a column without a check. */
export function bareColumn(
  dialect: TableDialect,
  sharing: readonly PublishedCollection[],
  field: PublishedField,
  rejectsNull = field.inKey,
): string {
  const { quoted, schema } = dialect
  const numbered = field.generated === 'database' ? schema.numbered : ''
  const type = declaredType(dialect, sharing, field)
  return `${quoted(field.column)} ${type}${numbered}${rejectsNull ? ' NOT NULL' : ''}`
}

/** Returns the type of a new column. `table`: the table of one that is redeclared, whose indexes stay. */
export function declaredType(
  { columnTypes }: TableDialect,
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
  dialect: TableDialect,
  collection: PublishedCollection,
  field: PublishedField,
): string {
  const column = columnDefinition(dialect, [collection], field)
  return `ALTER TABLE ${dialect.quoted(collection.table)} ADD COLUMN ${column};`
}

/** Returns the statement that creates an index, in the order in which pages are sorted. */
export function createIndex(
  { quoted, schema }: TableDialect,
  wanted: WantedIndex,
  names: Names = ownNames,
): string {
  const table = names.table(wanted.table)
  const terms = wanted.fields.map(({ field, descending }) => {
    const column = quoted(names.column(wanted.table, field.column))
    return wanted.unique ? column : `${column}${schema.indexOrder(field, descending)}`
  })
  const kind = wanted.unique ? 'UNIQUE INDEX' : 'INDEX'
  const name = quoted(
    schema.indexName?.(wanted) ?? shortName([table, ...terms, wanted.unique ? 'unique' : 'index']),
  )
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
  { quoted }: TableDialect,
  { from, fields, to, onDelete }: Reference,
  names: Names,
): string {
  const listed = ({ table }: PublishedCollection, columns: readonly PublishedField[]): string =>
    columns.map(({ column }) => quoted(names.column(table, column))).join(', ')
  const target = `${quoted(names.table(to.table))} (${listed(to, to.key)})`
  const key = `FOREIGN KEY (${listed(from, fields)}) REFERENCES ${target}${effects[onDelete]}`
  return `ALTER TABLE ${quoted(names.table(from.table))} ADD ${key};`
}
