import { createHash } from 'node:crypto'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Dialect, Tables } from '../storage/sql/dialect.ts'
import { raw } from '../storage/sql/fragments.ts'
import { keptType, valueOf } from '../storage/sql/table-conditions.ts'
import { groupByTable, searchPrefix, type Table } from './model.ts'

// An index of fewer characters would have to be read completely.
const minCharacters = 3

/** Returns whether a search for a folded needle uses the indexes of a collection. */
export function usesSearchIndex(
  { searchIndex }: Dialect,
  { hasSearchIndex }: PublishedCollection,
  needle: string,
): boolean {
  return hasSearchIndex && searchIndex !== undefined && Array.from(needle).length >= minCharacters
}

/** The index of the searches in a table. More than one if there are many fields. */
export interface WantedSearch {
  readonly name: string
  readonly statement: string
}

/** Returns the statements that create the search indexes that tables lack, and drop those for other fields. */
export function missingSearches(
  tables: Tables,
  collections: readonly PublishedCollection[],
): readonly string[] {
  const { dialect } = tables
  return Array.from(groupByTable(collections, tables.identityOf).values()).flatMap((sharing) => {
    const [{ table }] = sharing as readonly [PublishedCollection]
    const wanted = wantedSearches(tables, sharing)
    const present = tables.find(table)?.searchIndexes ?? []
    const missing = wanted.filter(({ name }) => !present.includes(name))
    if (wanted.length === 0 || missing.length === 0) return []
    const former = present.filter((name) => wanted.every((one) => one.name !== name))
    return [
      ...former.map((name) => dropSearch(tables, table, name)),
      ...(dialect.searchIndex?.before(tables) ?? []),
      ...missing.map(({ statement }) => statement),
    ]
  })
}

/** Returns the statement that drops a search index of a table. */
export function dropSearch({ dialect, find }: Tables, table: string, name: string): string {
  return `DROP INDEX ${dialect.quoted(find(table)?.schema ?? '')}.${dialect.quoted(name)};`
}

/** Returns what is wrong with the search index of a collection, or nothing. */
export function searchMistakes(
  tables: Tables,
  collection: PublishedCollection,
  collections: readonly PublishedCollection[],
): readonly string[] {
  const { dialect } = tables
  if (!collection.hasSearchIndex || dialect.searchIndex === undefined) return []
  const table = tables.find(collection.table)
  if (table === undefined) return []
  const named = `${collection.application}/${collection.name}: table ${dialect.quoted(table.name)}`
  if (table.kind !== 'table') {
    return [`${named} is not a table, and has no search index. Leave out search: 'indexed'.`]
  }
  const sharing = collections.filter((one) => tables.find(one.table) === table)
  const statements = missingSearches(tables, sharing)
  if (statements.length === 0) return []
  return [
    `${named} lacks its search index, or has one for other fields. Set the option ensureSchema, or create it with\n${statements.join('\n')}`,
  ]
}

/** Returns the search indexes of collections that share a table. */
export function wantedSearches(
  tables: Tables,
  sharing: readonly PublishedCollection[],
): readonly WantedSearch[] {
  const { dialect } = tables
  const { searchIndex, quoted } = dialect
  const indexed = sharing.filter(({ hasSearchIndex }) => hasSearchIndex)
  const [first] = indexed
  if (first === undefined || searchIndex === undefined) return []
  const table = tables.find(first.table)
  if (table !== undefined && table.kind !== 'table') return []
  const fields = indexed
    .flatMap((collection) => collection.fields)
    .filter((field) => field.search && searchIndex.hasText(field, table?.find(field.column)))
  // The order of collections and of fields has no effect on an index.
  const texts = [...new Set(fields.map((field) => textOf(dialect, table, field)))].toSorted()
  const name = table?.name ?? first.table
  const parts = Math.ceil(texts.length / searchIndex.maxTexts)
  return Array.from({ length: parts }, (_, part) => {
    const own = texts.slice(part * searchIndex.maxTexts, (part + 1) * searchIndex.maxTexts)
    const digest = createHash('sha256')
      .update(JSON.stringify([name, own]))
      .digest('hex')
    const index = `${searchPrefix}${digest.slice(0, 16)}`
    const terms = own.map((text) => searchIndex.term(text, tables)).join(', ')
    return {
      name: index,
      statement: `CREATE INDEX IF NOT EXISTS ${quoted(index)} ON ${quoted(name)} USING ${searchIndex.method} (${terms});`,
    }
  })
}

// An index serves a search only if its expression is that of the search.
function textOf(dialect: Dialect, table: Table | undefined, field: PublishedField): string {
  const { columnTypes, quoted } = dialect
  const column = table?.find(field.column)
  const kept = column && keptType(dialect, column, field)
  const type = kept ?? columnTypes[field.type]
  return type.wire(valueOf(type, raw(quoted(column?.name ?? field.column)))).texts.join('')
}
