import type { Field } from '../../definition/field.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { storedForms } from '../../definition/stored-forms.ts'
import { affinityOf } from './column-types.ts'
import { columnTypeOf } from '../../storage/sqlite/statements/columns.ts'
import { computedMistake } from '../computed-columns.ts'
import { uniqueIndex } from '../wanted-indexes.ts'
import { keepsValues } from './guarantees.ts'
import { createIndex, hasIndex } from './indexes.ts'
import {
  bareColumn,
  columnDefinition,
  createSchema,
  createTables,
  otherCheck,
} from './statements.ts'
import { quoted } from '../../storage/sql/fragments.ts'
import { unfilled } from './column-values.ts'
import { nothingLacks, type Lacking } from '../required-columns.ts'
import { hasSearch, searchOf, sharingIn, type Sharing } from './search-index.ts'
import { rowNumberOf, type Table, type Tables } from './tables.ts'
import { folded } from '../model.ts'

/**
 * Compares tables with their collections. Returns one message for each mistake.
 *
 * @param exact the result of {@link exactColumns}
 */
export function tableMistakes(
  tables: Tables,
  collections: readonly PublishedCollection[],
  exact: ReadonlySet<PublishedField>,
): readonly string[] {
  const compared = { tables, collections, sharingOf: sharingIn(collections), exact }
  return collections.flatMap((collection) => collectionMistakes(collection, compared))
}

/** What a collection is compared with. */
interface Compared {
  readonly tables: Tables
  /** All collections of the storage. */
  readonly collections: readonly PublishedCollection[]
  readonly sharingOf: Sharing
  readonly exact: ReadonlySet<PublishedField>
}

/** Compares the table of a collection with it. Returns one message for each mistake. */
export function collectionMistakes(
  collection: PublishedCollection,
  { tables, collections, sharingOf, exact }: Compared,
): readonly string[] {
  const table = tables.find(collection.table)
  if (table?.failure !== undefined)
    return [`${placeOf(collection)}: its rows can't be read: ${table.failure}`]
  if (table !== undefined) {
    const fields = collection.fields
      .filter((field) => !exact.has(field) || !fitsColumn(field, table))
      .flatMap((field) => columnMistakes(collection, field, table))
    const keys = [...keyMistakes(collection, table), ...uniqueMistakes(collection, table)]
    const search = searchMistakes(collection, sharingOf(collection), tables)
    return [...fields, ...defaultMistakes(collection, table), ...keys, ...search]
  }
  const statement = createSchema([collection], targetsIn(tables, collections)).join('\n')
  const missing = `${placeOf(collection)}: the table ${quoted(collection.table)} does not exist. Set "table" to the right name,`
  const defaults = collection.fields.filter(({ hasColumnDefault }) => hasColumnDefault)
  if (defaults.length === 0) {
    return [`${missing} create it with\n${statement}\nor set the option ensureSchema.`]
  }
  const columns = defaults.map(({ column }) => quoted(column)).join(', ')
  return [
    `${missing} or create it with\n${statement}\nand with defaults of the columns ${columns}.`,
  ]
}

/** Returns the statements that create the missing tables, except those that need defaults of columns. */
export function missingTables(
  tables: Tables,
  collections: readonly PublishedCollection[],
): readonly string[] {
  const missing = collections.filter(
    ({ table, hasColumnDefaults }) => tables.find(table) === undefined && !hasColumnDefaults,
  )
  return createTables(missing, targetsIn(tables, collections))
}

// A foreign key can't refer to a view.
function targetsIn(
  tables: Tables,
  collections: readonly PublishedCollection[],
): readonly PublishedCollection[] {
  return collections.filter(({ table }) => (tables.find(table)?.kind ?? 'table') === 'table')
}

/** Returns the statements that add missing columns. Those of a key and those with a default can't be added. */
export function missingColumns(
  tables: Tables,
  collections: readonly PublishedCollection[],
  lacking: Lacking = nothingLacks,
): readonly string[] {
  const statements = collections.flatMap((collection) => {
    const table = tables.find(collection.table)
    if (table?.kind !== 'table') return []
    return collection.fields
      .filter(({ hasColumnDefault }) => !hasColumnDefault)
      .filter((field) => !field.inKey && !table.columns.has(folded(field.column)))
      .map((field) => addColumn(collection, field))
  })
  const fills = unfilled(collections, lacking).flatMap(({ statement = [] }) => statement)
  // Collections may share a table.
  return [...new Set([...statements, ...fills])]
}

function addColumn({ table }: PublishedCollection, field: PublishedField): string {
  return `ALTER TABLE ${quoted(table)} ADD COLUMN ${columnDefinition(field)};`
}

/** Returns the fields of a table whose columns would change or reject their values. */
export function misfits(
  table: Table,
  sharing: readonly PublishedCollection[],
): readonly PublishedField[] {
  return sharing
    .flatMap((collection) => collection.fields)
    .filter((field) => table.columns.has(folded(field.column)))
    .filter(
      (field) => !fitsColumn(field, table) || otherCheck(table.statement, field) !== undefined,
    )
}

/** Returns whether the column of a field keeps each of its values as it is. */
export function fitsColumn(field: PublishedField, table: Table): boolean {
  const column = table.columns.get(folded(field.column))
  if (column === undefined) return false
  // A column of numbers keeps other strings as they are, and clients can't write a string that it would convert.
  if (field.type === 'text' && field.readOnly) return true
  return keepsValues(field, column.declared)
}

