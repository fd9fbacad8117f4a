import type { StoredValue } from '../definition/field-type.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { oneItem, type Condition, type Row } from '../request/query.ts'
import { keyConditions } from '../request/resolve.ts'
import {
  isStorageError,
  StorageError,
  tableIn,
  type StorageTransaction,
} from '../storage/adapter.ts'
import { conflictPauses, isConflict, type ConflictPause } from '../work/repeat-conflicts.ts'
import type { Runtime } from './runtime.ts'

/** An item that a unit of work writes. */
export interface WrittenItem {
  readonly collection: PublishedCollection
  readonly key: readonly StoredValue[]
}

/** How a unit of work meets others. */
export interface ContentionOptions {
  /** The item that its first statement reads and locks. Undefined: not known. */
  readonly item?: WrittenItem | undefined
  /** Whether the work is repeated after a conflict although code of the application was called. Default false. */
  readonly repeatsCode?: boolean | undefined
}

/**
 * The attempts of a unit of work that other transactions get in the way of. It waits for those of this process that write
 * the same item, and is repeated after conflicts: then it first locks the items that it has met others at, so that it
 * does not fail again after its code has run.
 */
export class Contention {
  readonly #runtime: Runtime
  readonly #isRepeatable: boolean
  readonly #items = new Map<string, WrittenItem>()
  // Keys that inserts have found in use, although the transaction did not see their rows.
  readonly #unseen = new Set<string>()
  #pause: ConflictPause | undefined
  #conflict: StorageError | undefined
  // Set after a conflict with items beside the one that the work itself locks first.
  #locksFirst = false

  constructor(runtime: Runtime, { item, repeatsCode = false }: ContentionOptions) {
    this.#runtime = runtime
    this.#isRepeatable = repeatsCode
    if (item !== undefined) this.#items.set(this.#idOf(item), item)
  }

  /** Waits for its turn at the items that are known. Returns a function that ends it; undefined if there are none. */
  enter(): MaybePromise<() => void> | undefined {
    return this.#items.size === 0 ? undefined : this.#runtime.rows.enter([...this.#items.keys()])
  }

  /** Returns the work of an attempt with what it needs because of earlier ones. */
  attempt<Result>(
    work: (transaction: StorageTransaction) => MaybePromise<Result>,
  ): (transaction: StorageTransaction) => MaybePromise<Result> {
    this.#conflict = undefined
    const noted: typeof work = this.#isRepeatable ? (on) => work(this.#noting(on)) : work
    if (!this.#locksFirst) return noted
    return async (transaction) => {
      for (const id of [...this.#items.keys()].sort())
        await lockItem(transaction, this.#items.get(id) as WrittenItem)
      return noted(transaction)
    }
  }

  /**
   * Returns the conflict because of which work may be repeated: its error, or that for which code has thrown its own.
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
    this.#pause ??= conflictPauses()
    await this.#pause(conflict, !hasCalledCode && this.#items.size > 0)
  }

  #idOf({ collection, key }: WrittenItem): string {
    return JSON.stringify([tableIn(this.#runtime.adapter, collection), ...key])
  }

  /**
   * Returns a transaction that notes its conflicts, because code may throw an error of its own for one. An insert of a key
   * that another transaction has inserted since this one began is a conflict as well: the repeated work finds the item.
   * If it does not, the duplicate stays an error: the database has another comparison of strings, or a unique index that
   * the definition does not have.
   */
  #noting(on: StorageTransaction): StorageTransaction {
    const { updateText } = on
    return {
      filter: (collection, query) =>
        this.#noted(
          () => on.filter(collection, query),
          query.lock === true ? { collection, conditions: query.conditions } : undefined,
        ),
      insert: (collection, row) => this.#noted(() => this.#insert(on, collection, row)),
      update: (collection, conditions, changes) =>
        this.#noted(() => on.update(collection, conditions, changes), { collection, conditions }),
      ...(updateText !== undefined && {
        updateText: (collection, conditions, ...given) =>
          this.#noted(() => updateText(collection, conditions, ...given), {
            collection,
            conditions,
          }),
      }),
      delete: (collection, conditions) =>
        this.#noted(() => on.delete(collection, conditions), { collection, conditions }),
    }
  }

  async #noted<Result>(
    call: () => MaybePromise<Result>,
    at?: { readonly collection: PublishedCollection; readonly conditions: readonly Condition[] },
  ): Promise<Result> {
    try {
      return await call()
    } catch (error) {
      if (isConflict(error)) {
        this.#conflict ??= error
        const key = at && keyIn(at.collection, at.conditions)
        if (at !== undefined && key !== undefined) this.#meetsAt({ collection: at.collection, key })
      }
      throw error
    }
  }

  #meetsAt(item: WrittenItem): void {
    if (this.#items.size >= maxItems) return
    this.#items.set(this.#idOf(item), item)
    this.#locksFirst = this.#runtime.adapter.supports.rowLocks === true
  }

  async #insert(on: StorageTransaction, collection: PublishedCollection, row: Row): Promise<Row> {
    try {
      return await on.insert(collection, row)
    } catch (error) {
      if (!isStorageError(error) || error.kind !== 'duplicate') throw error
      const values = keyOf(collection, row, error)
      const isConflicting =
        values !== undefined && (await isFirstUnseen(on, collection, values, this.#unseen))
      if (!isConflicting) throw error
      throw new StorageError('unavailable', { cause: error, isConflict: true })
    }
  }
}

// A transaction that meets others at more items than this locks them as it goes.
const maxItems = 100

/** Locks an item, if it exists. */
async function lockItem(on: StorageTransaction, { collection, key }: WrittenItem): Promise<void> {
  const names = collection.key.map(({ name }) => name)
  const query = oneItem(keyConditions(collection, key), names)
  await on.filter(collection, { ...query, lock: true })
}

/** Returns the key among conditions; undefined if they do not have all of it. */
function keyIn(
  { key }: PublishedCollection,
  conditions: readonly Condition[],
): readonly StoredValue[] | undefined {
  const values = key.flatMap(({ name }) => {
    const own = conditions.find((one) => one.is === 'equal' && one.field === name)
    return own?.is === 'equal' ? [own.value] : []
  })
  return values.length > 0 && values.length === key.length ? values : undefined
}

/** Returns whether a transaction does not see the row of a key in use, for the first time of repeated work. */
async function isFirstUnseen(
  on: StorageTransaction,
  collection: PublishedCollection,
  values: readonly StoredValue[],
  unseen: Set<string>,
): Promise<boolean> {
  const { application, name, key } = collection
  const query = oneItem(
    keyConditions(collection, values),
    key.map((field) => field.name),
  )
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
