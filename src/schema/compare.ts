import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection, Reference } from '../definition/published.ts'
import type { Compared, FoundTables, TableCheck } from './database.ts'
import type { Difference } from './differences.ts'
import type { Column, Index, Table } from './model.ts'
import { uniqueIndex, type WantedIndex } from './wanted-indexes.ts'

/** Returns what is different between the table of a collection and its definition, in the order of messages. */
export function differencesOf(compared: Compared): readonly Difference[] {
  const { tables, table } = compared
  if (table.failure !== undefined) return [{ is: 'unreadable', reason: table.failure }]
  return (tables.dialect.schema.checks ?? serverChecks).flatMap((check) => check(compared))
}

/** Returns a check of each field, which looks for one difference after another until it finds one. */
export function ofEachField(...checks: readonly FieldCheck[]): TableCheck {
  return (compared) =>
    compared.collection.fields.flatMap((field) => {
      const column = compared.table.find(field.column)
      for (const check of checks) {
        const found = check(compared, field, column)
        if (found !== undefined) return [found]
      }
      return []
    })
}

/** Looks for one kind of difference between a field and its column. */
export type FieldCheck = (
  compared: Compared,
  field: PublishedField,
  column: Column | undefined,
) => Difference | undefined

/** Finds a column that does not exist. */
export const missingColumn: FieldCheck = (_, field, column) =>
  column === undefined ? { is: 'missingColumn', field } : undefined

/** Finds a column that does not keep every value of its field exactly. */
export const unfitColumn: FieldCheck = ({ tables: { dialect } }, field, column) =>
  column === undefined || dialect.kept(column, field) !== undefined
    ? undefined
    : { is: 'unfit', field, column }

/** Finds a column that can't have the values that saves give it. */
export const computedColumn: FieldCheck = ({ table, collection }, field, column) => {
  if (column === undefined || isView(table)) return undefined
  const reason = computedMistake(collection, field, column)
  return reason === undefined ? undefined : { is: 'unusable', field, column, reason }
}

/** Finds a column without a default, although its field leaves values to it. A new one would have none. */
export const noDefault: FieldCheck = ({ table }, field, column) => {
  const isGiven = column?.hasDefault === true || column?.isComputed === true
  if (!field.hasColumnDefault || isView(table) || isGiven) return undefined
  return { is: 'noDefault', field, column }
}

/** Finds a column that the database should number, but does not. */
export const notNumbered: FieldCheck = ({ table }, field, column) =>
  column?.numberedBy === undefined && column && field.generated === 'database' && !isView(table)
    ? { is: 'notNumbered', field, column }
    : undefined

/** Finds a table whose rows are not written, although events write them. */
const unwritable: TableCheck = ({ table, collection }) => {
  const { unwritable: reason, makeWritable: statement = '' } = table
  return reason === undefined || !isWritten(collection)
    ? []
    : [{ is: 'unwritable', reason, statement }]
}

/** Finds the fields whose values in a new row can't be read, because no statement finds the row. */
const unreturned: TableCheck = ({ tables: { dialect }, table, collection }) => {
  const { key, fields, publishes } = collection
  const returns = dialect.writes?.returning.includes('insert') !== false
  if ((returns && table.returnsInserts !== false) || !publishes.has('Insert')) return []
  const isNumbered = ({ column }: PublishedField): boolean =>
    table.find(column)?.numberedBy !== undefined
  const unknown =
    key.length === 0
      ? fields.filter((field) => field.hasColumnDefault || field.generated === 'database')
      : key.filter((field) => field.hasColumnDefault && !isNumbered(field))
  return unknown.map((field) => ({ is: 'unreturned', field }))
}

/** Finds writes of a view, and a key without a unique index. `further`: what is wrong with a key that has one. */
export function keyCheck(further: TableCheck): TableCheck {
  return (compared) => {
    const { table, collection } = compared
    if (isView(table)) return isWritten(collection) ? [{ is: 'writtenView' }] : []
    if (collection.key.length === 0) return []
    const index = uniqueIndex(collection, collection.key)
    return hasIndex(table, index) ? further(compared) : [{ is: 'noKeyIndex', index }]
  }
}

const nullInKey: TableCheck = ({ table, collection: { key } }) =>
  key
    .map(({ column }) => table.find(column))
    .flatMap((column) => (column?.notNull === false ? [{ is: 'nullInKey', column }] : []))

/** Finds unique groups of fields without a unique index. */
export const uniqueGroups: TableCheck = ({ table, collection }) =>
  isView(table)
    ? []
    : collection.uniques
        .map((fields) => uniqueIndex(collection, fields))
        .filter((index) => !hasIndex(table, index))
        .map((index) => ({ is: 'noUniqueIndex', index }))

