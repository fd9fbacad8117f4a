import type { PublishedCollection } from '../../definition/published.ts'
import { everyCondition } from '../../request/query.ts'
import { StorageError } from '../adapter.ts'
import { markSelfChecking } from '../layers/self-checking.ts'
import type { StorageAdapter, StoragePage, StorageQuery } from '../adapter.ts'
import type { StorageTransaction, TransactionOptions } from '../adapter.ts'
import { checkedStorage, rejectColumnDefaults } from '../layers/checked.ts'
import { sharedTables, sharing, throughTables, type SharedTable } from './shared-table.ts'
import {
  changedTable,
  deleteRow,
  emptyTable,
  insertRow,
  pageOf,
  updateRow,
  viewOfTable,
} from './table.ts'
import type { Table, TableView } from './table.ts'
import { readLog } from '../write-lock/read-log.ts'
import { lockQueue, type LockQueue } from './lock-queue.ts'
import { givenUp, waitLimits } from '../write-lock/wait-limits.ts'

type Tables = Map<PublishedCollection, Table>

/** The state that all transactions of one storage share. */
interface Memory {
  readonly committed: Tables
  /** Returns a committed table. */
  readonly view: (collection: PublishedCollection) => TableView
  /** The tables that several collections share, by collection. */
  shared: ReadonlyMap<PublishedCollection, SharedTable>
  readonly lock: LockQueue
  /** The number of commits, and that of the last one that changed each table. */
  commits: number
  readonly changed: Map<PublishedCollection, number>
  closed: boolean
}

/**
 * Keeps rows in the memory of the process, for tests, prototypes and small constant data. One transaction
 * writes at a time, its changes are not visible before it commits, and reads never wait. Collections with
 * the same table share its rows.
 */
export function memoryStorage(): StorageAdapter {
  const committed: Tables = new Map()
  const view: Memory['view'] = (collection) => viewOf(committed, collection, through)
  const through = throughTables(view, (collection) => memory.shared.get(collection))
  const memory: Memory = {
    committed,
    view,
    shared: new Map(),
    lock: lockQueue(),
    commits: 0,
    changed: new Map(),
    closed: false,
  }
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
      memory.shared = sharedTables(collections)
      const tables = collections.map((each) => memory.shared.get(each)?.table ?? each)
      for (const collection of new Set(tables)) {
        memory.committed.set(collection, emptyTable(collection))
      }
    },
    // Stored rows are frozen and flat, so they can be returned without a copy.
    filter: (collection, query) => {
      if (memory.closed) return Promise.reject(new StorageError('unavailable'))
      const shared = memory.shared.get(collection)
      if (shared === undefined) return pageOf(view(collection), query)
      const page = pageOf(view(shared.table), shared.queryOf(query))
      return { ...page, rows: page.rows.map(shared.rowOf) }
    },
    version: (collections) => {
      const tables = collections.map((each) => memory.shared.get(each)?.table ?? each)
      return Math.max(0, ...tables.map((table) => memory.changed.get(table) ?? 0))
    },
    transaction: async (options, work) => {
      throwIfClosed(memory)
      const session = await begin(memory, options)
      try {
        const done = work(sharing(session.transaction, memory.shared))
        const result = await Promise.race([done, session.givenUp])
        throwIfClosed(memory)
        session.commit()
        return result
      } finally {
        session.end()
      }
    },
    close() {
      memory.closed = true
      memory.lock.rejectAll(() => new StorageError('unavailable'))
      memory.committed.clear()
    },
  }
  // A value of one collection may not fit the field of another one with the same column.
  const checked = checkedStorage(adapter)
  return markSelfChecking({
    ...adapter,
    filter: (collection, query) =>
      (memory.shared.has(collection) ? checked : adapter).filter(collection, query),
    transaction: (options, work) =>
      (memory.shared.size > 0 ? checked : adapter).transaction(options, work),
  })
}

interface Session {
  readonly transaction: StorageTransaction
  /** Rejects if application code keeps the lock for too long. */
  readonly givenUp: Promise<never>
  commit(): void
  end(): void
}

