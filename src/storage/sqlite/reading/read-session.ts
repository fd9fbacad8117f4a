import type { PublishedCollection } from '../../../definition/published.ts'
import { runtime } from '../../../runtime.ts'
import { shownCount } from '../../../request/query.ts'
import type {
  RelatedQuery,
  RelatedTextPage,
  StoragePage,
  StorageQuery,
  StorageTextPage,
} from '../../adapter.ts'
import type { Connection } from '../connection/connection.ts'
import {
  filterRows,
  filterText,
  pageRead,
  textPage,
  writesJson,
  type FoundRead,
  type PageRead,
  type RawPage,
  type ReadPage,
} from './page-read.ts'
import type { Guaranteed } from './guaranteed-values.ts'
import type { ReadSnapshot } from './read-snapshot.ts'
import { needleKind, type NeedleKind } from '../search/search.ts'
import { statementBytes, statementCapacity } from '../../sql/shape.ts'
import type { SearchIndexFor } from '../search/open-indexes.ts'
import { statementCache, type StatementCache } from '../statements/statement-cache.ts'
import { readItems, readPages, valuesOfPages } from '../statements/pages.ts'
import type { Identities, Output, StatementText } from '../statements/statements.ts'

/** What the sessions of a storage share. It grows when collections are opened. */
export interface Opened {
  readonly guaranteed: Guaranteed
  readonly identities: Identities
  /** The collections whose rows are read back after a write: a column may have another value than it was given. */
  readonly readBack: ReadonlySet<PublishedCollection>
  readonly searchIndexFor: SearchIndexFor
  /** Returns the number of open collections. */
  collections(): number
}

/** Reads rows on one connection, synchronously. Throws the errors of the driver. It caches prepared statements. */
export class ReadSession {
  readonly statements: StatementCache
  readonly #connection: Connection
  readonly #opened: Opened
  readonly #snapshot: ReadSnapshot | undefined
  readonly #begin: () => void
  readonly #commit: () => void
  readonly #isCaseIgnored: () => unknown
  // A planned query is frozen, and used again for each request with the same target.
  readonly #planned = new WeakMap<StorageQuery, PlannedPage>()

  /**
   * @param snapshot shared by the reads whose JSON text becomes a response. Other reads end it, so they see every commit
   */
  constructor(connection: Connection, opened: Opened, snapshot?: ReadSnapshot) {
    this.#connection = connection
    this.#opened = opened
    this.#snapshot = snapshot
    this.statements = statementCache({
      entries: () => statementCapacity(opened.collections()),
      bytes: () => statementBytes(opened.collections()),
    })
    this.#begin = connection.command('BEGIN')
    this.#commit = connection.command('COMMIT')
    // An application may have switched its handle to `case_sensitive_like`.
    this.#isCaseIgnored = connection.value(`SELECT 'A' LIKE 'a'`)
  }

  /** Returns the statements of a page, without running them. */
  pageRead(collection: PublishedCollection, query: StorageQuery, output: Output): PageRead {
    const known = this.#planned.get(query)
    if (known?.collection === collection && known.read.output === output) return known.read
    const checksAll = output === 'lengths' || !this.#connection.returnsWholeStrings
    const { guaranteed, identities, searchIndexFor } = this.#opened
    const kindOf = this.#kindOf
    const options = { output, checksAll, guaranteed, identities, kindOf, searchIndexFor }
    const read = pageRead(collection, query, options)
    // How a search is compared depends on the connection.
    if (query.search === null && Object.isFrozen(query)) {
      this.#planned.set(query, { collection, read })
    }
    return read
  }

  runPage(read: PageRead): RawPage {
    const { output, count, inputs } = read
    if (output === 'json') this.#snapshot?.enter()
    else this.#snapshot?.end()
    if (count === undefined) return { rows: this.#readRows(read), count: null }
    return this.#inSnapshot(() => {
      const rows = this.#readRows(read)
      const shown = shownCount(inputs, rows.length)
      if (shown !== undefined) return { rows, count: shown }
      const text = (): StatementText => read.text('count')
      const [counted] = this.statements.run(count, text, this.#connection.rows, inputs)
      return { rows, count: Number(counted?.[0]) }
    })
  }

  /** Returns the read of the rows that a search index finds if they are few, otherwise the given read. */
  choose(read: PageRead): PageRead {
    const { found } = read
    return found !== undefined && this.findsFew(found) ? found : read
  }

