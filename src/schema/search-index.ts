import { createHash } from 'node:crypto'
import type { PublishedField } from '../definition/published-field.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Dialect } from '../storage/sql/dialect.ts'
import { raw } from '../storage/sql/fragments.ts'
import { valueOf } from '../storage/sql/table-conditions.ts'
import type { FoundTables, SearchText } from './database.ts'
import { searchPrefix, type Table } from './model.ts'

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
interface WantedSearch {
  readonly name: string
  readonly statement: string
}

/** Returns how the tables of a database behind a pool index searches. */
export function indexedSearches(dialectOf: () => Dialect): SearchText {
  return {
    isPossible: ({ find }, [first]) => find(first?.table ?? '')?.kind === 'table',
    impossible: "is not a table, and has no search index. Leave out search: 'indexed'.",
    missing(tables, sharing) {
      const wanted = wantedSearches(dialectOf(), tables, sharing)
      const present = tables.find(sharing[0]?.table ?? '')?.searchIndexes ?? []
      const missing = wanted.filter(({ name }) => !present.includes(name))
      if (missing.length === 0) return []
      const former = present.filter((name) => wanted.every((one) => one.name !== name))
      return [
        ...former.map((name) => dropSearch(tables, sharing[0]?.table ?? '', name)),
        ...(dialectOf().searchIndex?.before(tables) ?? []),
        ...missing.map(({ statement }) => statement),
      ]
    },
    lacking: (statements) =>
      `lacks its search index, or has one for other fields. Set the option ensureSchema, or create it with\n${statements.join('\n')}`,
    drop: (tables, table) =>
      (tables.find(table)?.searchIndexes ?? []).map((name) => dropSearch(tables, table, name)),
    names: (tables, sharing) =>
      wantedSearches(dialectOf(), tables, sharing).map(({ name }) => name),
  }
}

function dropSearch({ dialect, find }: FoundTables, table: string, name: string): string {
  return `DROP INDEX ${dialect.quoted(find(table)?.schema ?? '')}.${dialect.quoted(name)};`
}

/** Returns the search indexes of collections that share a table. */
function wantedSearches(
  dialect: Dialect,
  tables: FoundTables,
  sharing: readonly PublishedCollection[],
): readonly WantedSearch[] {
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

// An index serves a search only if both have the same expression.
function textOf(dialect: Dialect, table: Table | undefined, field: PublishedField): string {
  const { columnTypes, quoted } = dialect
  const column = table?.find(field.column)
  const kept = column && dialect.kept(column, field)
  const type = kept ?? columnTypes[field.type]
  return type.wire(valueOf(type, raw(quoted(column?.name ?? field.column)))).texts.join('')
}
