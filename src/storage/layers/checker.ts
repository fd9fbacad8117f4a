import { isThenable } from '../../maybe-promise.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { memberTexts } from '../../protocol/json-scan.ts'
import type { Row, StorageQuery } from '../../request/query.ts'
import { ignoreRejections, returnedList } from '../../request/returned-list.ts'
import { encodeRow } from '../../request/serialize.ts'
import { unfitError } from '../adapter.ts'
import type {
  RelatedQuery,
  RelatedTextPage,
  StoragePage,
  StorageTextPage,
  UnfitValue,
} from '../adapter.ts'

/**
 * Checks what an adapter returns. Its methods return a copy, because the adapter could change what it returned. They
 * throw a TypeError with the name of the adapter, or an `unfit` StorageError for a row with a value that does not fit.
 */
export class Checker {
  readonly #adapter: string

  constructor(adapter: string) {
    this.#adapter = adapter
  }

  page(collection: PublishedCollection, query: StorageQuery, page: StoragePage): StoragePage {
    return {
      rows: this.#entriesOf(this.#objectPage(page).rows, query, (row) =>
        this.#completeRow(collection, query.select, row),
      ),
      count: this.#countOf(page.count, query),
    }
  }

  textPage(
    collection: PublishedCollection,
    query: StorageQuery,
    page: StorageTextPage | undefined,
  ): StorageTextPage | undefined {
    if (page === undefined) return undefined
    const items = this.#entriesOf(this.#objectPage(page).items, query, (item) =>
      this.text(collection, query.select, item),
    )
    return { items, count: this.#countOf(page.count, query) }
  }

  textPages(
    collection: PublishedCollection,
    queries: readonly StorageQuery[],
    given: readonly StorageTextPage[] | undefined,
  ): readonly StorageTextPage[] | undefined {
    if (given === undefined) return undefined
    const pages = returnedList<StorageTextPage>(given)
    if (pages?.length !== queries.length)
      throw this.#fault(`another number of pages than of queries, which are ${queries.length}`)
    return pages
      .entries()
      .map(
        (page, index) =>
          this.textPage(collection, queries[index] as StorageQuery, page) as StorageTextPage,
      )
  }

  relatedPage(
    { collection, query }: Pick<RelatedQuery, 'collection' | 'query'>,
    relations: readonly RelatedQuery[],
    given: RelatedTextPage,
  ): RelatedTextPage {
    const { related, ...page } = this.#objectPage(given)
    const checked = this.textPage(collection, query, { ...page, count: null })
    const { items } = checked as StorageTextPage
    const lists = returnedList<RelatedTextPage['related'][number]>(related)
    if (lists?.length !== relations.length)
      throw this.#fault(`related items of another number of relations than ${relations.length}`)
    return {
      items,
      related: lists.entries().map((each, index) => {
        const { collection: other, query: own } = relations[index] as RelatedQuery
        const queries = items.map(() => own)
        const pages = returnedList<readonly string[]>(each)
          ?.entries()
          .map((texts) => ({ items: texts, count: null }))
        return (this.textPages(other, queries, pages ?? []) ?? []).map((one) => one.items)
      }),
    }
  }

  /** Checks a row that was read or inserted: complete, and every value fits. */
  row(collection: PublishedCollection, row: Row): Row {
    return this.#completeRow(collection, collection.allNames, row)
  }

  /** Checks the JSON text of an item: the same text as its row has, with the named fields. */
  text(collection: PublishedCollection, names: readonly string[], text: string): string {
    const parsed = parsedRow(collection, names, text)
    if (parsed !== undefined) {
      const row = this.#completeRow(collection, names, parsed)
      if (encodeRow(collection, row, names) === text) return text
    }
    throw this.#fault('an item that is not the JSON text of its row')
  }

  /** Checks a row that was updated or deleted. Returns it without the values that do not fit. */
  changed(collection: PublishedCollection, row: Row | undefined): Row | undefined {
    if (row === undefined) return undefined
    return fittingValues(collection, collection.allNames, this.#objectOf(row)).row
  }

  /** Checks an estimate of a number of rows. */
  readonly estimate = (number: number | undefined): number | undefined =>
    number === undefined ? undefined : this.#wholeNumber(number, 'an estimate')

  readonly version = (version: string | number | undefined): string | number | undefined => {
    const isNumber = typeof version === 'number' && !Number.isNaN(version)
    if (version === undefined || isNumber || typeof version === 'string') return version
    throw this.#fault('a version that is neither a number nor a string')
  }

  /** Checks each entry of a list of a page. */
  #entriesOf<Entry, Checked>(
    given: readonly Entry[],
    { limit }: StorageQuery,
    check: (entry: Entry) => Checked,
  ): readonly Checked[] {
    const list = returnedList<Entry>(given)
    if (list === undefined) throw this.#fault('a page without a list of rows')
    if (list.length > limit) throw this.#fault(`${list.length} rows for a limit of ${limit}`)
    return list.entries().map(check)
  }

  #countOf(count: unknown, query: StorageQuery): number | null {
    return query.count ? this.#wholeNumber(count, 'a count') : null
  }

  #wholeNumber(number: unknown, what: string): number {
    // JSON has no negative zero.
    if (Number.isSafeInteger(number) && (number as number) >= 0) return (number as number) + 0
    throw this.#fault(`${what} that is not a non-negative integer`)
  }

  #completeRow(collection: PublishedCollection, names: readonly string[], given: Row): Row {
    const { row, unfit } = fittingValues(collection, names, this.#objectOf(given))
    if (unfit.length === 0) return row
    if (isThenable<unknown>(given)) {
      throw this.#fault('a promise in place of a row; it must await the row')
    }
    throw unfitError(collection, keyTexts(collection, given), unfit)
  }

  #objectOf(row: Row): Row {
    if (typeof row === 'object' && (row as Row | null) !== null && !Array.isArray(row)) return row
    throw this.#fault('a row that is not an object')
  }

  #objectPage<Page extends object>(page: Page): Page {
    if (typeof page === 'object' && (page as Page | null) !== null) return page
    throw this.#fault('a value that is not a page')
  }

  #fault(what: string): Error {
    return new TypeError(`The storage adapter ${this.#adapter} returned ${what}.`)
  }
}

