import type { PublishedCollection, PublishedField } from '../../definition/published.ts'
import { columnTypeOf } from './columns.ts'

/** The CREATE TABLE statements of collections, one table each, whatever number of them share it. */
export function createTables(collections: readonly PublishedCollection[]): readonly string[] {
  const tables = new Map<string, PublishedCollection[]>()
  for (const collection of collections) {
    const name = collection.table.toLowerCase()
    tables.set(name, [...(tables.get(name) ?? []), collection])
  }
  return [...tables.values()].map(createTable)
}

/** One column as CREATE TABLE and ALTER TABLE write it. */
export function columnDefinition(field: PublishedField): string {
  const required = field.inKey ? ' NOT NULL' : ''
  return `${quoted(field.column)} ${columnTypeOf(field).declared}${required}`
}

/** A name in double quotes. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function createTable(collections: readonly PublishedCollection[]): string {
  const fields = new Map<string, PublishedField>()
  for (const field of collections.flatMap((collection) => collection.fields)) {
    const name = field.column.toLowerCase()
    if (!fields.has(name) || field.inKey) fields.set(name, field)
  }
  const lines = [...fields.values()].map(columnDefinition)
  const keyed = collections.find((collection) => collection.key.length > 0)
  if (keyed !== undefined) {
    lines.push(`PRIMARY KEY (${keyed.key.map((field) => quoted(field.column)).join(', ')})`)
  }
  const table = quoted((collections[0] as PublishedCollection).table)
  return `CREATE TABLE IF NOT EXISTS ${table} (\n  ${lines.join(',\n  ')}\n);`
}
