import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { isServerForm } from '../definition/stored-forms.ts'
import { differencesOf } from './compare.ts'
import type { Compared, FoundTables, TableDialect } from './database.ts'
import type { Difference } from './differences.ts'
import { createTables } from './missing-statements.ts'
import { operatorIndexMistakes } from './operator-indexes.ts'
import { addColumn, bareColumn, columnDefinition, createIndex } from './statements.ts'

/** Returns the mistakes of definitions that a database can't keep, whatever its tables are. */
export function definitionMistakes(
  dialect: TableDialect & { readonly storage: string },
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
  { quoted, schema }: TableDialect,
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
  tables: FoundTables,
  collections: readonly PublishedCollection[],
): readonly string[] {
  return collections.flatMap((collection) => collectionMistakes(tables, collection, collections))
}

/** Compares the table of a collection with it. Returns one message for each mistake. */
export function collectionMistakes(
  tables: FoundTables,
  collection: PublishedCollection,
  collections: readonly PublishedCollection[],
): readonly string[] {
  const table = tables.find(collection.table)
  if (table === undefined) return [missingTable(tables, collection, collections)]
  const compared = { tables, table, collection, collections }
  const differences = differencesOf(compared).map((difference) => {
    const field = 'field' in difference ? difference.field : undefined
    return `${nameOf(collection, field)}: ${textOf(compared, difference)}`
  })
  const indexes = operatorIndexMistakes(tables.dialect, table, collection)
  return [...differences, ...indexes.map((text) => `${nameOf(collection)}: ${text}`)]
}

function missingTable(
  { dialect, find }: FoundTables,
  collection: PublishedCollection,
  collections: readonly PublishedCollection[],
): string {
  const { quoted, schema } = dialect
  const missing = `${nameOf(collection)}: the table ${quoted(collection.table)} does not exist${schema.place}. Set "table" to the right name,`
  // A foreign key can't refer to a view.
  const targets = collections.filter(({ table }) => (find(table)?.kind ?? 'table') === 'table')
  const own = [{ ...collection, hasColumnDefaults: false }]
  const create = `create it with\n${createTables(dialect, own, targets).join('\n')}`
  const defaults = collection.fields.filter(({ hasColumnDefault }) => hasColumnDefault)
  if (defaults.length === 0) return `${missing} ${create}\nor set the option ensureSchema.`
  const columns = defaults.map(({ column }) => quoted(column)).join(', ')
  return `${missing} or ${create}\nand with defaults of the columns ${columns}.`
}

function textOf(compared: Compared, difference: Difference): string {
  const { tables, table: found, collection } = compared
  const { quoted, schema } = tables.dialect
  const table = `table ${quoted(found.name)}`
  switch (difference.is) {
    case 'unreadable':
      return `its rows can't be read: ${difference.reason}`
    case 'unwritable':
      return `the ${table} ${difference.reason}. Set publishes: ['Filter'], or change the table with\n${difference.statement}`
    case 'writtenView':
      return `${quoted(found.name)} is a view, which ${schema.viewText}. Set publishes: ['Filter'].`
    case 'missingColumn': {
      const { field } = difference
      return `${table} has no column ${quoted(field.column)}. Set "column" to the right name, or add it with\n${addColumn(tables.dialect, collection, field)}`
    }
    case 'noKeyIndex':
    case 'noUniqueIndex': {
      const { index } = difference
      const columns = index.fields.map(({ field }) => quoted(field.column)).join(', ')
      const [fields, have] =
        difference.is === 'noKeyIndex' ? ['key', 'has'] : ['unique fields', 'have']
      return `the ${fields} (${columns}) of ${table} ${have} no unique index. Create one with\n${createIndex(tables.dialect, index)}`
    }
    case 'nullInKey': {
      const { column } = difference
      const change = column.isComputed
        ? 'Declare it NOT NULL.'
        : `Change it with\n${schema.rejectNull?.(found, column)}`
      return `column ${quoted(column.name)} of the key of ${table} may be null. ${change}`
    }
    case 'noSearchIndex':
      return `${table} ${difference.reason}`
    case 'unreturned':
      return unreturnedText(tables.dialect, collection)
    default:
      return columnText(compared, difference)
  }
}

function unreturnedText({ database }: TableDialect, { key }: PublishedCollection): string {
  const advice =
    key.length === 0
      ? `so a new row of a collection without a key must get all of its values from the service. Set a value or a function as the default of the field, or give the collection a key.`
      : `so the key of a new row must be known or numbered. Set a value or a function as the default of the field.`
  return `${database} does not return the rows that it inserts, ${advice}`
}

/** Returns what is wrong with the column of a field. */
function columnText(
  { tables: { dialect }, table, collection }: Compared,
  difference: Extract<Difference, { readonly column: unknown; readonly field: PublishedField }>,
): string {
  const { database, quoted, schema } = dialect
  const { field, column } = difference
  const named = `column ${quoted(column?.name ?? field.column)} of table ${quoted(table.name)}`
  const definition = bareColumn(dialect, [collection], field)
  switch (difference.is) {
    case 'unfit': {
      const reason =
        schema.unfit?.(difference.column, field) ??
        `is ${difference.column.declared}, which does not keep every value of type ${field.type} exactly`
      const advice = dialect.advice?.(difference.column, field)
      const other = advice === undefined ? '' : ` ${advice},`
      return `${named} ${reason}. Declare it ${definition},${other} or give the field another type.`
    }
    case 'noDefault': {
      const set =
        schema.setDefault?.(definition) ??
        'Set one with ALTER TABLE ... ALTER COLUMN ... SET DEFAULT'
      return `${named} has no default. ${set}, or set a value or a function as the default of the field.`
    }
    case 'notNumbered': {
      const number =
        schema.numberAdvice ??
        `Number it with\n${(schema.numberColumn?.(table, difference.column) ?? []).join('\n')}\n`
      return `${named} is not numbered by ${database}. ${number}or remove generated: 'database'.`
    }
    case 'unusable':
      return `${named} ${difference.reason}`
  }
}

function nameOf(collection: PublishedCollection, field?: PublishedField): string {
  const place = `${collection.application}/${collection.name}`
  return field === undefined ? place : `${place}.${field.name}`
}
