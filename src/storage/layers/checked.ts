import { isThenable, whenDone, whenFailed, type MaybePromise } from '../../maybe-promise.ts'
import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedField } from '../../definition/published-field.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import { memberTexts } from '../../protocol/json-scan.ts'
import type { Row, StorageQuery } from '../../request/query.ts'
import { checkReturned, ignoreRejections, returnedList } from '../../request/returned-list.ts'
import { encodeRow } from '../../request/serialize.ts'
import { isStorageError, unfitError, type UnfitValue } from '../adapter.ts'
import { isSelfChecking } from './self-checking.ts'
import type {
  StorageAdapter,
  StoragePage,
  StorageTextPage,
  StorageTransaction,
} from '../adapter.ts'

/**
 * Wraps an adapter so that everything that it returns is checked: the number of rows, the count, and the
 * type of each value. Returns a self-checking adapter unchanged.
 */
export function checkedStorage(adapter: StorageAdapter): StorageAdapter {
  if (isSelfChecking(adapter)) return adapter
  const check = checkerOf(adapter.name)
  const within = transactionChecker(adapter.name)

  return {
    name: adapter.name,
    supports: adapter.supports,
    open(collections, readOnly) {
      if (adapter.supports.columnDefaults !== true) rejectColumnDefaults(adapter.name, collections)
      return adapter.open(collections, readOnly)
    },
    filter: (collection, query, context) =>
      checkedPage(check, (own) => adapter.filter(collection, own, context), { collection, query }),
    ...(adapter.filterText !== undefined && {
      filterText: (collection, query, context) =>
        whenChecked(adapter.filterText?.(collection, query, context), (page) =>
          check.textPage(collection, query, page),
        ),
    }),
    ...(adapter.connections !== undefined && {
      connections: () => adapter.connections?.() ?? [],
    }),
    ...(adapter.enforces !== undefined && {
      enforces: (reference) => adapter.enforces?.(reference) === true,
    }),
    ...(adapter.tableOf !== undefined && {
      tableOf: (collection) => String(adapter.tableOf?.(collection)),
    }),
    ...(adapter.estimateCount !== undefined && {
      estimateCount: (collection, conditions) =>
        whenChecked(adapter.estimateCount?.(collection, conditions), check.estimate),
    }),
    ...(adapter.version !== undefined && {
      version: (collections) => checkReturned(adapter.version?.(collections), check.version),
    }),
    ...(adapter.inspect !== undefined && {
      inspect: (collections, progress) => adapter.inspect?.(collections, progress) ?? [],
    }),
    transaction: (options, work) =>
      adapter.transaction(options, (transaction) => work(within(transaction))),
    close: () => adapter.close(),
  }
}

/** Returns a function that wraps a transaction of an adapter so that what it returns is checked. */
export function transactionChecker(
  adapter: string,
): (transaction: StorageTransaction) => StorageTransaction {
  const check = checkerOf(adapter)
  return (transaction) => ({
    filter: (collection, query) =>
      checkedPage(check, (own) => transaction.filter(collection, own), { collection, query }),
    insert: (collection, row) =>
      whenChecked(transaction.insert(collection, row), (stored) => check.row(collection, stored)),
    update: (collection, conditions, changes) =>
      whenChecked(transaction.update(collection, conditions, changes), (row) =>
        check.changed(collection, row),
      ),
    ...(transaction.updateText !== undefined && {
      updateText: (collection, conditions, changes, select) =>
        whenChecked(transaction.updateText?.(collection, conditions, changes, select), (text) =>
          text === null || text === undefined ? text : check.text(collection, select, text),
        ),
    }),
    delete: (collection, conditions) =>
      whenChecked(transaction.delete(collection, conditions), (row) =>
        check.changed(collection, row),
      ),
  })
}

/** Reads a page and checks it. If a row is unfit, it is read again with its key, for the report. */
function checkedPage(
  check: Checker,
  read: (query: StorageQuery) => MaybePromise<StoragePage>,
  { collection, query }: { readonly collection: PublishedCollection; readonly query: StorageQuery },
): MaybePromise<StoragePage> {
  const checked = (own: StorageQuery): MaybePromise<StoragePage> =>
    whenChecked(read(own), (page) => check.page(collection, own, page))
  return whenFailed(
    () => checked(query),
    (error) => {
      const key = collection.key.map(({ name }) => name)
      const select = [...new Set([...key, ...query.select])]
      const hasKey = select.length === query.select.length
      if (hasKey || !isStorageError(error) || error.kind !== 'unfit') throw error
      // The rows may have been corrected meanwhile.
      return checked({ ...query, select })
    },
  )
}