  /** Returns whether an index finds few rows. */
  findsFew({ probe, probeText, probed }: FoundRead): boolean {
    return this.statements.run(probe, probeText, this.#connection.rows, probed).length === 0
  }

  filter(collection: PublishedCollection, query: StorageQuery): StoragePage {
    return filterRows(this.#readPage, collection, query) as StoragePage
  }

  filterText(collection: PublishedCollection, query: StorageQuery): StorageTextPage | undefined {
    return filterText(this.#readPage, collection, query) as StorageTextPage | undefined
  }

  /**
   * Reads the pages of queries that differ in values only, at most `atOnce` in one statement. `canGoOn` is called after each
   * statement with the milliseconds that one of its pages took.
   */
  filterTexts(
    collection: PublishedCollection,
    queries: readonly StorageQuery[],
    { atOnce, canGoOn }: PagesAtOnce = { atOnce: maxPages, canGoOn: () => true },
  ): readonly StorageTextPage[] | undefined {
    const [first] = queries
    if (first === undefined || !writesJson(collection, first.select)) return undefined
    if (first.conditions.length > maxConditions) return undefined
    const read = this.pageRead(collection, first, 'json')
    if (read.page === undefined) return undefined
    const pages: StorageTextPage[] = []
    for (let from = 0; from < queries.length; from += atOnce) {
      const part = queries.slice(from, from + atOnce)
      const began = runtime.performanceNow()
      for (const rows of this.#readPages(read, part)) {
        const page = textPage(collection, { rows, count: null })
        if (page === undefined) return undefined
        pages.push(page)
      }
      const isLast = from + atOnce >= queries.length
      if (!canGoOn((runtime.performanceNow() - began) / part.length) && !isLast) return undefined
    }
    return pages
  }

  /** Returns the read of a page with related items. Undefined if SQLite can't write one of them. */
  relatedRead(
    collection: PublishedCollection,
    query: StorageQuery,
    relations: readonly RelatedQuery[],
  ): RelatedRead | undefined {
    const all = [{ collection, query }, ...relations]
    if (!all.every((one) => writesJson(one.collection, one.query.select))) return undefined
    const page = this.pageRead(collection, query, 'json')
    const reads = relations.map((one) => this.pageRead(one.collection, one.query, 'json'))
    if (page.page === undefined || reads.some((read) => read.page === undefined)) return undefined
    return { page, reads, collection, relations }
  }

  /** Reads a page with related items. Undefined if a row may not fit its fields. */
  runRelated({ page, reads, collection, relations }: RelatedRead): RelatedTextPage | undefined {
    this.#snapshot?.enter()
    const names = relations.map(
      ({ own, theirs }, index) => `${[...own, ...theirs].join('\0')}\0${reads[index]?.page}`,
    )
    const rows = this.statements.run(
      `related ${page.page}\0${names.join('\0')}`,
      () =>
        page.relatedText(
          relations.map((one, index) => ({ ...one, shape: (reads[index] as PageRead).shape })),
        ),
      this.#connection.rows,
      { ...page.inputs, parts: reads.map(({ inputs }) => inputs) },
    )
    const own = textPage(collection, { rows: rows.map(([item]) => item as string), count: null })
    if (own === undefined) return undefined
    const related: (readonly (readonly string[])[])[] = []
    for (const [index, { collection: other }] of relations.entries()) {
      const lists: (readonly string[])[] = []
      for (const row of rows) {
        const list = textPage(other, { rows: readItems(row[index + 1]), count: null })
        if (list === undefined) return undefined
        lists.push(list.items)
      }
      related.push(lists)
    }
    return { items: own.items, related }
  }

  #readPages(read: PageRead, queries: readonly StorageQuery[]): readonly RawPage['rows'][] {
    this.#snapshot?.enter()
    const inputs = queries.map(({ conditions }) => ({ ...read.inputs, conditions }))
    // A statement for each number of pages would be too many.
    const pages = Math.min(maxPages, 2 ** Math.ceil(Math.log2(queries.length)))
    const rows = this.statements.runWith(
      `${pages} ${read.page}`,
      () => read.pagesText(pages),
      this.#connection.rows,
      (slots) => valuesOfPages(slots, inputs, pages),
    )
    return readPages(rows)
  }

  readonly #kindOf = (needle: string): NeedleKind =>
    Number(this.#isCaseIgnored()) === 1 ? needleKind(needle) : 'any'

  // The statements run synchronously, so no page is a promise.
  readonly #readPage: ReadPage = (collection, query, output) =>
    this.runPage(this.choose(this.pageRead(collection, query, output)))

  #readRows(read: PageRead): RawPage['rows'] {
    const { page, output, inputs } = read
    if (page === undefined) return []
    const { strings, rows } = this.#connection
    const text = (): StatementText => read.text('page')
    const prepare = output === 'json' ? strings : rows
    return this.statements.run<RawPage['rows']>(page, text, prepare, inputs)
  }

  // The page and the count are two statements. A transaction gives both the same snapshot.
  #inSnapshot<Result>(work: () => Result): Result {
    if (this.#connection.inTransaction()) return work()
    this.#begin()
    try {
      return work()
    } finally {
      if (this.#connection.inTransaction()) this.#commit()
    }
  }
}

// SQLite allows 32,766 parameters, and one page may have a list of 8,192 values.
const maxPages = 128
const maxConditions = 50

/** How many pages are read in one statement, and whether the next statement may run here. */
interface PagesAtOnce {
  readonly atOnce: number
  readonly canGoOn: (milliseconds: number) => boolean
}

/** The statement of a page with related items, and the reads that it consists of. */
export interface RelatedRead {
  readonly collection: PublishedCollection
  readonly page: PageRead
  readonly relations: readonly RelatedQuery[]
  readonly reads: readonly PageRead[]
}

/** What is prepared for a query. */
interface PlannedPage {
  readonly collection: PublishedCollection
  readonly read: PageRead
}
