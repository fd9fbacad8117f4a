import type { PublishedCollection } from '../../definition/published.ts'
import { whenDone, type MaybePromise } from '../../maybe-promise.ts'
import { stages, type Traces } from '../../observation/channels.ts'
import type { StorageAdapter, StorageTransaction } from '../adapter.ts'

/** Wraps a plain adapter. While the channel `rowgate:storage` has a subscriber, each call is traced on it. */
export function tracedStorage(adapter: StorageAdapter): StorageAdapter {
  const { name } = adapter

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
      ...(transaction.updateText !== undefined && {
        updateText: (collection, conditions, changes, select) =>
          traced(
            'update',
            collection,
            () => transaction.updateText?.(collection, conditions, changes, select),
            (text) => (typeof text === 'string' ? 1 : 0),
          ),
      }),
      delete: (collection, conditions) =>
        traced('delete', collection, () => transaction.delete(collection, conditions), oneRow),
    }
  }

  return {
    ...adapter,
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
