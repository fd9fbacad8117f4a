import { isServerForm } from '../definition/stored-forms.ts'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../definition/published.ts'
import { computedMistake } from './computed-columns.ts'
import type { Dialect, Tables } from '../storage/sql/dialect.ts'
import { addColumn, columnDefinition, createIndex, createTables, hasIndex } from './statements.ts'
import { searchMistakes } from './search-index.ts'
import { keptType } from '../storage/sql/table-conditions.ts'
import type { Table } from './model.ts'
import { uniqueIndex } from './wanted-indexes.ts'
import { returnsInserts } from '../storage/sql/write-statements.ts'

/** Returns the mistakes of definitions that a database can't keep, whatever its tables are. */
export function definitionMistakes(
  dialect: Dialect,
  collections: readonly PublishedCollection[],
): readonly string[] {
  return collections.flatMap((collection) => [
    ...nameMistakes(dialect, nameOf(collection), ['table', collection.table]),
    ...collection.fields.flatMap((field) => {
      const place = nameOf(collection, field)
      const name = nameMistakes(dialect, place, ['column', field.column])
      if (field.storedAs === undefined || isServerForm(field.storedAs)) return name
      return [
        ...name,
        `${place}: storedAs is '${field.storedAs}', which is a form of SQLite columns. Remove it: ${dialect.storage} keeps a value of type ${field.type} in a column ${columnDefinition(dialect, [collection], field)}.`,
      ]
    }),
  ])
}

function nameMistakes(
  { quoted, schema }: Dialect,
  place: string,
  [kind, name]: readonly [kind: string, name: string],
): readonly string[] {
  if (name.includes('\0')) return [`${place}: the ${kind} name contains U+0000.`]
  const mistake = schema.nameMistake(name)
  if (mistake === undefined) return []
  return [`${place}: the ${kind} name ${quoted(name)} ${mistake}. Set "${kind}" to a shorter one.`]
}

/** Compares tables with their collections. Returns one message for each mistake. */
export function tableMistakes(
  tables: Tables,
  collections: readonly PublishedCollection[],
): readonly string[] {
  return collections.flatMap((collection) => collectionMistakes(tables, collection, collections))
}

/** Compares the table of a collection with it. Returns one message for each mistake. */
export function collectionMistakes(
  tables: Tables,
  collection: PublishedCollection,
  collections: readonly PublishedCollection[],
): readonly string[] {
  const { dialect } = tables
  const table = tables.find(collection.table)
  if (table === undefined) return [missingTable(dialect, collection, collections)]
  return [
    ...unwritableMistakes(dialect, collection, table),
    ...collection.fields.flatMap((field) => columnMistakes(dialect, collection, field, table)),
    ...unreturnedMistakes(tables, collection, table),
    ...keyMistakes(dialect, collection, table),
    ...uniqueMistakes(dialect, collection, table),
    ...searchMistakes(tables, collection, collections),
  ]
}

function unwritableMistakes(
  { quoted }: Dialect,
  collection: PublishedCollection,
  { name, unwritable, makeWritable }: Table,
): readonly string[] {
  if (unwritable === undefined || writesOf(collection).length === 0) return []
  return [
    `${nameOf(collection)}: the table ${quoted(name)} ${unwritable}. Set publishes: ['Filter'], or change the table with\n${makeWritable}`,
  ]
}

function writesOf({ publishes }: PublishedCollection): readonly string[] {
  return [...publishes].filter((event) => event !== 'Filter')
}

function missingTable(
  dialect: Dialect,
  collection: PublishedCollection,
  collections: readonly PublishedCollection[],
): string {
  const { quoted, schema } = dialect
  const missing = `${nameOf(collection)}: the table ${quoted(collection.table)} does not exist ${schema.place}. Set "table" to the right name,`
  const statements = createTables(
    dialect,
    [{ ...collection, hasColumnDefaults: false }],
    collections,
  )
  const defaults = collection.fields.filter(({ hasColumnDefault }) => hasColumnDefault)
  if (defaults.length === 0) {
    return `${missing} create it with\n${statements.join('\n')}\nor set the option ensureSchema.`
  }
  const columns = defaults.map(({ column }) => quoted(column)).join(', ')
  return `${missing} or create it with\n${statements.join('\n')}\nand with defaults of the columns ${columns}.`
}

function columnMistakes(
  dialect: Dialect,
  collection: PublishedCollection,
  field: PublishedField,
  table: Table,
): readonly string[] {
  const { database, quoted, schema } = dialect
  const place = nameOf(collection, field)
  const where = `table ${quoted(table.name)}`
  const column = table.find(field.column)
  if (column === undefined) {
    return [
      `${place}: ${where} has no column ${quoted(field.column)}. Set "column" to the right name, or add it with\n${addColumn(dialect, collection, field)}`,
    ]
  }
  const named = `column ${quoted(column.name)} of ${where}`
  if (keptType(dialect, column, field) === undefined) {
    const advice = dialect.advice?.(column, field)
    const other = advice === undefined ? '' : ` ${advice},`
    return [
      `${place}: ${named} is ${column.declared}, which does not keep every value of type ${field.type} exactly. Declare it ${columnDefinition(dialect, [collection], field)},${other} or give the field another type.`,
    ]
  }
  if (field.hasColumnDefault && !isView(table) && !column.hasDefault && !column.isComputed) {
    return [
      `${place}: ${named} has no default. Set one with ALTER TABLE ... ALTER COLUMN ... SET DEFAULT, or set a value or a function as the default of the field.`,
    ]
  }
  if (field.generated === 'database' && column.numberedBy === undefined && !isView(table)) {
    return [
      `${place}: ${named} is not numbered by ${database}. Number it with\n${schema.numberColumn(table, column).join('\n')}\nor remove generated: 'database'.`,
    ]
  }
  const computed = isView(table) ? undefined : computedMistake(collection, field, column)
  return computed === undefined ? [] : [`${place}: ${named} ${computed}`]
}

