import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { storageClassOf } from '../../storage/sqlite/forms/forms.ts'
import { quoted } from '../../storage/sql/fragments.ts'
import {
  createSearch,
  hasSqlText,
  tablesOf,
  textOf,
  triggersOf,
  type WantedSearch,
} from '../../storage/sqlite/search/index-statements.ts'
import type { FoundTables, SearchText } from '../database.ts'
import { folded, groupByTable, searchPrefix, type SearchEntry } from '../model.ts'

/**
 * Returns the search index of a table. Undefined if no collection declares one.
 *
 * @param sharing the collections that share the table
 * @param number the column that is the number of a row
 */
function wantedSearch(
  sharing: readonly PublishedCollection[],
  number: string | undefined,
): WantedSearch | undefined {
  const indexed = sharing.filter(({ hasSearchIndex }) => hasSearchIndex)
  if (indexed.length === 0) return undefined
  const searched = indexed.flatMap(({ fields }) => fields).filter(({ search }) => search)
  const fields = new Map(searched.filter(hasSqlText).map((field) => [textOf(field, 't'), field]))
  const keys = indexed.map(({ key }) => key.map(({ column }) => column))
  // The order of collections and of fields has no effect on an index.
  return {
    table: inOrder(indexed.map(({ table }) => table))[0] as string,
    fields: inOrder([...fields.keys()]).map((text) => fields.get(text) as PublishedField),
    identity: number === undefined ? (inOrder(keys)[0] as readonly string[]) : [number],
    isNumbered: number !== undefined,
  }
}

/** How SQLite indexes searches: in tables that triggers keep current. */
export const sqliteSearches: SearchText = {
  isPossible: (tables, sharing) => searchOf(sharing, tables) !== undefined,
  impossible: "can't have a search index. Leave out search: 'indexed'.",
  missing(tables, sharing) {
    const wanted = searchOf(sharing, tables)
    if (wanted === undefined || hasSearch(wanted, tables)) return []
    const { table } = wanted
    // A table that was dropped leaves the tables of its index.
    const isLeft =
      tables.find(table) !== undefined ||
      entriesOf(tables).some(({ name }) => folded(name).startsWith(folded(searchPrefix + table)))
    return [...(isLeft ? dropSearches(table, tables) : []), ...createSearch(wanted)]
  },
  lacking: () =>
    'lacks its search index, or has one for other fields. Run rowgate schema apply, or set the option ensureSchema.',
  drop: (tables, table) =>
    entriesOf(tables).some((entry) => folded(entry.table) === folded(table))
      ? dropSearches(table, tables)
      : [],
}

function entriesOf({ searches }: FoundTables): readonly SearchEntry[] {
  return searches?.() ?? []
}

function inOrder<Item>(items: readonly Item[]): readonly Item[] {
  return items.toSorted()
}

/** Returns the collections that share the table of this one. */
export type Sharing = (collection: PublishedCollection) => readonly PublishedCollection[]

/** Returns a function that finds the collections that share a table. */
export function sharingIn(collections: readonly PublishedCollection[]): Sharing {
  const groups = groupByTable(collections, folded)
  return ({ table }) => groups.get(folded(table)) ?? []
}

/** Returns the search index of a table that the collections share, by the table as it is, or as it is created. */
export function searchOf(
  sharing: readonly PublishedCollection[],
  tables?: FoundTables,
): WantedSearch | undefined {
  const table = tables?.find((sharing[0] as PublishedCollection).table)
  if (table !== undefined) {
    if (table.kind !== 'table') return undefined
    return wantedSearch(
      sharing,
      table.columns.find(({ numberedBy }) => numberedBy !== undefined)?.name,
    )
  }
  const { key = [] } = sharing.find((collection) => collection.key.length > 0) ?? {}
  const [first] = key
  const isNumbered =
    key.length === 1 && storageClassOf((first as PublishedField).definition) === 'integer'
  return wantedSearch(sharing, isNumbered ? first?.column : undefined)
}

/** Returns the statements that remove the search indexes of a table. */
function dropSearches(table: string, tables: FoundTables): readonly string[] {
  // After a table was renamed, its triggers have the former name.
  const own = entriesOf(tables).filter((entry) => folded(entry.table) === folded(table))
  const names = new Set([
    ...own.map(({ name }) => name.replace(/_[a-z]+$/, '')),
    searchPrefix + table,
  ])
  return [...names].flatMap((name) => [
    ...['insert', 'update', 'delete'].map(
      (event) => `DROP TRIGGER IF EXISTS ${quoted(`${name}_${event}`)};`,
    ),
    ...['text', 'rows'].map((part) => `DROP TABLE IF EXISTS ${quoted(`${name}_${part}`)};`),
  ])
}

/** Returns whether a table has exactly this search index. */
function hasSearch(wanted: WantedSearch, tables: FoundTables): boolean {
  const present = new Set(entriesOf(tables).map(({ statement }) => statement))
  return [...tablesOf(wanted), ...triggersOf(wanted)].every((statement) =>
    present.has(statement.replace(' IF NOT EXISTS', '').replace(/;$/, '')),
  )
}
