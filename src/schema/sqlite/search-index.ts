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
import { folded, groupByTable, searchPrefix } from '../model.ts'
import { rowNumberOf, type Tables } from './tables.ts'

/**
 * Returns the search index of a table. Undefined if no collection declares one.
 *
 * @param sharing the collections that share the table
 * @param number the column that is the number of a row
 */
export function wantedSearch(
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

/** Returns the statements that create the search indexes that existing tables lack, or have for other fields. */
export function missingSearches(
  tables: Tables,
  collections: readonly PublishedCollection[],
): readonly string[] {
  const sharingOf = sharingIn(collections)
  const statements = collections.flatMap((collection) => {
    if (!collection.hasSearchIndex || tables.find(collection.table) === undefined) return []
    const wanted = searchOf(sharingOf(collection), tables)
    return wanted === undefined || hasSearch(wanted, tables) ? [] : replaceSearch(wanted, tables)
  })
  // Collections may share a table.
  return [...new Set(statements)]
}

function inOrder<Item>(items: readonly Item[]): readonly Item[] {
  return items.toSorted()
}

/** Returns the collections that share the table of this one. */
export type Sharing = (collection: PublishedCollection) => readonly PublishedCollection[]

/** Returns a function that finds those of the collections that share a table. */
export function sharingIn(collections: readonly PublishedCollection[]): Sharing {
  const groups = groupByTable(collections, folded)
  return ({ table }) => groups.get(folded(table)) ?? []
}

/** Returns the search index of a table that the collections share, by the table as it is, or as it is created. */
export function searchOf(
  sharing: readonly PublishedCollection[],
  tables?: Tables,
): WantedSearch | undefined {
  const table = tables?.find((sharing[0] as PublishedCollection).table)
  if (table !== undefined) {
    if (table.kind !== 'table') return undefined
    return wantedSearch(sharing, rowNumberOf(table)?.name)
  }
  const { key = [] } = sharing.find((collection) => collection.key.length > 0) ?? {}
  const [first] = key
  const isNumbered =
    key.length === 1 && storageClassOf((first as PublishedField).definition) === 'integer'
  return wantedSearch(sharing, isNumbered ? first?.column : undefined)
}

/** Returns the statements that create an index in place of what the table has. */
export function replaceSearch(wanted: WantedSearch, tables: Tables): readonly string[] {
  return [...dropSearches(wanted.table, tables), ...createSearch(wanted)]
}

/** Returns the statements that remove the search indexes of a table. */
export function dropSearches(table: string, tables: Tables): readonly string[] {
  // After a table was renamed, its triggers have the former name.
  const own = tables.searches().filter((entry) => folded(entry.table) === folded(table))
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
export function hasSearch(wanted: WantedSearch, tables: Tables): boolean {
  const present = new Set(tables.searches().map(({ statement }) => statement))
  return [...tablesOf(wanted), ...triggersOf(wanted)].every((statement) =>
    present.has(statement.replace(' IF NOT EXISTS', '').replace(/;$/, '')),
  )
}
