import { describe } from '../checks/plain-object.ts'
import type {
  CollectionAccess,
  FilterOptions,
  PublishedEventName,
  SaveManyResult,
  SaveOptions,
} from '../definition/handler.ts'
import type { StoredValue } from '../definition/field-type.ts'
import type { Conditions } from '../definition/conditions.ts'
import type { CollectionShape } from '../definition/item.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { isServiceError } from '../errors.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { entriesIn } from '../protocol/envelope.ts'
import type { DataEvent } from '../request/event.ts'
import type { ItemValues } from '../request/query.ts'
import type { Outcome } from '../request/outcome.ts'
import { itemEvent, planDelete, planInsert, planUpdate } from '../request/plan.ts'
import { keyConditions } from '../request/resolve.ts'
import { itemOf } from '../request/serialize.ts'
import { requireRight } from '../request/roles.ts'
import { viewOf, type View } from '../request/view.ts'
import { changeItem, newItem } from './change.ts'
import { keyOf, pageOf, givenValues, requireSaveOptions } from './conditions.ts'
import type { ManyOutcome, ManySaves } from './many.ts'
import type { Caller } from './runtime.ts'
import type { SaveEvent } from './save.ts'
import { manyResult, requireTogether, saveResult, unexpected } from './save-results.ts'
import type { Scope } from './scope.ts'

/** How the events of a collection are run: each in a transaction of its own, or in one in progress. */
export interface EventRunner {
  readonly event: (event: DataEvent, caller: Caller) => MaybePromise<Outcome>
  /** Runs several saves in one transaction. */
  readonly many: (saves: ManySaves, caller: Caller) => MaybePromise<ManyOutcome>
  /** Runs a New or Change, which writes nothing, as the event that it prepares. */
  readonly unstored: <Result>(
    event: 'New' | 'Insert' | 'Update',
    work: (scope: Scope) => MaybePromise<Result>,
  ) => MaybePromise<Result>
}

/** Returns a collection for application code, with the rights of the caller. */
export function collectionAccess(
  caller: Caller,
  collection: PublishedCollection,
  runner: EventRunner,
): CollectionAccess<CollectionShape> {
  const { language } = caller
  const run = async (event: DataEvent, options: SaveOptions = {}): Promise<Outcome> => {
    requireSaveOptions(event.type, options)
    const confirmed = confirmedBy(options.ignoreWarnings ?? caller.confirmed)
    return runner.event(event, { ...caller, confirmed })
  }
  const viewFor = (event: PublishedEventName): View => {
    requireRight(collection, event, caller.principal)
    return viewOf(collection, caller.principal)
  }
  const runMany = async (
    saves: Omit<ManySaves, 'collection'>,
    options: SaveOptions,
  ): Promise<SaveManyResult<CollectionShape>> => {
    requireTogether(`${saves.type} of several items`, collection)
    const confirmed = confirmedBy(options.ignoreWarnings ?? caller.confirmed)
    const all = { collection, ...saves }
    return manyResult(all, await runner.many(all, { ...caller, confirmed }), language)
  }
  /** Plans saves of the items that meet conditions. */
  const matching = (
    call: string,
    conditions: Conditions<CollectionShape>,
    plan: (key: readonly StoredValue[]) => SaveEvent,
  ): Pick<ManySaves, 'filter' | 'plan'> => {
    if (collection.key.length === 0) {
      throw new TypeError(`${collection.name} has no key, so its items can't be changed.`)
    }
    const page = pageOf(viewFor('Filter'), conditions, {}, call)
    const names = collection.key.map(({ name }) => name)
    return {
      filter: { ...page, query: { ...page.query, select: names } },
      plan: (rows) => rows.map((row) => plan(names.map((name) => row[name] as StoredValue))),
    }
  }
  const page = async (call: string, conditions: unknown, options: FilterOptions) => {
    const outcome = await run(pageOf(viewFor('Filter'), conditions, options, call))
    if (outcome.type !== 'page' || !('rows' in outcome.page)) throw unexpected(outcome)
    return { ...outcome, page: outcome.page }
  }
  return Object.freeze({
    filter: async (conditions = {}, options = {}) => {
      const outcome = await page('filter', conditions, options)
      const items = outcome.page.rows.map((row) => itemOf(collection, row, outcome.select))
      const { count, notes } = outcome
      const validations = entriesIn(outcome.validations, language)
      return { items, count, validations, ...(notes?.next !== undefined && { next: notes.next }) }
    },
    count: async (conditions = {}) => {
      const { count } = await page('count', conditions, { limit: 0, count: true })
      return count ?? 0
    },
    exists: async (conditions = {}) => {
      const found = await page('exists', conditions, { limit: 1 })
      return found.page.rows.length > 0
    },
    get: (key) =>
      unlessMissing(async () => {
        const view = viewFor('Filter')
        const conditions = keyConditions(collection, keyOf(collection, key))
        const result = saveResult(await run(itemEvent(view, conditions)), language)
        if (result.rejected) throw new Error(result.message)
        return result.item
      }),
    new: async () => {
      const view = viewFor('Insert')
      return runner.unstored('New', (scope) => newItem(view, scope))
    },
    change: (async (values: Readonly<ItemValues>, key?: unknown) => {
      const given = givenValues(collection, values, 'change')
      const parts = key === undefined ? undefined : keyOf(collection, key)
      const event = key === undefined ? 'Insert' : 'Update'
      const change = { view: viewFor(event), values: given, key: parts }
      return unlessMissing(() => runner.unstored(event, (scope) => changeItem(change, scope)))
    }) as CollectionAccess<CollectionShape>['change'],
    insert: async (values, options) => {
      const given = givenValues(collection, values, 'insert')
      return saveResult(await run(planInsert(viewFor('Insert'), given), options), language)
    },
    update: (key, values, options) =>
      unlessMissing(async () => {
        const given = givenValues(collection, values, 'update')
        const event = planUpdate(viewFor('Update'), keyOf(collection, key), given)
        return saveResult(await run(event, options), language)
      }),
    delete: (key, options) =>
      unlessMissing(async () => {
        const event = planDelete(viewFor('Delete'), keyOf(collection, key))
        return saveResult(await run(event, options), language)
      }),
    insertMany: async (values, options = {}) => {
      requireSaveOptions('insertMany', options)
      if (!Array.isArray(values)) {
        throw new TypeError(`insertMany: the values must be a list, not ${describe(values)}`)
      }
      const view = viewFor('Insert')
      const events = Array.from(values as readonly unknown[], (each) =>
        planInsert(view, givenValues(collection, each, 'insertMany')),
      )
      return runMany({ type: 'Insert', filter: undefined, plan: () => events }, options)
    },
    updateMany: async (conditions, values, options = {}) => {
      requireSaveOptions('updateMany', options)
      const given = givenValues(collection, values, 'updateMany')
      const view = viewFor('Update')
      const saves = matching('updateMany', conditions, (key) => planUpdate(view, key, given))
      return runMany({ type: 'Update', ...saves }, options)
    },
    deleteMany: async (conditions, options = {}) => {
      requireSaveOptions('deleteMany', options)
      const view = viewFor('Delete')
      const saves = matching('deleteMany', conditions, (key) => planDelete(view, key))
      return runMany({ type: 'Delete', ...saves }, options)
    },
  } satisfies CollectionAccess<CollectionShape>)
}

function confirmedBy(ids: NonNullable<SaveOptions['ignoreWarnings']>): Caller['confirmed'] {
  return ids === 'all' ? 'all' : new Set(ids)
}

async function unlessMissing<Value>(work: () => MaybePromise<Value>): Promise<Value | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isServiceError(error) && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}
