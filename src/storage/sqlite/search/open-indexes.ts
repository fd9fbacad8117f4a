import type { PublishedCollection } from '../../../definition/published.ts'
import type { Connection } from '../connection/connection.ts'
import { searchOf, sharingIn } from '../../../schema/sqlite/search-index.ts'
import { hasSqlText, type WantedSearch } from './index-statements.ts'
import type { FoundTables } from '../../../schema/database.ts'
import { needleMatcher, type MatchNeedle } from './trigrams.ts'

/** A search index, and how it is queried for needles. */
export interface SearchIndex {
  readonly index: WantedSearch
  readonly match: MatchNeedle
}

/** Returns the search index of a collection if it serves a search for a needle in these fields. */
export type SearchIndexFor = (
  collection: PublishedCollection,
  fields: readonly string[],
  needle: string,
) => SearchIndex | undefined

/** The search indexes of open collections. */
export interface SearchIndexes {
  readonly searchIndexFor: SearchIndexFor
  /** Throws an Error if a collection declares an index that this SQLite can't have. */
  require(collections: readonly PublishedCollection[]): void
  /** Called when collections were opened, with the tables of the database. */
  opened(tables: FoundTables, collections: readonly PublishedCollection[]): void
}

/** Creates the search indexes of a database. None exists before collections are opened. */
export function searchIndexes(connection: Connection): SearchIndexes {
  const usable = new Map<PublishedCollection, SearchIndex>()
  let match: MatchNeedle | undefined
  return {
    searchIndexFor(collection, names, needle) {
      const found = usable.get(collection)
      if (found === undefined) return undefined
      for (const name of names) {
        const field = collection.byName.get(name)
        if (field?.search === true && (hasSqlText(field) || !mayBeInDouble(needle))) continue
        return undefined
      }
      return found.match(needle) === undefined ? undefined : found
    },
    require(collections) {
      if (collections.some(({ hasSearchIndex }) => hasSearchIndex)) {
        match ??= needleMatcher(connection)
      }
    },
    opened(tables, collections) {
      const sharingOf = sharingIn(collections)
      for (const collection of collections.filter(({ hasSearchIndex }) => hasSearchIndex)) {
        const index = searchOf(sharingOf(collection), tables)
        if (index !== undefined && match !== undefined) usable.set(collection, { index, match })
      }
    },
  }
}

function mayBeInDouble(needle: string): boolean {
  return /^[-+.e0-9]+$/.test(needle) || '-infinity'.includes(needle)
}
