import type { PublishedCollection } from '../../definition/published.ts'
import type { Connection } from './connection.ts'
import { searchOf, sharing } from './search-index.ts'
import { hasSqlText, type WantedSearch } from './search-statements.ts'
import type { Tables } from './tables.ts'
import { needleMatcher, type MatchNeedle } from './trigrams.ts'

/** A search index, and how needles are looked up in it. */
export interface SearchLookup {
  readonly index: WantedSearch
  readonly match: MatchNeedle
}

/** Returns the search index of a collection if it serves a search for a needle in these fields. */
export type LookupOf = (
  collection: PublishedCollection,
  fields: readonly string[],
  needle: string,
) => SearchLookup | undefined

/** The search indexes of open collections. */
export interface SearchLookups {
  readonly lookupOf: LookupOf
  /** Throws an Error if a collection declares an index that this SQLite can't have. */
  require(collections: readonly PublishedCollection[]): void
  /** Called when collections were opened, with the tables of the database. */
  opened(tables: Tables, collections: readonly PublishedCollection[]): void
}

/** Creates the search indexes of a database. None exists before collections are opened. */
export function searchLookups(connection: Connection): SearchLookups {
  const lookups = new Map<PublishedCollection, SearchLookup>()
  let match: MatchNeedle | undefined
  return {
    lookupOf(collection, names, needle) {
      const lookup = lookups.get(collection)
      if (lookup === undefined) return undefined
      for (const name of names) {
        const field = collection.byName.get(name)
        if (field?.search === true && (hasSqlText(field) || !mayBeInDouble(needle))) continue
        return undefined
      }
      return lookup.match(needle) === undefined ? undefined : lookup
    },
    require(collections) {
      if (collections.some(({ hasSearchIndex }) => hasSearchIndex)) {
        match ??= needleMatcher(connection)
      }
    },
    opened(tables, collections) {
      for (const collection of collections.filter(({ hasSearchIndex }) => hasSearchIndex)) {
        const index = searchOf(sharing(collection, collections), tables)
        if (index !== undefined && match !== undefined) lookups.set(collection, { index, match })
      }
    },
  }
}

function mayBeInDouble(needle: string): boolean {
  return /^[-+.e0-9]+$/.test(needle) || '-infinity'.includes(needle)
}
