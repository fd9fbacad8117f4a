import type { PublishedCollection } from '../../../definition/published.ts'
import { boundedMap, type KeptSize } from '../../../keep-latest.ts'
import type { MaybePromise } from '../../../maybe-promise.ts'
import { runtime } from '../../../runtime.ts'
import { equal } from '../../../request/query.ts'
import type {
  ReadContext,
  RelatedQuery,
  RelatedTextPage,
  StoragePage,
  StorageQuery,
  StorageTextPage,
} from '../../adapter.ts'
import type { Connection } from '../connection/connection.ts'
import type { CompleteSqlite } from '../connection/options.ts'
import {
  filterRows,
  filterText,
  type FoundRead,
  type PageRead,
  type ReadPage,
} from './page-read.ts'
import { RangeIndexes } from './range-indexes.ts'
import { maxStatements, ReadPlaces } from './read-place.ts'
import { ScanQueue } from './scan-queue.ts'
import { startScanThread, type BoundStatement, type ScanJob } from './scan-thread.ts'
import type { ReadSession } from './read-session.ts'
import { fileOf } from './slow-views.ts'
import type { StatementText } from '../statements/statements.ts'
import type { Inputs } from '../../sql/fragments.ts'
import type { FoundTables } from '../../../schema/database.ts'

/** The reads outside of transactions. */
export interface Reads {
  /** Called when collections were opened, with the tables of the database. */
  opened(tables: FoundTables, collections: readonly PublishedCollection[]): void
  filter(
    collection: PublishedCollection,
    query: StorageQuery,
    context?: ReadContext,
  ): MaybePromise<StoragePage>
  filterText(
    collection: PublishedCollection,
    query: StorageQuery,
    context?: ReadContext,
  ): MaybePromise<StorageTextPage | undefined>
  /** Undefined if one of the pages can't be read as text, or not on the event loop. */
  filterTexts(
    collection: PublishedCollection,
    queries: readonly StorageQuery[],
  ): readonly StorageTextPage[] | undefined
  /** Undefined if one of the pages can't be read as text, or not on the event loop. */
  filterRelated(
    collection: PublishedCollection,
    query: StorageQuery,
    relations: readonly RelatedQuery[],
  ): RelatedTextPage | undefined
  close(): Promise<void>
  /** Returns what is remembered of shapes of reads. */
  sizes(): readonly KeptSize[]
}

// Pages that may be slow are read in small parts, between which the next one may move to the thread.
const timedAtOnce = 8
// Of the statements for the thread.
const maxTextBytes = 4 * 1024 * 1024

type Options = Pick<CompleteSqlite, 'scanRows' | 'scanQueue' | 'scanTimeout' | 'extensions'>

/**
 * Creates the reads of a file on a connection that is used for nothing else. Reads that may take long run
 * in a thread with a read-only connection of its own.
 */
export function threadedReads(
  connection: Connection,
  session: ReadSession,
  options: Options,
): Reads {
  const { scanRows, scanQueue: maxWaiting, scanTimeout: timeout, extensions } = options
  const file = fileOf(connection)
  if (scanRows === false || file === undefined || !mayStartThreads()) return plainReads(session)
  const { driver } = connection
  const queue = new ScanQueue({
    maxWaiting,
    timeout,
    start: (events) => startScanThread({ file, driver, extensions }, events),
  })
  const places = new ReadPlaces(connection, scanRows)
  return new ThreadedReads(session, places, new RangeIndexes(connection, session), queue)
}

