import { everyCondition } from '../../request/query.ts'
import { StorageError, type StorageAdapter } from '../adapter.ts'
import { checkedStorage, rejectColumnDefaults } from '../layers/checked.ts'
import { markSelfChecking } from '../layers/self-checking.ts'
import { CommittedTables } from './committed-tables.ts'
import { sharing } from './shared-table.ts'
import { pageOf } from './table.ts'
import { MemoryTransaction } from './memory-transaction.ts'

/**
 * Keeps rows in the memory of the process, for tests, prototypes and small constant data. One transaction
 * writes at a time, its changes are not visible before it commits, and reads never wait. Collections with
 * the same table share its rows.
 */
export function memoryStorage(): StorageAdapter {
  const tables = new CommittedTables()
  const adapter: StorageAdapter = {
    name: 'memory',
    supports: {
      textPages: false,
      durable: false,
      generatedNumbers: true,
      conditions: everyCondition,
    },
    open(collections) {
      rejectColumnDefaults('memory', collections)
      tables.open(collections)
    },
    // Stored rows are frozen and flat, so they can be returned without a copy.
    filter: (collection, query) => {
      if (tables.isClosed) return Promise.reject(new StorageError('unavailable'))
      const shared = tables.shared.get(collection)
      if (shared === undefined) return pageOf(tables.view(collection), query)
      const page = pageOf(tables.view(shared.table), shared.queryOf(query))
      return { ...page, rows: page.rows.map(shared.rowOf) }
    },
    version: (collections) => tables.version(collections),
    transaction: async (options, work) => {
      tables.throwIfClosed()
      const transaction = await MemoryTransaction.begin(tables, options)
      try {
        const done = work(sharing(transaction, tables.shared))
        const result = await Promise.race([done, transaction.overdue])
        tables.throwIfClosed()
        transaction.commit()
        return result
      } finally {
        transaction.end()
      }
    },
    close: () => tables.close(),
  }
  // A value of one collection may not fit the field of another one with the same column.
  const checked = checkedStorage(adapter)
  return markSelfChecking({
    ...adapter,
    filter: (collection, query) =>
      (tables.shared.has(collection) ? checked : adapter).filter(collection, query),
    transaction: (options, work) =>
      (tables.shared.size > 0 ? checked : adapter).transaction(options, work),
  })
}
