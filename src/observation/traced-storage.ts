import type { PublishedCollection } from '../definition/published.ts'
import { whenDone, type MaybePromise } from '../maybe-promise.ts'
import { stages, type Traces } from './channels.ts'
import type { StorageAdapter, StorageTransaction } from '../storage/adapter.ts'

/** Wraps an adapter. While the channel `rowgate:storage` has a subscriber, each call is traced on it. */
export function tracedStorage(adapter: StorageAdapter): StorageAdapter {
  const { name, supports } = adapter

  function traced<Result>(
    operation: Exclude<Traces['rowgate:storage']['operation'], 'transaction'>,
    collection: PublishedCollection,
    work: () => MaybePromise<Result>,
    rowsOf: (result: Result) => number | null,
  ): MaybePromise<Result> {
    if (!stages.storage.isWatched) return work()
    const trace = traceOf(name, operation, collection)
    return stages.storage.run(trace, () =>
      whenDone(work(), (result) => {
        trace.rows = rowsOf(result)
        return result
      }),
    )
  }

  function within(transaction: StorageTransaction): StorageTransaction {
    return {
      filter: (collection, query) =>
        traced('filter', collection, () => transaction.filter(collection, query), pageLength),
      insert: (collection, row) =>
        traced('insert', collection, () => transaction.insert(collection, row), oneRow),
      update: (collection, conditions, changes) =>
        traced(
          'update',
          collection,
          () => transaction.update(collection, conditions, changes),
          oneRow,
        ),
      delete: (collection, conditions) =>
        traced('delete', collection, () => transaction.delete(collection, conditions), oneRow),
    }
  }

  return {
    name,
    supports,
    open: (collections) => adapter.open(collections),
    filter: (collection, query, context) =>
      traced('filter', collection, () => adapter.filter(collection, query, context), pageLength),
    ...(adapter.filterText !== undefined && {
      filterText: (collection, query, context) =>
        traced(
          'filter',
          collection,
          () => adapter.filterText?.(collection, query, context),
          textLength,
        ),
    }),
    ...(adapter.enforces !== undefined && {
      enforces: (reference) => adapter.enforces?.(reference) === true,
    }),
    ...(adapter.estimateCount !== undefined && {
      estimateCount: (collection, conditions) => adapter.estimateCount?.(collection, conditions),
    }),
    ...(adapter.version !== undefined && {
      version: (collections) => adapter.version?.(collections),
    }),
    ...(adapter.inspect !== undefined && {
      inspect: (collections, progress) => adapter.inspect?.(collections, progress) ?? [],
    }),
    transaction: (options, work) => {
      if (!stages.storage.isWatched) return adapter.transaction(options, work)
      const trace = traceOf(name, 'transaction')
      let failure: unknown
      const attempt: typeof work = async (transaction) => {
        trace.undone = false
        try {
          return await work(within(transaction))
        } catch (error) {
          trace.undone = true
          failure = error
          throw error
        }
      }
      return stages.storage.run(
        trace,
        () => adapter.transaction(options, attempt),
        (thrown) => trace.undone && thrown === failure,
      )
    },
    close: () => adapter.close(),
  }
}

function traceOf(
  storage: string,
  operation: Traces['rowgate:storage']['operation'],
  collection?: PublishedCollection,
): Traces['rowgate:storage'] {
  return {
    storage,
    operation,
    application: collection?.application ?? null,
    collection: collection?.name ?? null,
    rows: null,
    undone: false,
  }
}

function pageLength({ rows }: { readonly rows: readonly unknown[] }): number {
  return rows.length
}

function textLength(page: { readonly items: readonly unknown[] } | undefined): number | null {
  return page?.items.length ?? null
}

function oneRow(row: object | undefined): number {
  return row === undefined ? 0 : 1
}