class ThreadedReads implements Reads {
  readonly #session: ReadSession
  readonly #places: ReadPlaces
  readonly #ranges: RangeIndexes
  readonly #queue: ScanQueue
  readonly #texts = boundedMap<StatementText>({
    maxEntries: () => maxStatements,
    maxBytes: () => maxTextBytes,
  })
  /** The query for the related items of one item, by that of their relation. */
  readonly #ofOne = new WeakMap<StorageQuery, StorageQuery>()
  // Their rows need a function of the application, which a thread can't call.
  readonly #unscannable = new WeakSet<PublishedCollection>()

  constructor(session: ReadSession, places: ReadPlaces, ranges: RangeIndexes, queue: ScanQueue) {
    this.#session = session
    this.#places = places
    this.#ranges = ranges
    this.#queue = queue
  }

  opened(tables: FoundTables, collections: readonly PublishedCollection[]): void {
    this.#places.opened(tables, collections)
    this.#ranges.opened()
  }

  filter(
    collection: PublishedCollection,
    query: StorageQuery,
    context?: ReadContext,
  ): MaybePromise<StoragePage> {
    return filterRows(this.#readPage, collection, query, context)
  }

  filterText(
    collection: PublishedCollection,
    query: StorageQuery,
    context?: ReadContext,
  ): MaybePromise<StorageTextPage | undefined> {
    return filterText(this.#readPage, collection, query, context)
  }

  filterTexts(
    collection: PublishedCollection,
    queries: readonly StorageQuery[],
  ): readonly StorageTextPage[] | undefined {
    const [first] = queries
    if (first === undefined) return []
    const places = this.#places
    const read = this.#session.pageRead(collection, first, 'json')
    const place = places.placeOf(collection, first, read)
    if (place === 'here' || this.#unscannable.has(collection))
      return this.#session.filterTexts(collection, queries)
    if (place === 'thread') return undefined
    const canGoOn = (milliseconds: number): boolean => {
      places.took(read, milliseconds)
      return !places.isSlow(read)
    }
    return this.#session.filterTexts(collection, queries, { atOnce: timedAtOnce, canGoOn })
  }

  filterRelated(
    collection: PublishedCollection,
    query: StorageQuery,
    relations: readonly RelatedQuery[],
  ): RelatedTextPage | undefined {
    const read = this.#session.relatedRead(collection, query, relations)
    if (read === undefined) return undefined
    const place = this.#unscannable.has(collection)
      ? 'here'
      : this.#places.placeOf(collection, query, read.page)
    if (place === 'thread' || !relations.every(this.#isReadHere)) return undefined
    const began = runtime.performanceNow()
    const page = this.#session.runRelated(read)
    if (place !== 'timed') return page
    // The related items of each item are a read as well.
    const reads = 1 + (page?.items.length ?? 0)
    this.#places.took(read.page, (runtime.performanceNow() - began) / reads)
    return page
  }

  /** Returns whether the related items of one item are read on the event loop. */
  readonly #isReadHere = ({ collection, query, theirs }: RelatedQuery): boolean => {
    let ofOne = this.#ofOne.get(query)
    if (ofOne === undefined) {
      // The value is not read: it is that of the item.
      const related = theirs.map((name) => equal(name, ''))
      ofOne = Object.freeze({ ...query, conditions: [...related, ...query.conditions] })
      if (Object.isFrozen(query)) this.#ofOne.set(query, ofOne)
    }
    const read = this.#session.pageRead(collection, ofOne, 'json')
    return this.#places.placeOf(collection, ofOne, read) === 'here'
  }

  close(): Promise<void> {
    return this.#queue.close()
  }

  sizes(): readonly KeptSize[] {
    return [this.#texts.size(), this.#ranges.size(), ...this.#places.sizes()]
  }

  /** Decides where a page is read. */
  readonly #readPage: ReadPage = (collection, query, output, context) => {
    const session = this.#session
    const places = this.#places
    const planned = session.pageRead(collection, query, output)
    const began = runtime.performanceNow()
    const isProbed = planned.found !== undefined && places.mayProbe(planned)
    const chosen = isProbed ? session.choose(planned) : planned
    const usual = places.placeOf(collection, query, chosen)
    const few =
      usual === 'thread' && places.mayProbe(chosen)
        ? this.#ranges.fewIn(collection, query, chosen)
        : undefined
    const read = few ?? chosen
    const place = few === undefined ? usual : places.placeOf(collection, query, few)
    if (place === 'here' || this.#unscannable.has(collection)) return session.runPage(read)
    if (place === 'thread') {
      const found = isProbed ? undefined : planned.found
      const job = this.#jobOf(collection, read, found)
      return this.#queue.run(job, context).catch((error: unknown) => {
        if (!isUnknownFunction(error)) throw error
        this.#unscannable.add(collection)
        return session.runPage(session.choose(planned))
      })
    }
    const page = session.runPage(read)
    places.took(read, runtime.performanceNow() - began)
    return page
  }

  #jobOf(collection: PublishedCollection, read: PageRead, found?: FoundRead): ScanJob {
    const { page, count, inputs, output } = read
    const interruptible = (key: string | undefined, source: PageRead, kind: 'page' | 'count') => {
      if (key === undefined) return undefined
      const first = this.#places.interruptionOf(collection, read, kind)
      const write = (): StatementText => source.text(kind, { first })
      return this.#bound(first === undefined ? key : `interruptible ${key}`, write, inputs)
    }
    return {
      probe: found && this.#bound(found.probe, found.probeText, found.probed),
      found: found && interruptible(found.page, found, 'page'),
      page: interruptible(page, read, 'page'),
      count: interruptible(count, read, 'count'),
      strings: output === 'json',
      limit: inputs.limit,
      offset: inputs.offset,
    }
  }

  #bound(key: string, write: () => StatementText, inputs: Inputs): BoundStatement {
    let known = this.#texts.get(key)
    if (known === undefined) {
      known = write()
      this.#texts.set(key, known, 2 * (key.length + known.sql.length) + 200 * known.slots.length)
    }
    return { sql: known.sql, parameters: known.slots.map((slot) => slot.read(inputs)) }
  }
}

function isUnknownFunction(error: unknown): boolean {
  const { cause } = error as { readonly cause?: unknown }
  const messages = [error, cause].map((each) => (each instanceof Error ? each.message : ''))
  return messages.some((message) => /(?:no such|unknown) function: /.test(message))
}

/** Returns the reads of a session, without a thread. */
export function plainReads(session: ReadSession): Reads {
  return {
    opened: () => undefined,
    filter: (collection, query) => session.filter(collection, query),
    filterText: (collection, query) => session.filterText(collection, query),
    filterTexts: (collection, queries) => session.filterTexts(collection, queries),
    filterRelated(collection, query, relations) {
      const read = session.relatedRead(collection, query, relations)
      return read && session.runRelated(read)
    },
    close: () => Promise.resolve(),
    sizes: () => [],
  }
}

/** Returns whether the permissions of the process include threads. */
function mayStartThreads(): boolean {
  const { permission } = process as { permission?: { has(scope: string): boolean } }
  return permission?.has('worker') ?? true
}
