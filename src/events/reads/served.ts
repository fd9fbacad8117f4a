import type { StoredValue } from '../../definition/field-type.ts'
import type { HandlerContext } from '../../definition/handler.ts'
import type { CollectionShape } from '../../definition/item.ts'
import type { PublishedCollection } from '../../definition/published.ts'
import type { Serve, servingFunctions } from '../../definition/serve.ts'
import { whenDone, type MaybePromise } from '../../maybe-promise.ts'
import { meetsAll } from '../../request/meets.ts'
import { matchesQuery } from '../../request/page-of-rows.ts'
import { equal, oneItem, type Condition, type Row, type StorageQuery } from '../../request/query.ts'
import { keyConditions, keyIn } from '../../request/resolve.ts'
import { checkReturned } from '../../request/returned-list.ts'
import { itemOf } from '../../request/serialize.ts'
import { shownConditions } from '../../request/show-conditions.ts'
import { viewOf } from '../../request/view.ts'
import type { StoragePage, StorageTransaction } from '../../storage/adapter.ts'
import type { NestedCalls } from '../nested-calls.ts'
import type { Caller } from '../runtime.ts'
import { fieldsOf, isItemQuery, returnedError, returnedPage, returnedRow } from './served-items.ts'
import { countingOf } from '../units/storage-calls.ts'

type FunctionName = (typeof servingFunctions)[number]

/** What the functions of a served collection are called with, in the scope of one event. */
export interface ServingScope {
  readonly collection: PublishedCollection
  readonly caller: Pick<Caller, 'principal'>
  readonly calls: NestedCalls
  context(): HandlerContext
  /** Calls a function as application code, within its time limit in milliseconds. */
  call<Result>(name: string, run: () => MaybePromise<Result>, limit?: number): MaybePromise<Result>
}

/**
 * Returns the source of the items of a served collection: each operation calls a function and checks what
 * it returns. A function whose result does not meet the conditions, which contain the row rule of the
 * caller, fails; the client never receives the result.
 */
export function servedSource(
  scope: ServingScope,
  serve: Serve<CollectionShape>,
): StorageTransaction {
  return new ServedSource(scope, serve)
}

class ServedSource implements StorageTransaction {
  readonly #scope: ServingScope
  readonly #serve: Serve<CollectionShape>
  readonly #collection: PublishedCollection
  /** The item that the event has read. An event writes only this one. */
  #read: Row | undefined

  constructor(scope: ServingScope, serve: Serve<CollectionShape>) {
    this.#scope = scope
    this.#serve = serve
    this.#collection = scope.collection
  }

  async filter(_: PublishedCollection, query: StorageQuery): Promise<StoragePage> {
    if (!isItemQuery(this.#collection, query)) return this.#page(query)
    this.#read = await this.#item(query)
    const rows = this.#read === undefined ? [] : [this.#read]
    return { rows, count: query.count ? rows.length : null }
  }

  async insert(_: PublishedCollection, row: Row): Promise<Row> {
    const collection = this.#collection
    return this.#call('insert', { item: itemOf(collection, row) }, (returned) => {
      const inserted = returnedRow(collection, 'insert', returned)
      const given = collection.key.flatMap(({ name }) => {
        const value = row[name] ?? null
        return value === null ? [] : [equal(name, value)]
      })
      const { rows } = viewOf(collection, this.#scope.caller.principal)
      this.#requireMeets('insert', inserted, [...given, ...rows])
      return inserted
    })
  }

  async update(
    _: PublishedCollection,
    conditions: readonly Condition[],
    changes: Row,
  ): Promise<Row | undefined> {
    const collection = this.#collection
    const before = await this.#current(conditions)
    if (before === undefined) return undefined
    const given = {
      key: keyValue(keyIn(collection, conditions) ?? []),
      item: itemOf(collection, { ...before, ...changes }),
      changes: itemOf(collection, changes, Object.keys(changes)),
      stored: itemOf(collection, before),
    }
    return this.#call('update', given, (returned) => {
      if (returned === undefined) return undefined
      const row = returnedRow(collection, 'update', returned)
      this.#requireMeets('update', row, conditions)
      return row
    })
  }

  async delete(_: PublishedCollection, conditions: readonly Condition[]): Promise<Row | undefined> {
    const collection = this.#collection
    const before = await this.#current(conditions)
    if (before === undefined) return undefined
    const key = keyValue(keyIn(collection, conditions) ?? [])
    const given = { key, stored: itemOf(collection, before) }
    return this.#call('delete', given, (returned) => {
      if (typeof returned === 'boolean') return returned ? before : undefined
      throw returnedError(collection, 'delete', 'neither true nor false')
    })
  }

  async #call<Result>(
    name: FunctionName,
    given: object,
    accept: (returned: unknown) => Result,
  ): Promise<Result> {
    const scope = this.#scope
    const code = this.#serve[name] as ((call: object) => unknown) | undefined
    if (code === undefined) {
      const { application, name: collection } = this.#collection
      throw new TypeError(`${application}/${collection} has no function ${name}.`)
    }
    const context = contextOf(scope.context(), name)
    const call = Object.assign(context, given, countingOf(scope.calls.storage))
    const checked = (): MaybePromise<Result> =>
      whenDone(code(call), (returned) => checkReturned(returned, accept))
    return scope.call(`serve.${name}`, checked, this.#serve.timeout)
  }

  async #page(query: StorageQuery): Promise<StoragePage> {
    const collection = this.#collection
    const shown = shownConditions(collection, query.conditions)
    if (shown === undefined) return { rows: [], count: query.count ? 0 : null }
    const { search, sort, offset, count } = query
    const limit = query.limit === Number.MAX_SAFE_INTEGER ? undefined : query.limit
    const fields = fieldsOf(collection, query)
    const { conditions, where } = shown
    const given = {
      conditions,
      where,
      search: search ?? undefined,
      sort,
      limit,
      offset,
      count,
      fields,
    }
    return this.#call('filter', given, (returned) => returnedPage(collection, query, returned))
  }

  async #item(query: StorageQuery): Promise<Row | undefined> {
    const collection = this.#collection
    if (this.#serve.get === undefined) return (await this.#page(query)).rows[0]
    const fields = fieldsOf(collection, query)
    const key = keyIn(collection, query.conditions) ?? []
    const found = await this.#call('get', { key: keyValue(key), fields }, (returned) => {
      if (returned === undefined) return undefined
      const row = returnedRow(collection, 'get', returned, fields)
      const conditions = keyConditions(collection, key)
      this.#requireMeets('get', row, conditions, 'an item with another key')
      return row
    })
    return found !== undefined && matchesQuery(collection, found, query) ? found : undefined
  }

  #requireMeets(
    name: FunctionName,
    row: Row,
    conditions: readonly Condition[],
    what = "an item that is not among the caller's rows, or that has another key",
  ): void {
    if (!meetsAll(this.#collection, row, conditions))
      throw returnedError(this.#collection, name, what)
  }

  async #current(conditions: readonly Condition[]): Promise<Row | undefined> {
    return this.#read ?? this.#item(oneItem(conditions, this.#collection.allNames))
  }
}

function contextOf(
  { principal, signal, now, collection, find, system, reject, information }: HandlerContext,
  name: FunctionName,
): object {
  return name === 'filter' || name === 'get'
    ? { principal, signal, now, collection, find, system }
    : { principal, signal, now, collection, find, system, reject, information }
}

/** Returns a key in the form that application code uses. */
function keyValue(key: StoredKey): StoredKey | StoredValue | undefined {
  return key.length > 1 ? key : key[0]
}

type StoredKey = readonly StoredValue[]
