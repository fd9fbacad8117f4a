import type { StoredValue } from '../../definition/field-type.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { oneItem, type Condition, type Row, type StorageQuery } from '../../request/query.ts'
import { keyConditions, keyIn } from '../../request/resolve.ts'
import {
  isStorageError,
  StorageError,
  tableIn,
  type StorageTransaction,
} from '../../storage/adapter.ts'
import { conflictPauses, isConflict, type ConflictPause } from '../../work/repeat-conflicts.ts'
import type { Budget } from './budget.ts'
import type { Runtime } from '../runtime.ts'

/** An item that a unit of work writes. */
export interface WrittenItem {
  readonly collection: PublishedCollection
  readonly key: readonly StoredValue[]
}

/** How a unit of work meets others. */
export interface ContentionOptions {
  /** Whether its code does not wait; see `TransactionOptions`. */
  readonly brief: boolean
  /** The item that its first statement reads and locks. Undefined: not known. */
  readonly item?: WrittenItem | undefined
  /** Whether the work is repeated after a conflict although code of the application was called. Default false. */
  readonly repeatsCode?: boolean | undefined
}

/**
 * The attempts of a unit of work that other transactions get in the way of. It waits for its turn among those of this
 * process that write the same item. After a conflict, work that may be repeated first waits for its turn at all items
 * that it has locked or written, and locks them, so that it does not fail again after its code has run.
 */
export class Contention {
  readonly #runtime: Runtime
  readonly #budget: Budget
  readonly #isRepeatable: boolean
  // Code that does not wait runs at the same time as other code only where transactions do.
  readonly #takesTurns: boolean
  // The items that it writes, as far as they are known, and its turns at them. Most units have none.
  #items: Map<string, WrittenItem> | undefined
  #turns: Map<string, () => void> | undefined
  // Keys that inserts have found in use, although the transaction did not see their rows.
  #unseen: Set<string> | undefined
  #pause: ConflictPause | undefined
  #conflict: StorageError | undefined
  #hasFailed = false

