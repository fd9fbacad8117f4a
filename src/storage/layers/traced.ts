import type { PublishedCollection } from '../../definition/published.ts'
import { whenDone, type MaybePromise } from '../../maybe-promise.ts'
import { stages, type Traces } from '../../observation/channels.ts'
import type { StorageAdapter, StorageTransaction } from '../adapter.ts'

/** Wraps a plain adapter. While the channel `rowgate:storage` has a subscriber, each call is traced on it. */
export function tracedStorage(adapter: StorageAdapter): StorageAdapter {
  const calls = new TracedCalls(adapter.name)
  return {
    ...adapter,
    filter: (collection, query, context) =>
      calls.run('filter', collection, () => adapter.filter(collection, query, context), pageLength),
    ...(adapter.filterText !== undefined && {
      filterText: (collection, query, context) =>
        calls.run(
          'filter',
          collection,
          () => adapter.filterText?.(collection, query, context),
          textLength,
        ),
    }),
    ...(adapter.filterTexts !== undefined && {
      filterTexts: (collection, queries, context) =>
        calls.run(
          'filter',
          collection,
          () => adapter.filterTexts?.(collection, queries, context),
          (pages) => pages?.reduce((rows, { items }) => rows + items.length, 0) ?? null,
        ),
    }),
    ...(adapter.filterRelated !== undefined && {
      filterRelated: (collection, query, relations, context) =>
        calls.run(
          'filter',
          collection,
          () => adapter.filterRelated?.(collection, query, relations, context),
          textLength,
        ),
    }),
    transaction: (options, work) => {
      if (!stages.storage.isWatched) return adapter.transaction(options, work)
      const trace = traceOf(adapter.name, 'transaction')
      let failure: unknown
      const attempt: typeof work = async (transaction) => {
        trace.undone = false
        try {
          return await work(tracedTransaction(calls, transaction))
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

/** Wraps a transaction of an adapter. */
function tracedTransaction(calls: TracedCalls, within: StorageTransaction): StorageTransaction {
  return {
    filter: (collection, query) =>
      calls.run('filter', collection, () => within.filter(collection, query), pageLength),
    insert: (collection, row) =>
      calls.run('insert', collection, () => within.insert(collection, row), oneRow),
    update: (collection, conditions, ...changes) =>
      calls.run(
        'update',
        collection,
        () => within.update(collection, conditions, ...changes),
        oneRow,
      ),
    ...(within.updateText !== undefined && {
      updateText: (collection, conditions, changes, select) =>
        calls.run(
          'update',
          collection,
          () => within.updateText?.(collection, conditions, changes, select),
          (text) => (typeof text === 'string' ? 1 : 0),
        ),
    }),
    delete: (collection, conditions) =>
      calls.run('delete', collection, () => within.delete(collection, conditions), oneRow),
  }
}

/** Traces calls of a storage. */
class TracedCalls {
  readonly #storage: string

  constructor(storage: string) {
    this.#storage = storage
  }

  run<Result>(
    operation: Exclude<Traces['rowgate:storage']['operation'], 'transaction'>,
    collection: PublishedCollection,
    work: () => MaybePromise<Result>,
    countRows: (result: Result) => number | null,
  ): MaybePromise<Result> {
    if (!stages.storage.isWatched) return work()
    const trace = traceOf(this.#storage, operation, collection)
    return stages.storage.run(trace, () =>
      whenDone(work(), (result) => {
        trace.rows = countRows(result)
        return result
      }),
    )
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
