import type { PublishedCollection } from '../../definition/published.ts'
import type { MeetsThrough } from '../../request/meets.ts'
import { runtime, type Timer } from '../../runtime.ts'
import type { StorageTransaction, TransactionOptions } from '../adapter.ts'
import { readLog } from '../write-lock/read-log.ts'
import { givenUp, waitLimits } from '../write-lock/wait-limits.ts'
import type { CommittedTables, Snapshot } from './committed-tables.ts'
import { throughTables } from './shared-table.ts'
import { deleteRow, insertRow, pageOf, updateRow, type TableView } from './table.ts'

/** A transaction of a memory storage. Until it commits, only it sees its changes. */
export class MemoryTransaction implements StorageTransaction {
  /** Rejects if application code keeps the lock for too long. */
  readonly overdue: Promise<never>
  readonly #committed: CommittedTables
  readonly #priority: TransactionOptions['priority']
  readonly #views = new Map<PublishedCollection, TableView>()
  readonly #log = readLog()
  readonly #through: MeetsThrough
  #giveUp: (reason: Error) => void = () => undefined
  #snapshot: Snapshot | undefined
  #acquiring: Promise<void> | undefined
  #timer: Timer | undefined
  #isHeld = false
  #hasWritten = false
  #isEnded = false

  private constructor(committed: CommittedTables, { mode, priority }: TransactionOptions) {
    this.#committed = committed
    this.#priority = priority
    this.#through = throughTables(
      (collection) => this.#view(collection),
      (collection) => committed.shared.get(collection),
    )
    this.overdue = new Promise<never>((_, reject) => {
      this.#giveUp = reject
    })
    this.overdue.catch(() => undefined)
    if (mode === 'read') this.#snapshot = committed.takeSnapshot()
  }

  /** Begins a transaction: one that reads takes a snapshot, one that writes waits for the lock. */
  static async begin(
    committed: CommittedTables,
    options: TransactionOptions,
  ): Promise<MemoryTransaction> {
    const begun = new MemoryTransaction(committed, options)
    if (options.mode !== 'read') await (begun.#acquiring = begun.#acquireLock('normal'))
    return begun
  }

  // Functions of the object itself, so that a wrapper can spread it.
  readonly filter: StorageTransaction['filter'] = async (collection, query) => {
    this.#throwIfEnded()
    if (this.#snapshot === undefined) await (this.#acquiring ??= this.#acquireLock('resumed'))
    const page = pageOf(this.#view(collection), query)
    const isCompared = !this.#hasWritten && this.#snapshot === undefined
    return isCompared ? this.#log.add(collection, query, page) : page
  }

  readonly insert: StorageTransaction['insert'] = async (collection, row) => {
    const given = { ...row }
    return insertRow(await this.#writable(collection), given)
  }

  readonly update: StorageTransaction['update'] = async (collection, conditions, changes) => {
    const given = { ...changes }
    return updateRow(await this.#writable(collection), [...conditions], given)
  }

  readonly delete: StorageTransaction['delete'] = async (collection, conditions) =>
    deleteRow(await this.#writable(collection), [...conditions])

  /** Commits its changes. Later calls reject. */
  commit(): void {
    this.#isEnded = true
    this.#committed.commit(this.#views.values())
  }

  /** Ends the transaction, and undoes its changes unless it has committed. */
  end(): void {
    this.#isEnded = true
    this.#releaseSnapshot()
    this.#releaseLock()
  }

  async #writable(collection: PublishedCollection): Promise<TableView> {
    this.#throwIfEnded()
    await (this.#acquiring ??= this.#acquireLock('resumed'))
    const found = this.#view(collection)
    this.#hasWritten = true
    return found
  }

  #view(collection: PublishedCollection): TableView {
    this.#throwIfEnded()
    const known = this.#views.get(collection)
    if (known !== undefined) return known
    const created = this.#committed.viewIn(this.#snapshot, collection, this.#through)
    this.#views.set(collection, created)
    return created
  }

  async #acquireLock(rank: 'normal' | 'resumed'): Promise<void> {
    const { lock } = this.#committed
    try {
      await lock.acquire(this.#priority ?? rank)
    } catch (error) {
      this.#acquiring = undefined
      throw error
    }
    if (this.#isUnchanged() && !this.#isEnded && !this.#committed.isClosed) {
      // The reads are still current, so the transaction is equivalent to one that begins now.
      this.#isHeld = true
      this.#views.clear()
      this.#releaseSnapshot()
      this.#watch(runtime.performanceNow())
      return
    }
    lock.release()
    this.#acquiring = undefined
    throw givenUp('stale')
  }

  #isUnchanged(): boolean {
    const committed = this.#committed
    if (this.#snapshot !== undefined)
      return [...this.#views.values()].every((view) => committed.isCurrent(view))
    return this.#log.isCurrent((collection, query) => pageOf(committed.view(collection), query))
  }

  // While application code waits, other transactions may run, unless this one has written something.
  #watch(since: number, milliseconds: number = waitLimits.suspend): void {
    this.#timer = runtime.setTimeout(() => {
      const held = runtime.performanceNow() - since
      const isUrgent = this.#committed.lock.hasUrgent()
      const limit = isUrgent ? waitLimits.lockBeforeUrgent : waitLimits.lock
      if (!this.#hasWritten) {
        this.#releaseLock()
        this.#views.clear()
        this.#acquiring = undefined
      } else if (held >= limit) this.#giveUp(givenUp('overdue'))
      else this.#watch(since, waitLimits.check)
    }, milliseconds)
  }

  #releaseLock(): void {
    runtime.clearTimeout(this.#timer)
    if (this.#isHeld) this.#committed.lock.release()
    this.#isHeld = false
  }

  #releaseSnapshot(): void {
    if (this.#snapshot !== undefined) this.#committed.release(this.#snapshot)
    this.#snapshot = undefined
  }

  #throwIfEnded(): void {
    this.#committed.throwIfClosed()
    if (this.#isEnded) throw new Error('The transaction has ended.')
  }
}
