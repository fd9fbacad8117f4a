import type { PublishedCollection } from '../../../definition/published.ts'
import { whenDone, type MaybePromise } from '../../../maybe-promise.ts'
import { searchText } from '../../adapter.ts'
import type {
  Condition,
  ReadContext,
  StoragePage,
  StorageQuery,
  StorageTextPage,
} from '../../adapter.ts'
import { columnTypeOf } from '../statements/columns.ts'
import { listSlots } from '../statements/conditions.ts'
import { pagesStatement } from '../statements/pages.ts'
import { relatedStatement, type RelatedShape } from '../statements/related.ts'
import type { SqliteRow } from '../connection/connection.ts'
import { fitsAsText } from './guaranteed-values.ts'
import { readRow, unfitRow, type ReadRow } from './rows.ts'
import type { NeedleKind } from '../search/search.ts'
import type { Inputs } from '../../sql/fragments.ts'
import { conditionsShape, identityOf, listShape, sortShape } from '../../sql/shape.ts'
import type { SearchIndexFor } from '../search/open-indexes.ts'
import {
  countStatement,
  endOfOrder,
  pageStatement,
  probeStatement,
  rangeProbeStatement,
  type Identities,
  type Output,
  type Reading,
  type PageShape,
  type StatementText,
} from '../statements/statements.ts'

/** The statements that read a page, and the values that they bind. */
export interface PageRead {
  readonly output: Output
  /** Identifies the SQL of the rows. Undefined for a page of no rows. */
  readonly page: string | undefined
  /** Identifies the SQL of the count. Undefined if the query requests none. */
  readonly count: string | undefined
  readonly inputs: PageInputs
  /** Identifies the collection, the conditions and the search. */
  readonly matching: string
  /** Returns the SQL of one of the statements, of the given shape. */
  text(
    statement: 'page' | 'count',
    given?: Partial<Pick<PageShape, 'first' | 'deep' | 'index'>>,
  ): StatementText
  /** Returns the SQL of several pages, which differ in values only. */
  pagesText(pages: number): StatementText
  /** Returns the SQL of the page with related items. */
  relatedText(relations: readonly RelatedShape[]): StatementText
  /** What its SQL is written from. */
  readonly shape: PageShape
  /** The same read if a search index finds few rows. Undefined if none serves it. */
  readonly found?: FoundRead | undefined
}

/** A read of the rows that an index finds. */
export interface FoundRead extends PageRead {
  /** Identifies the SQL that returns a row if the index finds many. */
  readonly probe: string
  probeText(): StatementText
  /** What it binds. */
  readonly probed: Inputs
}

/** The values that the statements of a page bind. */
export type PageInputs = Inputs & { readonly limit: number; readonly offset: number }

/** What the statements of a page returned. */
export interface RawPage {
  /** Rows, or one string or null for each row if the output is `json`. */
  readonly rows: readonly (SqliteRow | string | null)[]
  readonly count: number | null
}

/** Reads a page: prepares its statements, and runs them. */
export type ReadPage = (
  collection: PublishedCollection,
  query: StorageQuery,
  output: Output,
  context?: ReadContext,
) => MaybePromise<RawPage>

// Beyond this offset, skipping complete rows costs more than reading the rows of the page by their keys.
const deepOffset = 1_000
// SQLite's json_object takes at most 127 arguments in older versions.
const maxJsonFields = 60

// A read whose index finds fewer rows reads all of them. Otherwise a page finds its rows sooner in its order.
const manyRows = 1_000

/** Returns the statements of a page. `kindOf` returns how a needle is compared. */
export function pageRead(
  collection: PublishedCollection,
  query: StorageQuery,
  { output, checksAll, guaranteed, identities, kindOf, searchIndexFor }: PageReadOptions,
): PageRead {
  const { limit, offset, conditions } = query
  const needle = query.search === null ? '' : searchText(query.search.text)
  const search = query.search && { fields: query.search.fields, kind: kindOf(needle) }
  const deep = offset > deepOffset && collection.key.length > 0
  const { sort, select } = query
  const end = endOfOrder(collection, identities)
  const shape: PageShape = { conditions, search, sort, end, select, deep }
  const searched = search && `${search.kind}\0${listShape(collection, search.fields)}`
  const matching = `${identityOf(collection)}\0${conditionsShape(collection, conditions, listSlots)}\0${searched ?? ''}`
  const rest = `\0${deep ? 'deep' : ''}\0${sortShape(sort)}\0${listShape(collection, select)}`
  const page = limit === 0 ? undefined : `${output}${matching}${rest}`
  const count = query.count ? `count${matching}` : undefined
  const textWith =
    (pageShape: PageShape, countShape: PageShape): PageRead['text'] =>
    (statement, given) =>
      statement === 'page'
        ? pageStatement(collection, { ...pageShape, ...given }, reading)
        : countStatement(collection, { ...countShape, ...given })
  const inputs = { conditions, needle, limit, offset }
  const reading = { output, guaranteed, checksAll }
  const pagesText: PageRead['pagesText'] = (pages) =>
    pagesStatement(collection, shape, { reading, pages })
  const relatedText: PageRead['relatedText'] = (relations) =>
    relatedStatement(collection, shape, { reading, relations })
  const text = textWith(shape, shape)
  // Not a spread, which would take longer than everything else here.
  const read = { output, inputs, matching, pagesText, relatedText, shape, page, count, text }
  const found = search === null ? undefined : searchIndexFor(collection, search.fields, needle)
  if (found === undefined) return read
  const foundShape = { ...shape, found }
  // A count needs all rows, so the index serves it in any case.
  const both = { ...read, count: count && `found ${count}` }
  return {
    ...both,
    text: textWith(shape, foundShape),
    found: {
      ...both,
      page: page && `found ${page}`,
      text: textWith(foundShape, foundShape),
      probe: `probe${identityOf(collection)}`,
      probeText: () => probeStatement(found, manyRows),
      probed: inputs,
    },
  }
}