  constructor(
    runtime: Runtime,
    { brief, item, repeatsCode = false }: ContentionOptions,
    budget: Budget,
  ) {
    this.#runtime = runtime
    this.#budget = budget
    this.#isRepeatable = repeatsCode
    this.#takesTurns = !brief || runtime.adapter.supports.rowLocks === true
    if (item !== undefined && this.#takesTurns) this.#items = new Map([[this.#idOf(item), item]])
  }

  /** Waits for its turn at the items that are known. Undefined if there is nothing to wait for. */
  enter(): Promise<void> | undefined {
    const items = this.#items?.size ?? 0
    return items === (this.#turns?.size ?? 0) ? undefined : this.#enterAll()
  }

  /** Waits for one item after the other, in one order for all transactions, so that none wait for each other. */
  async #enterAll(): Promise<void> {
    this.leave()
    const turns = (this.#turns ??= new Map())
    const { rows } = this.#runtime
    for (const id of this.#sortedIds())
      turns.set(id, await rows.enter(id, Math.ceil(this.#budget.left())))
  }

  /** Ends its turns. */
  leave(): void {
    if (this.#turns === undefined) return
    for (const leave of this.#turns.values()) leave()
    this.#turns.clear()
  }

  /** Returns the work of an attempt with what it needs because of earlier ones. */
  attempt<Result>(
    work: (transaction: StorageTransaction) => MaybePromise<Result>,
  ): (transaction: StorageTransaction) => MaybePromise<Result> {
    if (!this.#isRepeatable) return work
    this.#conflict = undefined
    const noted: typeof work = (transaction) => work(this.#noting(transaction))
    if (!this.#hasFailed || this.#runtime.adapter.supports.rowLocks !== true) return noted
    return async (transaction) => {
      for (const id of this.#sortedIds())
        await lockItem(transaction, this.#items?.get(id) as WrittenItem)
      return noted(transaction)
    }
  }

  /**
   * Returns the conflict because of which work may be repeated: its error, or the conflict that code has replaced with it.
   * Undefined if there is none, or code was called that must not run twice.
   */
  conflictOf(error: unknown, hasCalledCode: boolean): StorageError | undefined {
    if (hasCalledCode && !this.#isRepeatable) return undefined
    if (isConflict(error)) return error
    // An error of storage is the reason itself.
    return isStorageError(error) ? undefined : this.#conflict
  }

  /** Waits until the work may be repeated after a conflict. Rejects if it was repeated often enough. */
  async pause(conflict: StorageError, hasCalledCode: boolean): Promise<void> {
    this.#hasFailed = true
    const isEarly = !hasCalledCode && this.#items !== undefined
    // Work that has failed while it waited for a lock keeps its turn, so that later ones do not overtake it.
    if (!isEarly) this.leave()
    this.#pause ??= conflictPauses()
    await this.#pause(conflict, isEarly)
    this.#budget.requireLeft()
  }

  #sortedIds(): readonly string[] {
    return [...(this.#items?.keys() ?? [])].sort()
  }

  #idOf({ collection, key }: WrittenItem): string {
    return JSON.stringify([tableIn(this.#runtime.adapter, collection), ...key])
  }

  /**
   * Returns a transaction that notes its conflicts, because code may replace one with an error of its own. An insert of a
   * key that another transaction has inserted since this one began is also a conflict: the repeated work finds the item.
   * If it finds none, the duplicate stays an error: the database compares strings differently, or has a unique index
   * that is not in the definition.
   */
  #noting(on: StorageTransaction): StorageTransaction {
    const { updateText } = on
    return {
      filter: (collection, query) => {
        const locked = query.lock === true ? query.conditions : []
        return this.#noted(() => on.filter(collection, query), collection, locked)
      },
      insert: (collection, row) => this.#noted(() => this.#insert(on, collection, row), collection),
      update: (collection, conditions, ...changes) =>
        this.#noted(() => on.update(collection, conditions, ...changes), collection, conditions),
      ...(updateText !== undefined && {
        updateText: (collection, conditions, ...given) =>
          this.#noted(() => updateText(collection, conditions, ...given), collection, conditions),
      }),
      delete: (collection, conditions) =>
        this.#noted(() => on.delete(collection, conditions), collection, conditions),
    }
  }

  async #noted<Result>(
    call: () => MaybePromise<Result>,
    collection: PublishedCollection,
    conditions: readonly Condition[] = [],
  ): Promise<Result> {
    try {
      const key = keyIn(collection, conditions)
      if (key !== undefined && this.#takesTurns) this.#take({ collection, key })
      return await call()
    } catch (error) {
      if (isConflict(error)) this.#conflict ??= error
      throw error
    }
  }

  /**
   * Takes its turn at an item. Throws a conflict if another transaction of this process has it: to wait for that one in
   * the database would take a connection, and end with a conflict.
   */
  #take(item: WrittenItem): void {
    const id = this.#idOf(item)
    const items = (this.#items ??= new Map())
    const turns = (this.#turns ??= new Map())
    if (turns.has(id) || items.size >= maxItems) return
    items.set(id, item)
    const leave = this.#runtime.rows.tryEnter(id)
    if (leave !== undefined) turns.set(id, leave)
    else {
      const cause = new Error('another transaction of this process writes the item')
      throw new StorageError('unavailable', { cause, isConflict: true })
    }
  }

  async #insert(on: StorageTransaction, collection: PublishedCollection, row: Row): Promise<Row> {
    try {
      return await on.insert(collection, row)
    } catch (error) {
      if (!isStorageError(error) || error.kind !== 'duplicate') throw error
      const values = keyOf(collection, row, error)
      const isConflicting =
        values !== undefined &&
        (await isFirstUnseen(on, collection, values, (this.#unseen ??= new Set())))
      if (!isConflicting) throw error
      throw new StorageError('unavailable', { cause: error, isConflict: true })
    }
  }
}

// A transaction that meets others at more items than this locks them as it goes.
const maxItems = 100

/** Locks an item, if it exists. */
async function lockItem(on: StorageTransaction, item: WrittenItem): Promise<void> {
  await on.filter(item.collection, { ...keyQuery(item), lock: true })
}

function keyQuery({ collection, key }: WrittenItem): StorageQuery {
  const names = collection.key.map(({ name }) => name)
  return oneItem(keyConditions(collection, key), names)
}

/** Returns whether a transaction does not see the row of a key in use, for the first time of repeated work. */
async function isFirstUnseen(
  on: StorageTransaction,
  collection: PublishedCollection,
  values: readonly StoredValue[],
  unseen: Set<string>,
): Promise<boolean> {
  const { application, name } = collection
  const query = keyQuery({ collection, key: values })
  try {
    if ((await on.filter(collection, query)).rows.length > 0) return false
  } catch {
    // Not every storage can read after a failure.
    return false
  }
  const id = JSON.stringify([application, name, ...values])
  if (unseen.has(id)) return false
  unseen.add(id)
  return true
}

/** Returns the key of a row that may be the reason of a duplicate; undefined if another value certainly is. */
function keyOf(
  { key }: PublishedCollection,
  row: Row,
  { fields }: StorageError,
): readonly StoredValue[] | undefined {
  const values = key.map(({ name }) => row[name] ?? null)
  if (values.length === 0 || values.includes(null)) return undefined
  const isOther = fields.length > 0 && !key.some(({ name }) => fields.includes(name))
  return isOther ? undefined : values
}