/** Throws a TypeError if a field of a storage without the ability `columnDefaults` has `default: 'database'`. */
export function rejectColumnDefaults(
  storage: string,
  collections: readonly PublishedCollection[],
): void {
  const places = collections.flatMap(({ application, name, fields }) =>
    fields
      .filter(({ hasColumnDefault }) => hasColumnDefault)
      .map((field) => `${application}/${name}.${field.name}`),
  )
  if (places.length === 0) return
  throw new TypeError(
    `The storage ${storage} has no columns with defaults, but default is 'database' for ${places.join(', ')}. Set a value or a function instead.`,
  )
}

/** Checks a value that an adapter has returned, once its promise has resolved. */
function whenChecked<Value, Checked>(
  returned: MaybePromise<Value>,
  check: (value: Value) => Checked,
): MaybePromise<Checked> {
  return whenDone(returned, (value) => checkReturned(value, check))
}

interface Checker {
  page(collection: PublishedCollection, query: StorageQuery, page: StoragePage): StoragePage
  textPage(
    collection: PublishedCollection,
    query: StorageQuery,
    page: StorageTextPage | undefined,
  ): StorageTextPage | undefined
  /** A row that was read or inserted: complete, and every value fits. */
  row(collection: PublishedCollection, row: Row): Row
  /** The JSON text of an item: that of its row, with the named fields. */
  text(collection: PublishedCollection, names: readonly string[], text: string): string
  /** An estimate of a number of rows. */
  estimate(number: number | undefined): number | undefined
  version(version: string | number | undefined): string | number | undefined
  /** A row that was updated or deleted, without the values that do not fit. */
  changed(collection: PublishedCollection, row: Row | undefined): Row | undefined
}

function checkerOf(adapter: string): Checker {
  function fault(what: string): Error {
    return new TypeError(`The storage adapter ${adapter} returned ${what}.`)
  }

  /** Checks each entry of a list of a page. What the adapter returned is not used later: it could change. */
  function entriesOf<Entry, Checked>(
    given: readonly Entry[],
    { limit }: StorageQuery,
    check: (entry: Entry) => Checked,
  ): readonly Checked[] {
    const list = returnedList<Entry>(given)
    if (list === undefined) throw fault('a page without a list of rows')
    if (list.length > limit) throw fault(`${list.length} rows for a limit of ${limit}`)
    return list.entries().map(check)
  }

  function countOf(count: unknown, query: StorageQuery): number | null {
    return query.count ? wholeNumber(count, 'a count') : null
  }

  function wholeNumber(number: unknown, what: string): number {
    // JSON has no negative zero.
    if (Number.isSafeInteger(number) && (number as number) >= 0) return (number as number) + 0
    throw fault(`${what} that is not a non-negative integer`)
  }

  function completeRow(collection: PublishedCollection, names: readonly string[], given: Row): Row {
    const { row, unfit } = fittingValues(collection, names, objectOf(given))
    if (unfit.length === 0) return row
    if (isThenable<unknown>(given)) {
      throw fault('a promise in place of a row; it must await the row')
    }
    throw unfitError(collection, keyTexts(collection, given), unfit)
  }

  function objectOf(row: Row): Row {
    if (typeof row === 'object' && (row as Row | null) !== null && !Array.isArray(row)) return row
    throw fault('a row that is not an object')
  }

  function textOf(collection: PublishedCollection, names: readonly string[], text: string): string {
    const parsed = parsedRow(collection, names, text)
    if (parsed !== undefined) {
      const row = completeRow(collection, names, parsed)
      if (encodeRow(collection, row, names) === text) return text
    }
    throw fault('an item that is not the JSON text of its row')
  }

  function objectPage<Page extends object>(page: Page): Page {
    if (typeof page === 'object' && (page as Page | null) !== null) return page
    throw fault('a value that is not a page')
  }

  return {
    page: (collection, query, page) => ({
      rows: entriesOf(objectPage(page).rows, query, (row) =>
        completeRow(collection, query.select, row),
      ),
      count: countOf(page.count, query),
    }),
    textPage(collection, query, page) {
      if (page === undefined) return undefined
      const items = entriesOf(objectPage(page).items, query, (item) =>
        textOf(collection, query.select, item),
      )
      return { items, count: countOf(page.count, query) }
    },
    text: textOf,
    estimate: (number) => (number === undefined ? undefined : wholeNumber(number, 'an estimate')),
    version(version) {
      const isNumber = typeof version === 'number' && !Number.isNaN(version)
      if (version === undefined || isNumber || typeof version === 'string') return version
      throw fault('a version that is neither a number nor a string')
    },
    row: (collection, row) => completeRow(collection, collection.allNames, row),
    changed: (collection, row) =>
      row === undefined
        ? undefined
        : fittingValues(collection, collection.allNames, objectOf(row)).row,
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
