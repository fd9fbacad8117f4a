import type { StoredValue } from '../definition/field-type.ts'
import type { HandlerContext } from '../definition/handler.ts'
import type { CollectionShape } from '../definition/item.ts'
import type { PublishedCollection } from '../definition/published.ts'
import type { Serve, servingFunctions } from '../definition/serve.ts'
import { whenDone, type MaybePromise } from '../maybe-promise.ts'
import { meetsAll } from '../request/meets.ts'
import { matchesQuery } from '../request/page-of-rows.ts'
import { equal, oneItem, type Condition, type Row, type StorageQuery } from '../request/query.ts'
import { keyConditions } from '../request/resolve.ts'
import { checkReturned } from '../request/returned-list.ts'
import { itemOf } from '../request/serialize.ts'
import { shownConditions } from '../request/show-conditions.ts'
import { viewOf } from '../request/view.ts'
import type { StoragePage, StorageTransaction } from '../storage/adapter.ts'
import type { NestedCalls } from './nested-calls.ts'
import type { Caller } from './runtime.ts'
import { fieldsOf, isItemQuery, returnedError, returnedPage, returnedRow } from './served-items.ts'
import { countingOf } from './storage-calls.ts'

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
  const { collection, caller } = scope
  // The item that the event has read. An event writes only this one.
  let read: Row | undefined

  async function run<Result>(
    name: FunctionName,
    given: object,
    accept: (returned: unknown) => Result,
  ): Promise<Result> {
    const code = serve[name] as ((call: object) => unknown) | undefined
    if (code === undefined) {
      throw new TypeError(`${collection.application}/${collection.name} has no function ${name}.`)
    }
    const context = contextOf(scope.context(), name)
    const call = Object.assign(context, given, countingOf(scope.calls.storage))
    const checked = (): MaybePromise<Result> =>
      whenDone(code(call), (returned) => checkReturned(returned, accept))
    return scope.call(`serve.${name}`, checked, serve.timeout)
  }

  async function page(query: StorageQuery): Promise<StoragePage> {
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
    return run('filter', given, (returned) => returnedPage(collection, query, returned))
  }

  async function item(query: StorageQuery): Promise<Row | undefined> {
    if (serve.get === undefined) return (await page(query)).rows[0]
    const fields = fieldsOf(collection, query)
    const key = keyIn(collection, query.conditions)
    const found = await run('get', { key: keyValue(key), fields }, (returned) => {
      if (returned === undefined) return undefined
      const row = returnedRow(collection, 'get', returned, fields)
      requireMeets('get', row, keyConditions(collection, key), 'an item with another key')
      return row
    })
    return found !== undefined && matchesQuery(collection, found, query) ? found : undefined
  }

  function requireMeets(
    name: FunctionName,
    row: Row,
    conditions: readonly Condition[],
    what = "an item that is not among the caller's rows, or that has another key",
  ): void {
    if (!meetsAll(collection, row, conditions)) throw returnedError(collection, name, what)
  }

  async function current(conditions: readonly Condition[]): Promise<Row | undefined> {
    if (read !== undefined) return read
    return item(oneItem(conditions, collection.allNames))
  }

  return {
    filter: async (_, query) => {
      if (!isItemQuery(collection, query)) return page(query)
      read = await item(query)
      const rows = read === undefined ? [] : [read]
      return { rows, count: query.count ? rows.length : null }
    },
    insert: async (_, row) =>
      run('insert', { item: itemOf(collection, row) }, (returned) => {
        const inserted = returnedRow(collection, 'insert', returned)
        const given = collection.key.flatMap(({ name }) => {
          const value = row[name] ?? null
          return value === null ? [] : [equal(name, value)]
        })
        requireMeets('insert', inserted, [...given, ...viewOf(collection, caller.principal).rows])
        return inserted
      }),
    update: async (_, conditions, changes) => {
      const before = await current(conditions)
      if (before === undefined) return undefined
      const given = {
        key: keyValue(keyIn(collection, conditions)),
        item: itemOf(collection, { ...before, ...changes }),
        changes: itemOf(collection, changes, Object.keys(changes)),
        stored: itemOf(collection, before),
      }
      return run('update', given, (returned) => {
        if (returned === undefined) return undefined
        const row = returnedRow(collection, 'update', returned)
        requireMeets('update', row, conditions)
        return row
      })
    },
    delete: async (_, conditions) => {
      const before = await current(conditions)
      if (before === undefined) return undefined
      const key = keyValue(keyIn(collection, conditions))
      const given = { key, stored: itemOf(collection, before) }
      return run('delete', given, (returned) => {
        if (typeof returned === 'boolean') return returned ? before : undefined
        throw returnedError(collection, 'delete', 'neither true nor false')
      })
    },
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

/** Returns the key among the conditions of an item. The key of its path comes first. */
function keyIn({ key }: PublishedCollection, conditions: readonly Condition[]): StoredKey {
  return key.map(({ name }) => {
    const own = conditions.find((one) => one.is === 'equal' && one.field === name)
    return own?.is === 'equal' ? own.value : null
  })
}

/** Returns a key as application code names it. */
function keyValue(key: StoredKey): StoredKey | StoredValue | undefined {
  return key.length > 1 ? key : key[0]
}

type StoredKey = readonly StoredValue[]