// Each value is read once, so that the checked value is the one that is used.
function fittingValues(
  collection: PublishedCollection,
  names: readonly string[],
  given: Row,
): { readonly row: Row; readonly unfit: readonly UnfitValue[] } {
  const row: Record<string, StoredValue> = {}
  const unfit: UnfitValue[] = []
  for (const name of names) {
    const field = collection.byName.get(name) as PublishedField
    const value: unknown = given[name]
    const fits = value === null ? !field.inKey : field.isStored(value)
    if (fits) row[name] = value as StoredValue
    else unfit.push({ field: name, found: foundOf(value) })
  }
  return { row, unfit }
}

function foundOf(value: unknown): string {
  if (value === undefined) return 'no value'
  if (!isThenable(value)) return `another ${typeof value}`
  // A changed row is used without the value.
  ignoreRejections(value)
  return 'a promise'
}

function keyTexts(collection: PublishedCollection, row: Row): readonly string[] {
  return collection.key.map(({ name }) => textOfKey(row[name]).slice(0, 100))
}

function textOfKey(value: unknown): string {
  // Other values may have no JSON.
  const isPlain = ['string', 'number', 'boolean'].includes(typeof value) || value === null
  return isPlain ? JSON.stringify(value) : value === undefined ? 'unknown' : `a ${typeof value}`
}

/** Parses the JSON text of an item. Returns undefined if it is not the text of an object. */
function parsedRow(
  collection: PublishedCollection,
  names: readonly string[],
  text: unknown,
): Row | undefined {
  if (typeof text !== 'string') return undefined
  try {
    const item = JSON.parse(text) as unknown
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined
    // The value of a json field is its text, with all digits.
    const texts = collection.hasJson ? memberTexts(text) : undefined
    const entries = names.map((name) => {
      const value = (item as Row)[name]
      const isJson = collection.byName.get(name)?.type === 'json' && value !== null
      return [name, isJson ? texts?.get(name) : value] as const
    })
    return Object.fromEntries(entries) as Row
  } catch {
    return undefined
  }
}
