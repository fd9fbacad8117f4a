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

/** The search indexes of the open collections of a database. None exists before collections are opened. */
export class SearchIndexes {
  readonly #connection: Connection
  readonly #usable = new Map<PublishedCollection, SearchIndex>()
  #match: MatchNeedle | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  readonly searchIndexFor: SearchIndexFor = (collection, names, needle) => {
    const found = this.#usable.get(collection)
    if (found === undefined) return undefined
    for (const name of names) {
      const field = collection.byName.get(name)
      if (field?.search === true && (hasSqlText(field) || !mayBeInDouble(needle))) continue
      return undefined
    }
    return found.match(needle) === undefined ? undefined : found
  }

  /** Throws an Error if a collection declares an index that this SQLite can't have. */
  require(collections: readonly PublishedCollection[]): void {
    if (collections.some(({ hasSearchIndex }) => hasSearchIndex)) {
      this.#match ??= needleMatcher(this.#connection)
    }
  }

  /** Called when collections were opened, with the tables of the database. */
  opened(tables: FoundTables, collections: readonly PublishedCollection[]): void {
    const match = this.#match
    const sharingOf = sharingIn(collections)
    for (const collection of collections.filter(({ hasSearchIndex }) => hasSearchIndex)) {
      const index = searchOf(sharingOf(collection), tables)
      if (index !== undefined && match !== undefined) this.#usable.set(collection, { index, match })
    }
  }
}

function mayBeInDouble(needle: string): boolean {
  return /^[-+.e0-9]+$/.test(needle) || '-infinity'.includes(needle)
}