/** Returns the mistakes of fields whose values in a new row can't be read, because no statement finds the row. */
function unreturnedMistakes(
  tables: Tables,
  collection: PublishedCollection,
  table: Table,
): readonly string[] {
  if (returnsInserts(tables, collection) || !collection.publishes.has('Insert')) return []
  const { database } = tables.dialect
  const { key, fields } = collection
  const isNumbered = ({ column }: PublishedField): boolean =>
    table.find(column)?.numberedBy !== undefined
  const unknown =
    key.length === 0
      ? fields.filter((field) => field.hasColumnDefault || field.generated === 'database')
      : key.filter((field) => field.hasColumnDefault && !isNumbered(field))
  const advice =
    key.length === 0
      ? `, so a new row of a collection without a key must get all of its values from the service. Set a value or a function as the default of the field, or give the collection a key.`
      : `, so the key of a new row must be known or numbered. Set a value or a function as the default of the field.`
  return unknown.map(
    (field) =>
      `${nameOf(collection, field)}: ${database} does not return the rows that it inserts${advice}`,
  )
}

function isView({ kind }: Table): boolean {
  return kind === 'view'
}

function keyMistakes(
  dialect: Dialect,
  collection: PublishedCollection,
  table: Table,
): readonly string[] {
  const { quoted, schema } = dialect
  const { key } = collection
  if (isView(table)) {
    if (writesOf(collection).length === 0) return []
    return [
      `${nameOf(collection)}: ${quoted(table.name)} is a view, which is not written. Set publishes: ['Filter'].`,
    ]
  }
  if (key.length === 0) return []
  const index = uniqueIndex(collection, key)
  if (!hasIndex(table, index)) {
    return [
      `${nameOf(collection)}: the key (${columnsOf(dialect, key)}) of table ${quoted(table.name)} has no unique index. Create one with\n${createIndex(dialect, index)}`,
    ]
  }
  return key
    .map((field) => table.find(field.column))
    .flatMap((column) =>
      column?.notNull === false
        ? [
            `${nameOf(collection)}: column ${quoted(column.name)} of the key of table ${quoted(table.name)} may be null. ${column.isComputed ? 'Declare it NOT NULL.' : `Change it with\n${schema.rejectNull(table, column)}`}`,
          ]
        : [],
    )
}

function uniqueMistakes(
  dialect: Dialect,
  collection: PublishedCollection,
  table: Table,
): readonly string[] {
  const { quoted } = dialect
  if (isView(table)) return []
  return collection.uniques
    .map((fields) => ({ fields, index: uniqueIndex(collection, fields) }))
    .filter(({ index }) => !hasIndex(table, index))
    .map(
      ({ fields, index }) =>
        `${nameOf(collection)}: the unique fields (${columnsOf(dialect, fields)}) of table ${quoted(table.name)} have no unique index. Create one with\n${createIndex(dialect, index)}`,
    )
}

function columnsOf({ quoted }: Dialect, fields: readonly PublishedField[]): string {
  return fields.map(({ column }) => quoted(column)).join(', ')
}

/** Returns whether a table has the foreign key of a reference, with the same effect on a delete. */
export function isEnforced(reference: Reference, tables: Tables): boolean {
  const { from, fields, to, onDelete } = reference
  if (!tables.dialect.schema.isForeignKey(reference, tables.identityOf)) return false
  const [own, target] = [tables.find(from.table), tables.find(to.table)]
  if (own === undefined || target === undefined) return false
  const pairs = fields.map((field, index) => {
    const part = to.key[index] as PublishedField
    return `${own.find(field.column)?.name}\0${target.find(part.column)?.name}`
  })
  // The service distinguishes strings that such a collation does not.
  const isExact = [own, target].every((table, index) =>
    (index === 0 ? fields : to.key).every(
      ({ column }) => table.find(column)?.isDeterministic === true,
    ),
  )
  if (!isExact) return false
  return own.foreignKeys.some((key) => {
    if (key.target !== target.id || key.columns.length !== pairs.length) return false
    const present = key.columns.map((name, index) => `${name}\0${key.targetColumns[index]}`)
    return key.onDelete === onDelete && pairs.every((pair) => present.includes(pair))
  })
}

function nameOf(collection: PublishedCollection, field?: PublishedField): string {
  const place = `${collection.application}/${collection.name}`
  return field === undefined ? place : `${place}.${field.name}`
}
