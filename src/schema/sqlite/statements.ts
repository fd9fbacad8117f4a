import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { Field, FieldTypeName } from '../../definition/field.ts'
import { fieldTypes } from '../../definition/field-type.ts'
import { storedForms } from '../../definition/stored-forms.ts'
import { checkCondition, storageClassOf } from '../../storage/sqlite/forms/forms.ts'
import { foreignKey, hasEqualForms } from './foreign-keys.ts'
import { isNotNull } from '../required-columns.ts'
import { indexesOfNew } from '../wanted-indexes.ts'
import { createIndex } from './indexes.ts'
import { quoted } from '../../storage/sql/fragments.ts'
import { searchOf } from './search-index.ts'
import { createSearch } from '../../storage/sqlite/search/index-statements.ts'
import { folded, groupByTable } from '../model.ts'

const betweenLines = ',\n  '
// What may follow the definition of a column.
const ends = [',', '\n', ')']

/**
 * Returns the CREATE TABLE statements of collections, each followed by those of its indexes. Collections that
 * share a table have one. `targets` are the collections to which foreign keys can refer.
 */
export function createTables(
  collections: readonly PublishedCollection[],
  targets: readonly PublishedCollection[] = collections,
): readonly string[] {
  return [...groupByTable(collections, folded).values()].flatMap((sharing) => [
    createTable(sharing, targets),
    ...indexesOfNew(sharing).map(createIndex),
  ])
}

/** Returns the statements of {@link createTables}, and those of the search indexes. */
export function createSchema(
  collections: readonly PublishedCollection[],
  targets: readonly PublishedCollection[] = collections,
): readonly string[] {
  const searches = [...groupByTable(collections, folded).values()].flatMap((sharing) => {
    const wanted = searchOf(sharing)
    return wanted === undefined ? [] : createSearch(wanted)
  })
  return [...createTables(collections, targets), ...searches]
}

/**
 * Returns a column definition. In a STRICT table it accepts only values that fit the field. `rejectsNull`: default only
 * in a key, as in a column that is added to a table.
 */
export function columnDefinition(field: PublishedField, rejectsNull?: boolean): string {
  const condition = checkCondition(quoted(field.column), field.definition)
  const check = condition === undefined ? '' : ` CHECK (${condition})`
  return `${bareColumn(field, rejectsNull)}${check}`
}

/** Returns a column definition without CHECK. */
export function bareColumn(field: PublishedField, rejectsNull = field.inKey): string {
  const type = storageClassOf(field.definition).toUpperCase()
  return `${quoted(field.column)} ${type}${rejectsNull ? ' NOT NULL' : ''}`
}

/** Returns whether a CREATE TABLE statement contains the column as {@link columnDefinition} writes it. */
function hasColumn(statement: string, field: PublishedField): boolean {
  if (isWrittenNotNull(statement, field)) return true
  return !field.inKey && contains(statement, columnDefinition(field))
}

/** Returns whether a CREATE TABLE statement contains the column as {@link columnDefinition} writes it with NOT NULL. */
export function isWrittenNotNull(statement: string, field: PublishedField): boolean {
  return contains(statement, columnDefinition(field, true))
}

/** Returns the fields of a collection whose columns a CREATE TABLE statement contains as {@link columnDefinition} writes them. */
export function exactFields(
  statement: string,
  collection: PublishedCollection,
): readonly PublishedField[] {
  const { fields } = collection
  const columns = fields.map((field) => columnDefinition(field, isNotNull([collection], field)))
  // A table that was created here is found at once.
  if (contains(statement, columns.join(betweenLines))) return fields
  return fields.filter((field) => hasColumn(statement, field))
}

function contains(statement: string, columns: string): boolean {
  for (let at = statement.indexOf(columns); at >= 0; at = statement.indexOf(columns, at + 1)) {
    if (ends.includes(statement.charAt(at + columns.length))) return true
  }
  return false
}

/**
 * Returns the type, and the stored form, whose CHECK a column has, if that CHECK rejects values of the field.
 * This happens if the definition has changed since the table was created.
 */
export function otherCheck(statement: string, field: PublishedField): string | undefined {
  if (hasColumn(statement, field)) return undefined
  return otherFields.find(({ definition }) =>
    hasColumn(statement, { ...field, type: definition.type, definition }),
  )?.name
}

/** Returns whether a column is declared as {@link columnDefinition} writes it for a field, with or without NOT NULL. */
export function isOwnColumn(declaration: string, field: PublishedField): boolean {
  return hasColumn(`${declaration.replace(/ NOT NULL$/, '')},`, { ...field, inKey: false })
}

/** Returns whether a column is declared as {@link columnDefinition} writes it for a field of any type, or NOT NULL as well. */
export function isWrittenColumn(declaration: string, field: PublishedField): boolean {
  const written = `${declaration.replace(/ NOT NULL$/, '')},`
  const ofText = { ...field, type: 'text', definition: { type: 'text' } } as const
  return (
    hasColumn(written, field) ||
    hasColumn(written, ofText) ||
    otherCheck(written, field) !== undefined
  )
}

interface OtherField {
  readonly name: string
  readonly definition: Field
}

// The CHECK of type text accepts the values of every type with storage class text.
const otherFields = (Object.keys(fieldTypes) as FieldTypeName[])
  .filter((type) => type !== 'text')
  .flatMap((type) => fieldsOf(type))
  .filter(({ definition }) => checkCondition('', definition) !== undefined)

function fieldsOf(type: FieldTypeName): readonly OtherField[] {
  const scales = type === 'decimal' ? Array.from({ length: 39 }, (_, scale) => scale) : [0]
  const forms = type in storedForms ? storedForms[type as keyof typeof storedForms] : []
  return scales.flatMap((scale) =>
    [undefined, ...forms].map((storedAs) => ({
      name: `type ${type}${storedAs === undefined ? '' : ` stored as ${storedAs}`}`,
      definition: { type, precision: 38, scale, storedAs } as Field,
    })),
  )
}

function createTable(
  collections: readonly PublishedCollection[],
  targets: readonly PublishedCollection[],
): string {
  const fields = new Map<string, PublishedField[]>()
  for (const field of collections.flatMap((collection) => collection.fields)) {
    const name = folded(field.column)
    const others = fields.get(name) ?? []
    fields.set(name, field.inKey ? [field, ...others] : [...others, field])
  }
  const lines = Array.from(fields.values(), (sharing) => sharedColumn(collections, sharing))
  const keyed = collections.find((collection) => collection.key.length > 0)
  if (keyed !== undefined) {
    lines.push(`PRIMARY KEY (${keyed.key.map((field) => quoted(field.column)).join(', ')})`)
  }
  const references = collections
    .flatMap((collection) => collection.references)
    .filter((reference) => targets.includes(reference.to) && hasEqualForms(reference))
  lines.push(...new Set(references.map(foreignKey)))
  const table = quoted((collections[0] as PublishedCollection).table)
  return `CREATE TABLE IF NOT EXISTS ${table} (\n  ${lines.join(betweenLines)}\n) STRICT;`
}

// If fields of different types share a column, a CHECK for one could reject the values of another.
function sharedColumn(
  collections: readonly PublishedCollection[],
  fields: readonly PublishedField[],
): string {
  const [first] = fields as readonly [PublishedField]
  const conditions = new Set(fields.map((field) => checkCondition('', field.definition)))
  const define = conditions.size === 1 ? columnDefinition : bareColumn
  return define(first, isNotNull(collections, first))
}