/** Finds a search index that is missing, or has other fields. */
export const searchIndex: TableCheck = ({ tables, table, collection, collections }) => {
  const { search } = tables.dialect.schema
  if (!collection.hasSearchIndex || search === undefined) return []
  const sharing = collections.filter((one) => tables.find(one.table)?.id === table.id)
  if (!search.isPossible(tables, sharing))
    return [{ is: 'noSearchIndex', reason: search.impossible }]
  const missing = search.missing(tables, sharing)
  return missing.length === 0 ? [] : [{ is: 'noSearchIndex', reason: search.lacking(missing) }]
}

const serverChecks: readonly TableCheck[] = [
  unwritable,
  ofEachField(missingColumn, unfitColumn, noDefault, notNumbered, computedColumn),
  unreturned,
  keyCheck(nullInKey),
  uniqueGroups,
  searchIndex,
]

function isWritten({ publishes }: PublishedCollection): boolean {
  return [...publishes].some((event) => event !== 'Filter')
}

function isView({ kind }: Table): boolean {
  return kind === 'view'
}

/** Returns whether a table has an index for the same group of columns or, if it is not unique, the same order. */
export function hasIndex(table: Table | undefined, wanted: WantedIndex): boolean {
  if (table === undefined) return false
  const columns = wanted.fields.map(({ field }) => table.find(field.column)?.name)
  const serves = (index: Pick<Index, 'columns' | 'unique'>): boolean => {
    if (!wanted.unique) {
      return wanted.fields.every(({ descending }, at) => {
        const part = index.columns[at]
        return part?.name === columns[at] && part?.descending === descending
      })
    }
    if (!index.unique || index.columns.length !== columns.length) return false
    return index.columns.every(({ name }) => name !== null && columns.includes(name))
  }
  const { hasOwnKey = false, primary = [] } = table
  const key = primary.map((name) => ({ name, descending: false }))
  const isKey = hasOwnKey && key.length > 0 && serves({ unique: true, columns: key })
  return isKey || table.indexes.some(serves)
}

/** Returns whether a table has the foreign key of a reference, with the same effect on a delete. */
export function isEnforced(reference: Reference, tables: FoundTables): boolean {
  const { from, fields, to, onDelete } = reference
  const { isForeignKey, comparesAsTarget = false } = tables.dialect.schema
  if (!isForeignKey(reference, tables.identityOf)) return false
  const [own, target] = [tables.find(from.table), tables.find(to.table)]
  if (own === undefined || target === undefined) return false
  const pairs = fields.map((field, index) => {
    const part = to.key[index] as PublishedField
    return `${own.find(field.column)?.name}\0${target.find(part.column)?.name}`
  })
  // The service distinguishes strings that such a collation does not.
  const isExact = (table: Table, parts: readonly PublishedField[]): boolean =>
    parts.every(({ column }) => table.find(column)?.isDeterministic === true)
  if (!isExact(target, to.key) || (!comparesAsTarget && !isExact(own, fields))) return false
  return own.foreignKeys.some((key) => {
    if (key.target !== target.id || key.columns.length !== pairs.length) return false
    const present = key.columns.map((name, index) => `${name}\0${key.targetColumns[index]}`)
    return key.onDelete === onDelete && pairs.every((pair) => present.includes(pair))
  })
}

/**
 * Returns why saves of a field would fail whose column takes no value, or no change of it, as the end of a sentence.
 * Undefined: they would not.
 */
function computedMistake(
  { publishes }: PublishedCollection,
  { readOnly, hasColumnDefault, inKey }: PublishedField,
  { isComputed, isFixed = false }: Column,
): string | undefined {
  const isInserted = publishes.has('Insert')
  // An update does not write the key.
  const isUpdated = publishes.has('Update') && !inKey && (isComputed || isFixed)
  const needsReadOnly = isUpdated || (isInserted && isComputed)
  // Without a default, an insert writes null into the column of a field that clients do not set.
  const isUnset = isComputed || (isFixed && !inKey && (readOnly || isUpdated))
  const missing = [
    ...(needsReadOnly && !readOnly ? ['readOnly: true'] : []),
    ...(isInserted && isUnset && !hasColumnDefault ? ["default: 'database'"] : []),
  ]
  if (missing.length === 0) return undefined
  const reason = isComputed
    ? 'is computed by the database'
    : 'is numbered by the database, because it is GENERATED ALWAYS AS IDENTITY'
  return `${reason}. Set ${missing.join(' and ')}.`
}