async function begin(memory: Memory, options: TransactionOptions): Promise<Session> {
  const { mode, priority } = options
  const { committed, lock } = memory
  const views = new Map<PublishedCollection, TableView>()
  let ended = false
  let acquiring: Promise<void> | undefined
  let isHeld = false
  let written = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let giveUp: (reason: Error) => void = () => undefined
  const overdue = new Promise<never>((_, reject) => {
    giveUp = reject
  })
  overdue.catch(() => undefined)
  const log = readLog()
  const through = throughTables(view, (collection) => memory.shared.get(collection))
  let snapshot: Tables | undefined
  if (mode === 'read') snapshot = take(committed)
  else await (acquiring = acquireLock('normal'))

  function releaseSnapshot(): void {
    for (const table of snapshot?.values() ?? []) table.readers -= 1
    snapshot = undefined
  }

  async function acquireLock(rank: 'normal' | 'resumed'): Promise<void> {
    try {
      await lock.acquire(priority ?? rank)
    } catch (error) {
      acquiring = undefined
      throw error
    }
    if (isUnchanged() && !ended && !memory.closed) {
      // The reads are still current, so the transaction is equivalent to one that begins now.
      isHeld = true
      views.clear()
      releaseSnapshot()
      watch(performance.now())
      return
    }
    lock.release()
    acquiring = undefined
    throw givenUp('stale')
  }

  function isUnchanged(): boolean {
    if (snapshot !== undefined) return [...views.values()].every((one) => isCurrent(one, committed))
    return log.isCurrent((collection, query) => pageOf(memory.view(collection), query))
  }

  // While application code waits, other transactions may run, unless this one has written something.
  function watch(since: number, milliseconds: number = waitLimits.suspend): void {
    timer = setTimeout(() => {
      const held = performance.now() - since
      const limit = lock.hasUrgent() ? waitLimits.lockBeforeUrgent : waitLimits.lock
      if (!written) {
        releaseLock()
        views.clear()
        acquiring = undefined
      } else if (held >= limit) giveUp(givenUp('overdue'))
      else watch(since, waitLimits.check)
    }, milliseconds)
  }

  function releaseLock(): void {
    clearTimeout(timer)
    if (isHeld) lock.release()
    isHeld = false
  }

  function throwIfEnded(): void {
    throwIfClosed(memory)
    if (ended) throw new Error('The transaction has ended.')
  }

  function view(collection: PublishedCollection): TableView {
    throwIfEnded()
    const known = views.get(collection)
    if (known !== undefined) return known
    const created = viewOf(snapshot ?? committed, collection, through)
    views.set(collection, created)
    return created
  }

  async function writable(collection: PublishedCollection): Promise<TableView> {
    throwIfEnded()
    await (acquiring ??= acquireLock('resumed'))
    const found = view(collection)
    written = true
    return found
  }

  async function read(collection: PublishedCollection, query: StorageQuery): Promise<StoragePage> {
    throwIfEnded()
    if (snapshot === undefined) await (acquiring ??= acquireLock('resumed'))
    const page = pageOf(view(collection), query)
    return written || snapshot !== undefined ? page : log.add(collection, query, page)
  }

  return {
    transaction: {
      filter: read,
      insert: async (collection, row) => {
        const given = { ...row }
        return insertRow(await writable(collection), given)
      },
      update: async (collection, conditions, changes) => {
        const given = { ...changes }
        return updateRow(await writable(collection), [...conditions], given)
      },
      delete: async (collection, conditions) =>
        deleteRow(await writable(collection), [...conditions]),
    },
    givenUp: overdue,
    commit() {
      ended = true
      memory.commits += 1
      for (const one of views.values()) {
        if (one.changes.size === 0) continue
        committed.set(one.table.collection, changedTable(one))
        memory.changed.set(one.table.collection, memory.commits)
      }
    },
    end() {
      ended = true
      releaseSnapshot()
      releaseLock()
    },
  }
}

function throwIfClosed({ closed }: Memory): void {
  if (closed) throw new StorageError('unavailable')
}

function viewOf(
  tables: Tables,
  collection: PublishedCollection,
  through: TableView['through'],
): TableView {
  const table = tables.get(collection)
  if (table !== undefined) return viewOfTable(table, through)
  throw new TypeError(
    `The storage was not opened with the collection ${collection.application}/${collection.name}.`,
  )
}

function isCurrent({ table }: TableView, committed: Tables): boolean {
  return committed.get(table.collection) === table
}

function take(committed: Tables): Tables {
  for (const table of committed.values()) table.readers += 1
  return new Map(committed)
}
