import type { PublishedCollection } from '../definition/published.ts'
import type { ServiceReply } from '../request/request.ts'
import {
  isStorageError,
  type Row,
  type StorageAdapter,
  type StorageTransaction,
} from '../storage/adapter.ts'
import { readFitting } from '../storage/fitting-rows.ts'
import { table, tableReader } from '../storage/table.ts'
import { inProgress, answered, isExpired, type KeyRecord } from './key-record.ts'
import type { KeyTables } from './collections.ts'
import type { KeyedRequest } from './keyed-request.ts'

/** What {@link KeyStore} uses. */
export interface KeyStoreDependencies {
  readonly storage: Pick<StorageAdapter, 'filter' | 'transaction'>
  readonly tables: KeyTables
  readonly now: () => Date
}

/** Thrown if another request has stored the key. Its transaction is rolled back. */
export class KeyTaken extends Error {}

const writing = { mode: 'write', brief: true } as const
const batch = 200

/** The keys of requests in storage. */
export class KeyStore {
  readonly #dependencies: KeyStoreDependencies

  constructor(dependencies: KeyStoreDependencies) {
    this.#dependencies = dependencies
  }

  /** Returns the record of a key, also one that has expired. */
  async find({ id, collection }: KeyedRequest): Promise<KeyRecord | undefined> {
    const { storage, tables } = this.#dependencies
    const found = await tableReader(storage, tables.for(collection)).one({ id })
    return found as KeyRecord | undefined
  }

  /**
   * Stores that a request is running, in the transaction of its event or in another one, instead of a record that has
   * expired. If a transaction of another process has done so, this waits for its end. Throws {@link KeyTaken} if the key is
   * stored, and REQUEST_IN_PROGRESS if the wait is too long.
   */
  async claim(
    on: StorageTransaction,
    keyed: KeyedRequest,
    expired: KeyRecord | undefined,
    limit = 0,
  ): Promise<void> {
    await this.#insert(on, keyed, expired, { state: 'running', ends: this.#after(limit) })
  }

  /** Stores the response of a request that is running. */
  async complete(on: StorageTransaction, keyed: KeyedRequest, reply: ServiceReply): Promise<void> {
    const { id, collection } = keyed
    const rows = table(on, this.#dependencies.tables.for(collection))
    await rows.change({ id, state: 'running' }, await answered(keyed, reply))
  }

  /** Stores a request with its response. Throws {@link KeyTaken} if its key is stored. */
  async add(
    keyed: KeyedRequest,
    expired: KeyRecord | undefined,
    reply: ServiceReply,
  ): Promise<void> {
    const response = await answered(keyed, reply)
    await this.write((on) => this.#insert(on, keyed, expired, response))
  }

  /** Ends a request without a response that is running: it may be executed again, or its effect is unknown. */
  async end({ id, collection }: KeyedRequest, as: 'removed' | 'unknown'): Promise<void> {
    const target = this.#dependencies.tables.for(collection)
    await this.write(async (on) => {
      const where = { id, state: 'running' }
      if (as === 'removed') await table(on, target).remove(where)
      else await table(on, target).change(where, { state: 'unknown' })
    })
  }

  /** Returns the number of keys of the caller of a request. */
  async count({ owner, collection }: KeyedRequest): Promise<number> {
    const { storage, tables } = this.#dependencies
    return tableReader(storage, tables.for(collection)).count({ owner })
  }

  /** Removes records that have expired. */
  async clean(): Promise<void> {
    for (const target of this.#dependencies.tables.all) {
      let left = 0
      for (;;) {
        const { removed, kept } = await this.#cleanPart(target, left)
        left += kept
        if (removed + kept < batch) break
      }
    }
  }

  /** Runs work in a short transaction. */
  write<Result>(work: (on: StorageTransaction) => Promise<Result>): Promise<Result> {
    return this.#dependencies.storage.transaction(writing, work)
  }

  async #cleanPart(
    target: PublishedCollection,
    offset: number,
  ): Promise<{ readonly removed: number; readonly kept: number }> {
    const { storage, now } = this.#dependencies
    const select = ['id', 'expires']
    const page = { sort: ['expires', 'id'], limit: batch, offset, select }
    const { rows, unfit } = await readFitting(storage, target, {}, page)
    const time = now()
    const old = (rows as unknown as readonly KeyRecord[]).filter((row) => isExpired(row, time))
    if (old.length > 0) {
      await this.write(async (on) => {
        for (const { id, expires } of old) await table(on, target).remove({ id, expires })
      })
    }
    return { removed: old.length, kept: unfit.length }
  }

  async #insert(
    on: StorageTransaction,
    { id, owner, request, view, collection, options }: KeyedRequest,
    expired: KeyRecord | undefined,
    changes: Row,
  ): Promise<void> {
    const rows = table(on, this.#dependencies.tables.for(collection))
    const times = { created: this.#after(0), expires: this.#after(options.keepFor) }
    const row = { id, owner, request, view, ...times, ends: times.created, ...changes }
    try {
      if (expired !== undefined) await rows.remove({ id, created: expired.created })
      await rows.insert(row)
    } catch (error) {
      if (!isStorageError(error)) throw error
      if (error.kind === 'duplicate') throw new KeyTaken()
      throw error.isLocked ? inProgress() : error
    }
  }

  #after(milliseconds: number): string {
    return new Date(this.#dependencies.now().getTime() + milliseconds).toISOString()
  }
}
