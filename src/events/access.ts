import type {
  CollectionAccess,
  PublishedEventName,
  SaveOptions,
  SaveResult,
} from '../definition/handler.ts'
import type { CollectionShape, Item } from '../definition/item.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { isServiceError } from '../errors.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { DataEvent } from '../request/event.ts'
import type { ItemValues } from '../request/query.ts'
import type { Outcome } from '../request/outcome.ts'
import { itemEvent, planDelete, planInsert, planUpdate } from '../request/plan.ts'
import { keyConditions } from '../request/resolve.ts'
import { itemOf } from '../request/serialize.ts'
import { requireRight, viewOf, type View } from '../request/view.ts'
import { changeItem, newItem } from './change.ts'
import { keyOf, pageOf, requireFields, requireSaveOptions } from './conditions.ts'
import type { Caller, Terms } from './runtime.ts'
import type { Scope } from './scope.ts'

/** How the events of a collection are run: each in a transaction of its own, or in one in progress. */
export interface EventRunner {
  readonly event: (event: DataEvent, caller: Caller) => MaybePromise<Outcome>
  /** Runs a New or Change, which writes nothing, as the event that it prepares. */
  readonly unstored: <Result>(
    event: 'New' | 'Insert' | 'Update',
    work: (scope: Scope) => MaybePromise<Result>,
  ) => MaybePromise<Result>
}

/** Returns a collection for application code, with the rights of the caller. */
export function collectionAccess(
  { caller }: Pick<Terms, 'caller'>,
  collection: PublishedCollection,
  runner: EventRunner,
): CollectionAccess<CollectionShape> {
  const run = async (event: DataEvent, options: SaveOptions = {}): Promise<Outcome> => {
    requireSaveOptions(event.type, options)
    const confirmed = confirmedBy(options.ignoreWarnings ?? caller.confirmed)
    return runner.event(event, { ...caller, confirmed })
  }
  const viewFor = (event: PublishedEventName): View => {
    requireRight(collection, event, caller.principal)
    return viewOf(collection, caller.principal)
  }
  return Object.freeze({
    filter: async (conditions = {}, options = {}) => {
      const outcome = await run(pageOf(viewFor('Filter'), conditions, options))
      if (outcome.type !== 'page' || !('rows' in outcome.page)) throw unexpected(outcome)
      const items = outcome.page.rows.map(
        (row) => itemOf(collection, row, outcome.select) as Item<CollectionShape>,
      )
      return { items, count: outcome.count, validations: outcome.validations }
    },
    get: (key) =>
      unlessMissing(async () => {
        const view = viewFor('Filter')
        const conditions = keyConditions(collection, keyOf(collection, key))
        const result = saveResult(await run(itemEvent(view, conditions)))
        if (result.rejected) throw new Error(result.message)
        return result.item
      }),
    new: async () => {
      const view = viewFor('Insert')
      return runner.unstored('New', (scope) => newItem(view, scope))
    },
    change: (async (values: Readonly<ItemValues>, key?: unknown) => {
      requireFields(collection, values)
      const parts = key === undefined ? undefined : keyOf(collection, key)
      const event = key === undefined ? 'Insert' : 'Update'
      const change = { view: viewFor(event), values, key: parts }
      return unlessMissing(() => runner.unstored(event, (scope) => changeItem(change, scope)))
    }) as CollectionAccess<CollectionShape>['change'],
    insert: async (values, options) => {
      requireFields(collection, values)
      return saveResult(await run(planInsert(viewFor('Insert'), values), options))
    },
    update: (key, values, options) =>
      unlessMissing(async () => {
        requireFields(collection, values)
        const event = planUpdate(viewFor('Update'), keyOf(collection, key), values)
        return saveResult(await run(event, options))
      }),
    delete: (key, options) =>
      unlessMissing(async () => {
        const event = planDelete(viewFor('Delete'), keyOf(collection, key))
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
  const item = itemOf(outcome.collection, outcome.item.row, outcome.select) as Item<CollectionShape>
  const { validations, failure } = outcome
  return { rejected: false, item, validations, ...(failure !== undefined && { failure }) }
}

function unexpected(outcome: Outcome): Error {
  return new Error(
    outcome.type === 'rejected' ? outcome.message : `unexpected outcome ${outcome.type}`,
  )
}

async function unlessMissing<Value>(work: () => MaybePromise<Value>): Promise<Value | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isServiceError(error) && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}
