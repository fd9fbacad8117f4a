import type { PublishedCollection, PublishedField } from '../../definition/published.ts'
import type { Field, FieldTypeName } from '../../definition/field.ts'
import { fieldTypes } from '../../definition/field-type.ts'
import { checkCondition, storageClassOf } from './forms.ts'

/** The CREATE TABLE statements of collections, one table each, whatever number of them share it. */
export function createTables(collections: readonly PublishedCollection[]): readonly string[] {
  const tables = new Map<string, PublishedCollection[]>()
  for (const collection of collections) {
    const name = collection.table.toLowerCase()
    tables.set(name, [...(tables.get(name) ?? []), collection])
  }
  return [...tables.values()].map(createTable)
}

/** One column as CREATE TABLE and ALTER TABLE write it: in a STRICT table it keeps fitting values only. */
export function columnDefinition(field: PublishedField): string {
  const condition = checkCondition(quoted(field.column), field.definition)
  const check = condition === undefined ? '' : ` CHECK (${condition})`
  return `${bareColumn(field)}${check}`
}

/** The same without CHECK. */
export function bareColumn(field: PublishedField): string {
  const type = storageClassOf(field).toUpperCase()
  return `${quoted(field.column)} ${type}${field.inKey ? ' NOT NULL' : ''}`
}

/** Whether a CREATE TABLE statement, as SQLite keeps it, has a column as {@link columnDefinition} writes it. */
export function hasColumn(statement: string, field: PublishedField): boolean {
  const column = columnDefinition(field)
  return [',', '\n', ')'].some((end) => statement.includes(column + end))
}

/**
 * The type whose CHECK a column has, as {@link columnDefinition} writes it, when that CHECK rejects values
 * of the field: the definition has changed since the table was created.
 */
export function otherCheck(statement: string, field: PublishedField): FieldTypeName | undefined {
  if (hasColumn(statement, field)) return undefined
  return (Object.keys(fieldTypes) as FieldTypeName[]).find((type) => {
    // A text column accepts the values of every type that is text.
    if (type === 'text') return false
    const scales = type === 'decimal' ? Array.from({ length: 39 }, (_, scale) => scale) : [0]
    return scales.some((scale) => {
      const definition = { type, precision: 38, scale } as Field
      const other = { ...field, type, definition }
      return checkCondition('', definition) !== undefined && hasColumn(statement, other)
    })
  })
}

/** A name in double quotes. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function createTable(collections: readonly PublishedCollection[]): string {
  const fields = new Map<string, PublishedField[]>()
  for (const field of collections.flatMap((collection) => collection.fields)) {
    const name = field.column.toLowerCase()
    const others = fields.get(name) ?? []
    fields.set(name, field.inKey ? [field, ...others] : [...others, field])
  }
  const lines = [...fields.values()].map(sharedColumn)
  const keyed = collections.find((collection) => collection.key.length > 0)
  if (keyed !== undefined) {
    lines.push(`PRIMARY KEY (${keyed.key.map((field) => quoted(field.column)).join(', ')})`)
  }
  const table = quoted((collections[0] as PublishedCollection).table)
  return `CREATE TABLE IF NOT EXISTS ${table} (\n  ${lines.join(',\n  ')}\n) STRICT;`
}

// Fields of different types may share a column: a CHECK of one could reject the values of another.
function sharedColumn(fields: readonly PublishedField[]): string {
  const [first] = fields as readonly [PublishedField]
  const conditions = new Set(fields.map((field) => checkCondition('', field.definition)))
  return conditions.size === 1 ? columnDefinition(first) : bareColumn(first)
}