/** Returns the same read by an index that serves some of its conditions. */
export function rangedRead(
  collection: PublishedCollection,
  read: PageRead,
  { index, served }: { readonly index: string; readonly served: readonly Condition[] },
): FoundRead {
  const { page, count, text } = read
  return {
    ...read,
    page: page && `by ${index}\0${page}`,
    count: count && `by ${index}\0${count}`,
    text: (statement, given) => text(statement, { ...given, index }),
    probe: `probe by ${index}\0${identityOf(collection)}\0${conditionsShape(collection, served, listSlots)}`,
    probeText: () => rangeProbeStatement(collection, { conditions: served, index }, manyRows),
    probed: { conditions: served },
  }
}

/** How the statements of a page are written. */
export interface PageReadOptions extends Reading {
  readonly identities: Identities
  readonly kindOf: (needle: string) => NeedleKind
  readonly searchIndexFor: SearchIndexFor
}

/** Reads a page of rows. Throws or rejects with an `unfit` StorageError if a row has a value that does not fit. */
export function filterRows(
  read: ReadPage,
  collection: PublishedCollection,
  query: StorageQuery,
  context?: ReadContext,
): MaybePromise<StoragePage> {
  const readRows = (names: readonly string[], output: 'rows' | 'lengths') =>
    whenDone(read(collection, { ...query, select: names }, output, context), ({ rows, count }) => ({
      rows: (rows as readonly SqliteRow[]).map((row) => readRow(collection, names, row)),
      count,
    }))
  const finished = ({ rows, count }: ReadRows): StoragePage => ({
    rows: rows.map(({ row }) => row),
    count,
  })
  return whenDone(readRows(query.select, 'rows'), (first) => {
    if (first.rows.every(isCertain)) return finished(first)
    // Read again with the key, for the report. The rows may have been corrected meanwhile.
    const names = [...collection.key.map(({ name }) => name), ...query.select]
    return whenDone(readRows([...new Set(names)], 'lengths'), (second) => {
      const broken = second.rows.find(({ unfit }) => unfit.length > 0)
      if (broken !== undefined) throw unfitRow(collection, broken)
      return finished(second)
    })
  })
}

interface ReadRows {
  readonly rows: readonly ReadRow[]
  readonly count: number | null
}

/** Reads a page as JSON text. Undefined if SQLite can't write it, or if a row may not fit its fields. */
export function filterText(
  read: ReadPage,
  collection: PublishedCollection,
  query: StorageQuery,
  context?: ReadContext,
): MaybePromise<StorageTextPage | undefined> {
  if (!writesJson(collection, query.select)) return undefined
  return whenDone(read(collection, query, 'json', context), (page) => textPage(collection, page))
}

/** Returns a page whose rows were read as JSON text. Undefined if a row may not fit its fields. */
export function textPage(
  collection: PublishedCollection,
  { rows, count }: RawPage,
): StorageTextPage | undefined {
  const items = rows as readonly (string | null)[]
  // If a row does not fit, the service calls `filter`, which finds the field.
  return areTexts(collection, items) ? { items, count } : undefined
}

// The fields of a collection that SQLite can't write as JSON.
const withoutJson = new WeakMap<PublishedCollection, readonly string[]>()

/** Returns whether SQLite can write the named fields as JSON. */
export function writesJson(collection: PublishedCollection, select: readonly string[]): boolean {
  if (select.length > maxJsonFields) return false
  let names = withoutJson.get(collection)
  if (names === undefined) {
    const fields = collection.fields.filter((field) => columnTypeOf(field).json === undefined)
    names = fields.map(({ name }) => name)
    withoutJson.set(collection, names)
  }
  return !names.some((name) => select.includes(name))
}

function isCertain({ unfit, uncertain }: ReadRow): boolean {
  return unfit.length === 0 && !uncertain
}

function areTexts(
  collection: PublishedCollection,
  items: readonly (string | null)[],
): items is readonly string[] {
  return items.every((item) => item !== null && fitsAsText(collection, item))
}
