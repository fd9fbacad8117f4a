import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { TableDialect } from './database.ts'
import { folded, type Table } from './model.ts'
import { createIndex } from './statements.ts'

/**
 * Returns a mistake for each field whose conditions would read all rows, although the operators of its collection are
 * those of indexes.
 */
export function operatorIndexMistakes(
  dialect: TableDialect,
  table: Table,
  collection: PublishedCollection,
): readonly string[] {
  if (collection.definition.operators !== 'indexed') return []
  // Some storages read the indexes when they are asked for them.
  const { primary, indexes, name } = table
  const leading = new Set(
    [primary?.[0], ...indexes.map(({ columns: [first] }) => first?.name ?? first?.prefixOf)].map(
      (column) => folded(column ?? ''),
    ),
  )
  const fields = new Set<PublishedField>()
  for (const { field } of collection.operators.values()) fields.add(field)
  return [...fields]
    .filter(({ column }) => !leading.has(folded(column)))
    .map((field) => {
      const wanted = {
        table: collection.table,
        unique: false,
        fields: [{ field, descending: false }],
      }
      const { quoted } = dialect
      return `operators are 'indexed', and the table ${quoted(name)} has no index that begins with ${quoted(field.column)}. Create one with\n${createIndex(dialect, wanted)}`
    })
}
