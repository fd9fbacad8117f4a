import type { PublishedCollection } from '../../definition/published.ts'
import type { MeetsThrough } from '../../request/meets.ts'
import { StorageError } from '../adapter.ts'
import { LockQueue } from './lock-queue.ts'
import { sharedTables, throughTables, type SharedTable } from './shared-table.ts'
import { changedTable, emptyTable, viewOfTable, type Table, type TableView } from './table.ts'

/** The tables of a storage at the time when a transaction began. */
export type Snapshot = ReadonlyMap<PublishedCollection, Table>

/** The committed tables of one storage, and the lock of those who write them. */
export class CommittedTables {
  readonly lock = new LockQueue()
  readonly #tables = new Map<PublishedCollection, Table>()
  // The number of the last commit that changed each table.
  readonly #changed = new Map<PublishedCollection, number>()
  readonly #through: MeetsThrough
  #shared: ReadonlyMap<PublishedCollection, SharedTable> = new Map()
  #commits = 0
  #isClosed = false

  constructor() {
    this.#through = throughTables(
      (collection) => this.view(collection),
      (collection) => this.#shared.get(collection),
    )
  }

  /** The tables that several collections share, by collection. */
  get shared(): ReadonlyMap<PublishedCollection, SharedTable> {
    return this.#shared
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Creates the tables of all collections, without rows. */
  open(collections: readonly PublishedCollection[]): void {
    this.#shared = sharedTables(collections)
    for (const collection of new Set(this.#tablesOf(collections))) {
      this.#tables.set(collection, emptyTable(collection))
    }
  }

  /** Returns a view of a committed table. */
  view(collection: PublishedCollection): TableView {
    return this.viewIn(undefined, collection, this.#through)
  }

  /** Returns a view of a table in a snapshot, or of the committed one. `through` finds the rows of other tables. */
  viewIn(
    snapshot: Snapshot | undefined,
    collection: PublishedCollection,
    through: MeetsThrough,
  ): TableView {
    const table = (snapshot ?? this.#tables).get(collection)
    if (table !== undefined) return viewOfTable(table, through)
    throw new TypeError(
      `The storage was not opened with the collection ${collection.application}/${collection.name}.`,
    )
  }

  /** Returns the number of the last commit that changed one of the collections. */
  version(collections: readonly PublishedCollection[]): number {
    return Math.max(0, ...this.#tablesOf(collections).map((each) => this.#changed.get(each) ?? 0))
  }

  /** Returns the tables as they are now. They are not changed until the snapshot is released. */
  takeSnapshot(): Snapshot {
    for (const table of this.#tables.values()) table.readers += 1
    return new Map(this.#tables)
  }

  /** Ends the use of a snapshot. */
  release(snapshot: Snapshot): void {
    for (const table of snapshot.values()) table.readers -= 1
  }

  /** Returns whether no commit has changed the table of a view since it was created. */
  isCurrent({ table }: TableView): boolean {
    return this.#tables.get(table.collection) === table
  }

  /** Commits the changes of a transaction. */
  commit(views: Iterable<TableView>): void {
    this.#commits += 1
    for (const view of views) {
      if (view.changes.size === 0) continue
      this.#tables.set(view.table.collection, changedTable(view))
      this.#changed.set(view.table.collection, this.#commits)
    }
  }

  close(): void {
    this.#isClosed = true
    this.lock.rejectAll(() => new StorageError('unavailable'))
    this.#tables.clear()
  }

  throwIfClosed(): void {
    if (this.#isClosed) throw new StorageError('unavailable')
  }

  #tablesOf(collections: readonly PublishedCollection[]): readonly PublishedCollection[] {
    return collections.map((each) => this.#shared.get(each)?.table ?? each)
  }
}
