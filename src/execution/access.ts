import type { CollectionAccess, SaveOptions, SaveResult } from '../definition/handler.ts'
import type { CollectionShape, Item } from '../definition/item.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { isServiceError } from '../errors.ts'
import type { DataEvent, ItemValues } from '../event/event.ts'
import type { Outcome } from '../event/outcome.ts'
import { itemEvent, planDelete, planInsert, planUpdate } from '../event/plan.ts'
import { keyConditions } from '../event/resolve.ts'
import { itemOf } from '../event/serialize.ts'
import { changeItem, newItem } from './change.ts'
import { keyOf, pageOf } from './conditions.ts'
import { inTransaction, runEvent, runNested } from './run.ts'
import type { Caller, Running, Runtime, Terms } from './runtime.ts'

/** How the events of a collection are run: each in a transaction of its own, or in one in progress. */
interface Way {
  readonly event: (event: DataEvent, caller: Caller) => Promise<Outcome>
  /** New and Change: work that is not stored. */
  readonly unstored: <Result>(work: (running: Running) => Promise<Result>) => Promise<Result>
}

/** A collection of a service for host code: each event in a transaction of its own. */
export function ownAccess(
  runtime: Runtime,
  caller: Caller,
  collection: PublishedCollection,
): CollectionAccess<CollectionShape> {
  return access({ runtime, caller }, collection, {
    event: (event, terms) => runtime.enter(() => runEvent(runtime, event, terms, 'rows')),
    unstored: (work) =>
      runtime.enter(() =>
        inTransaction(runtime, { mode: 'read', brief: false }, work, ({ message }) => {
          throw new Error(message)
        }),
      ),
  })
}

/** A collection for a handler: its events take part in the handler's transaction. */
export function nestedAccess(
  terms: Terms,
  collection: PublishedCollection,
): CollectionAccess<CollectionShape> {
  return access(terms, collection, {
    event: (event, caller) => runNested(event, { ...terms, caller }),
    unstored: (work) => work(terms.running),
  })
}

function access(
  { runtime, caller }: Omit<Terms, 'running'>,
  collection: PublishedCollection,
  way: Way,
): CollectionAccess<CollectionShape> {
  const run = (event: DataEvent, { ignoreWarnings }: SaveOptions = {}): Promise<Outcome> =>
    way.event(event, { ...caller, confirmed: confirmedBy(ignoreWarnings ?? caller.confirmed) })
  return Object.freeze({
    filter: async (conditions = {}, options = {}) => {
      const outcome = await run(pageOf(collection, conditions, options))
      if (outcome.type !== 'page' || !('rows' in outcome.page)) throw unexpected(outcome)
      const items = outcome.page.rows.map((row) => itemOf(collection, row) as Item<CollectionShape>)
      return { items, count: outcome.count, validations: outcome.validations }
    },
    get: (key) =>
      unlessMissing(async () => {
        const conditions = keyConditions(collection, keyOf(collection, key))
        const result = saveResult(await run(itemEvent(collection, conditions)))
        if (result.rejected) throw new Error(result.message)
        return result.item
      }),
    new: () => way.unstored((running) => newItem(collection, { runtime, caller, running })),
    change: async (values, key) => {
      const parts = key === undefined ? undefined : keyOf(collection, key)
      const change = { collection, values: values as ItemValues, key: parts }
      return way.unstored((running) => changeItem(change, { runtime, caller, running }))
    },
    insert: async (values, options) =>
      saveResult(await run(planInsert(collection, values), options)),
    update: (key, values, options) =>
      unlessMissing(async () => {
        const event = planUpdate(collection, keyOf(collection, key), values)
        return saveResult(await run(event, options))
      }),
    delete: (key, options) =>
      unlessMissing(async () => {
        const event = planDelete(collection, keyOf(collection, key))
        return saveResult(await run(event, options))
      }),
  } satisfies CollectionAccess<CollectionShape>)
}

function confirmedBy(ids: NonNullable<SaveOptions['ignoreWarnings']>): Caller['confirmed'] {
  return ids === 'all' ? 'all' : new Set(ids)
}

function saveResult(outcome: Outcome): SaveResult<Item<CollectionShape>> {
  if (outcome.type === 'rejected') {
    const { message, validations } = outcome
    return { rejected: true, message, validations }
  }
  if (outcome.type !== 'item' || !('row' in outcome.item)) throw unexpected(outcome)
  const item = itemOf(outcome.collection, outcome.item.row) as Item<CollectionShape>
  return { rejected: false, item, validations: outcome.validations }
}

function unexpected(outcome: Outcome): Error {
  return new Error(
    outcome.type === 'rejected' ? outcome.message : `unexpected outcome ${outcome.type}`,
  )
}

async function unlessMissing<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isServiceError(error) && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}