function columnMistakes(
  collection: PublishedCollection,
  field: PublishedField,
  table: Table,
): readonly string[] {
  const place = placeOf(collection, field)
  const where = `table ${quoted(collection.table)}`
  const column = table.columns.get(folded(field.column))
  if (column === undefined) {
    return [
      `${place}: ${where} has no column ${quoted(field.column)}. Set "column" to the right name, or add it with\n${addColumn(collection, field)}`,
    ]
  }
  if (fitsColumn(field, table)) {
    const computed =
      table.kind === 'table' && computedMistake(collection, field, { isComputed: column.computed })
    if (typeof computed === 'string')
      return [`${place}: column ${quoted(column.name)} of ${where} ${computed}`]
    const other = otherCheck(table.statement, field)
    if (other === undefined) return []
    return [
      `${place}: column ${quoted(column.name)} of ${where} has a CHECK for another definition of the field, with ${other}. Rebuild the table with\n${columnDefinition(field)}`,
    ]
  }
  const form = field.storedAs === undefined ? '' : ` that are stored as ${field.storedAs}`
  const others = formsOf(field, column.declared).map((name) => `storedAs: '${name}'`)
  const other = others.length === 0 ? '' : ` set ${others.join(' or ')},`
  return [
    `${place}: column ${quoted(column.name)} of ${where} is declared ${column.declared}, which would change values of type ${field.type}${form}. Declare it ${bareColumn(field)},${other} or give the field another type.`,
  ]
}

/** Returns the stored forms of a field that a column with this declared type keeps. */
function formsOf(field: PublishedField, declared: string): readonly string[] {
  const names: readonly string[] =
    field.type in storedForms ? storedForms[field.type as keyof typeof storedForms] : []
  return names.filter((storedAs) => {
    const definition = { ...field.definition, storedAs } as Field
    const { fits } = columnTypeOf({ type: field.type, storedAs, definition })
    return fits.includes(affinityOf(declared))
  })
}

// A table or column that is created here has no default, because definitions do not contain it.
function defaultMistakes(collection: PublishedCollection, table: Table): readonly string[] {
  if (table.kind === 'view') return []
  return collection.fields.flatMap((field) => {
    const column = table.columns.get(folded(field.column))
    if (!field.hasColumnDefault || column?.default !== undefined || column?.computed === true)
      return []
    return [
      `${placeOf(collection, field)}: column ${quoted(field.column)} of table ${quoted(collection.table)} has no default. Create it yourself, such as ${bareColumn(field)} DEFAULT ..., or set a value or a function as the default of the field.`,
    ]
  })
}

function keyMistakes(collection: PublishedCollection, table: Table): readonly string[] {
  const { key } = collection
  if (table.kind === 'view') {
    const writes = [...collection.publishes].filter((event) => event !== 'Filter')
    if (writes.length === 0) return []
    return [
      `${placeOf(collection)}: ${quoted(collection.table)} is a view, which can't be written. Set publishes: ['Filter'].`,
    ]
  }
  if (key.length === 0) return []
  const names = key.map((field) => folded(field.column))
  const columns = key.map((field) => quoted(field.column)).join(', ')
  if (!table.isUnique(names)) {
    const create = createIndex(uniqueIndex(collection, key))
    return [
      `${placeOf(collection)}: the key (${columns}) of table ${quoted(collection.table)} has no unique index. Create one with\n${create}`,
    ]
  }
  const [first] = key
  if (first?.generated !== 'database' || isRowId(first, table)) return []
  return [
    `${placeOf(collection, first)}: column ${quoted(first.column)} of table ${quoted(collection.table)} is not numbered by SQLite. Declare it INTEGER PRIMARY KEY, or remove generated: 'database'.`,
  ]
}

function uniqueMistakes(collection: PublishedCollection, table: Table): readonly string[] {
  if (table.kind === 'view') return []
  return collection.uniques
    .map((fields) => uniqueIndex(collection, fields))
    .filter((wanted) => !hasIndex(table, wanted))
    .map((wanted) => {
      const columns = wanted.fields.map(({ field }) => quoted(field.column)).join(', ')
      return `${placeOf(collection)}: the unique fields (${columns}) of table ${quoted(collection.table)} have no unique index. Create one with\n${createIndex(wanted)}`
    })
}

function searchMistakes(
  collection: PublishedCollection,
  sharingTable: readonly PublishedCollection[],
  tables: Tables,
): readonly string[] {
  if (!collection.hasSearchIndex) return []
  const wanted = searchOf(sharingTable, tables)
  const table = `${placeOf(collection)}: table ${quoted(collection.table)}`
  if (wanted === undefined)
    return [`${table} can't have a search index. Leave out search: 'indexed'.`]
  if (hasSearch(wanted, tables)) return []
  return [
    `${table} lacks its search index, or has one for other fields. Run rowgate schema apply, or set the option ensureSchema.`,
  ]
}

function isRowId(field: PublishedField, table: Table): boolean {
  const number = rowNumberOf(table)
  return number !== undefined && number === table.columns.get(folded(field.column))
}

function placeOf(collection: PublishedCollection, field?: PublishedField): string {
  const place = `${collection.application}/${collection.name}`
  return field === undefined ? place : `${place}.${field.name}`
}
