import { whenDone, whenFailed, type MaybePromise } from '../../maybe-promise.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { StorageQuery } from '../../request/query.ts'
import { checkReturned } from '../../request/returned-list.ts'
import { isStorageError } from '../adapter.ts'
import type { StorageAdapter, StoragePage, StorageTransaction } from '../adapter.ts'
import { Checker } from './checker.ts'
import { isSelfChecking, pagesOf } from './self-checking.ts'

/**
 * Wraps an adapter so that everything that it returns is checked: the number of rows, the count, and the
 * type of each value. Returns a self-checking adapter unchanged.
 */
export function checkedStorage(adapter: StorageAdapter): StorageAdapter {
  if (isSelfChecking(adapter)) return adapter
  const check = new Checker(adapter.name)
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
    ...checkedTexts(check, adapter),
    ...(adapter.connections !== undefined && {
      connections: () => adapter.connections?.() ?? [],
    }),
    ...(adapter.advice !== undefined && {
      advice: () => adapter.advice?.() ?? [],
    }),
    ...(adapter.enforces !== undefined && {
      enforces: (reference) => adapter.enforces?.(reference) === true,
    }),
    ...(adapter.increments !== undefined && {
      increments: (collection, field) => adapter.increments?.(collection, field) === true,
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

/** Returns the functions of an adapter that read pages as JSON text. */
function checkedTexts(
  check: Checker,
  adapter: StorageAdapter,
): Pick<StorageAdapter, 'filterText' | 'filterTexts' | 'filterRelated'> {
  const filterTexts = pagesOf(adapter, 'filterTexts')
  const filterRelated = pagesOf(adapter, 'filterRelated')
  return {
    ...(adapter.filterText !== undefined && {
      filterText: (collection, query, context) =>
        whenChecked(adapter.filterText?.(collection, query, context), (page) =>
          check.textPage(collection, query, page),
        ),
    }),
    ...(filterTexts !== undefined && {
      filterTexts: (collection, queries, context) =>
        whenChecked(filterTexts.call(adapter, collection, queries, context), (pages) =>
          check.textPages(collection, queries, pages),
        ),
    }),
    ...(filterRelated !== undefined && {
      filterRelated: (collection, query, relations, context) =>
        whenChecked(
          filterRelated.call(adapter, collection, query, relations, context),
          (page) => page && check.relatedPage({ collection, query }, relations, page),
        ),
    }),
  }
}

/** Returns a function that wraps a transaction of an adapter so that what it returns is checked. */
export function transactionChecker(
  adapter: string,
): (transaction: StorageTransaction) => StorageTransaction {
  const check = new Checker(adapter)
  return (transaction) => ({
    filter: (collection, query) =>
      checkedPage(check, (own) => transaction.filter(collection, own), { collection, query }),
    insert: (collection, row) =>
      whenChecked(transaction.insert(collection, row), (stored) => check.row(collection, stored)),
    update: (collection, conditions, ...changes) =>
      whenChecked(transaction.update(collection, conditions, ...changes), (row) =>
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
