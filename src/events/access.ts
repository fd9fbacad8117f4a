import { requireKnown } from '../checks/options.ts'
import { describe, requirePlainObject } from '../checks/plain-object.ts'
import type {
  CollectionAccess,
  ExpandOption,
  FilterOptions,
  GetOptions,
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
import type { DataEvent, FilterEvent, UpdateEvent } from '../request/event.ts'
import type { ItemValues, Row } from '../request/query.ts'
import type { Outcome, PageOutcome } from '../request/outcome.ts'
import { itemEvent, planDelete, planInsert, planUpdate } from '../request/plan.ts'
import { keyConditions } from '../request/resolve.ts'
import { itemOf } from '../request/serialize.ts'
import { requireRight } from '../request/roles.ts'
import { viewOf, type View } from '../request/view.ts'
import { changeItem, newItem } from './saves/change.ts'
import {
  expandedOf,
  givenValues,
  keyOf,
  lockOf,
  pageOf,
  requireSaveOptions,
} from './reads/conditions.ts'
import { separateIncrements } from './saves/increments.ts'
import { canOverlap, inSequence, savingInSequence, timedDeletes } from './saves/in-sequence.ts'
import type { SavedOfMany, SaveOfMany } from './saves/in-sequence.ts'
import type { ManyOutcome, ManySaves } from './saves/many.ts'
import type { Caller } from './runtime.ts'
import type { SaveEvent } from './saves/stage.ts'
import { manyResult, requireTogether, saveResult, unexpected } from './saves/results.ts'
import type { Scope } from './scope.ts'

/** How the events of a collection are run: each in a transaction of its own, or in one in progress. */
export interface EventRunner {
  /** `whileWriting` is called while the event waits for its own write. */
  readonly event: (
    event: DataEvent,
    caller: Caller,
    whileWriting?: () => void,
  ) => MaybePromise<Outcome>
  /** Whether all events share a transaction. */
  readonly isShared: boolean
  /** Runs several saves in one transaction. */
  readonly many: (saves: ManySaves, caller: Caller) => MaybePromise<ManyOutcome>
  /** Runs a New or Change, which writes nothing, as the event that it prepares. */
  readonly unstored: <Result>(
    event: 'New' | 'Insert' | 'Update',
    work: (scope: Scope) => MaybePromise<Result>,
  ) => MaybePromise<Result>
}

type Access = CollectionAccess<CollectionShape>

/** Returns a collection for application code, with the rights of the caller. */
export function collectionAccess(
  caller: Caller,
  collection: PublishedCollection,
  runner: EventRunner,
): Access {
  return Object.freeze(new CalledCollection(caller, collection, runner))
}

// Its methods are functions of the object itself, so that each can be wrapped and passed on.
class CalledCollection implements Access {
  readonly #caller: Caller
  readonly #collection: PublishedCollection
  readonly #runner: EventRunner

  constructor(caller: Caller, collection: PublishedCollection, runner: EventRunner) {
    this.#caller = caller
    this.#collection = collection
    this.#runner = runner
    Object.assign(this, timedDeletes(collection))
    const { events, filtersDirectly } = collection
    // A handler may change what a later save finds.
    const isPlain = (['Insert', 'Update'] as const).every(
      (type) => events[type]?.before === undefined && canOverlap(collection, type),
    )
    if (runner.isShared && filtersDirectly && isPlain) {
      Object.assign(
        this,
        savingInSequence((saves) => this.#inSequence(saves)),
      )
    }
  }

  readonly filter = (async (
    conditions: unknown = {},
    options: FilterOptions & ExpandOption = {},
  ) => {
    const outcome = await this.#page('filter', conditions, options)
    const items = outcome.page.rows.map((row, index) =>
      Object.assign(itemOf(this.#collection, row, outcome.select), outcome.related?.[index]),
    )
    const { count, notes } = outcome
    const validations = entriesIn(outcome.validations, this.#caller.language)
    return { items, count, validations, ...(notes?.next !== undefined && { next: notes.next }) }
  }) as Access['filter']

  readonly count: Access['count'] = async (conditions = {}) => {
    const { count } = await this.#page('count', conditions, { limit: 0, count: true })
    return count ?? 0
  }

  readonly exists: Access['exists'] = async (conditions = {}) => {
    const found = await this.#page('exists', conditions, { limit: 1 })
    return found.page.rows.length > 0
  }

  readonly get = ((key: unknown, options: GetOptions & ExpandOption = {}) =>
    unlessMissing(async () => {
      requireKnown('get', options, ['lock', 'expand'])
      const view = this.#viewFor('Filter')
      const conditions = keyConditions(this.#collection, keyOf(this.#collection, key))
      const event = itemEvent(view, conditions)
      const locked = lockOf(options) ? { ...event, query: { ...event.query, lock: true } } : event
      const result = this.#result(await this.#event(this.#expanding(locked, options.expand, 1)))
      if (result.rejected) throw new Error(result.message)
      return result.item
    })) as Access['get']

  readonly new: Access['new'] = async () => {
    const view = this.#viewFor('Insert')
    return this.#runner.unstored('New', (scope) => newItem(view, scope))
  }

  readonly change = (async (values: Readonly<ItemValues>, key?: unknown) => {
    const given = givenValues(this.#collection, values, 'change')
    const parts = key === undefined ? undefined : keyOf(this.#collection, key)
    const event = key === undefined ? 'Insert' : 'Update'
    const change = { view: this.#viewFor(event), values: given, key: parts }
    return unlessMissing(() => this.#runner.unstored(event, (scope) => changeItem(change, scope)))
  }) as Access['change']

  readonly insert: Access['insert'] = async (values, options) => {
    const given = givenValues(this.#collection, values, 'insert')
    return this.#result(await this.#event(planInsert(this.#viewFor('Insert'), given), options))
  }

  readonly update: Access['update'] = (key, values, options) =>
    unlessMissing(async () => {
      const plan = this.#updates('update', values)
      return this.#result(await this.#event(plan(keyOf(this.#collection, key)), options))
    })

  readonly delete: Access['delete'] = (key, options) =>
    unlessMissing(async () => {
      const event = planDelete(this.#viewFor('Delete'), keyOf(this.#collection, key))
      return this.#result(await this.#event(event, options))
    })

  readonly insertMany: Access['insertMany'] = async (values, options = {}) => {
    requireSaveOptions('insertMany', options)
    if (!Array.isArray(values)) {
      throw new TypeError(`insertMany: the values must be a list, not ${describe(values)}`)
    }
    const view = this.#viewFor('Insert')
    const events = Array.from(values as readonly unknown[], (each) =>
      planInsert(view, givenValues(this.#collection, each, 'insertMany')),
    )
    return this.#many({ type: 'Insert', filter: undefined, plan: () => events }, options)
  }

  readonly updateMany: Access['updateMany'] = async (conditions, values, options = {}) => {
    requireSaveOptions('updateMany', options)
    const plan = this.#updates('updateMany', values)
    const saves = this.#matching('updateMany', conditions, plan)
    return this.#many({ type: 'Update', ...saves }, options)
  }

  readonly deleteMany: Access['deleteMany'] = async (conditions, options = {}) => {
    requireSaveOptions('deleteMany', options)
    const view = this.#viewFor('Delete')
    const saves = this.#matching('deleteMany', conditions, (key) => planDelete(view, key))
    return this.#many({ type: 'Delete', ...saves }, options)
  }

  async #inSequence(
    saves: readonly SaveOfMany[],
  ): Promise<readonly PromiseSettledResult<SavedOfMany>[]> {
    const save = ({ key, values }: SaveOfMany) => {
      const plan = () =>
        key === undefined
          ? planInsert(this.#viewFor('Insert'), givenValues(this.#collection, values, 'insert'))
          : this.#updates('update', values)(keyOf(this.#collection, key))
      return (whileWriting: () => void) =>
        unlessMissing(async () => this.#result(await this.#event(plan(), {}, whileWriting)))
    }
    return inSequence(saves.map(save), (saved) => saved?.rejected !== false)
  }

  /** Returns a function that plans the updates of items by the same values and increments. */
  #updates(call: string, changes: unknown): (key: readonly StoredValue[]) => UpdateEvent {
    requirePlainObject('The values', changes, call)
    const all = { ...(changes as Readonly<Record<string, unknown>>) }
    const { values, increments } = separateIncrements(this.#collection, all, call)
    const given = givenValues(this.#collection, values, call)
    const view = this.#viewFor('Update')
    return (key) => {
      const event = planUpdate(view, key, given)
      return increments === undefined ? event : { ...event, increments }
    }
  }

  #viewFor(event: PublishedEventName): View {
    const { principal } = this.#caller
    requireRight(this.#collection, event, principal)
    return viewOf(this.#collection, principal)
  }

  async #event(
    event: DataEvent,
    options: SaveOptions = {},
    whileWriting?: () => void,
  ): Promise<Outcome> {
    requireSaveOptions(event.type, options)
    return this.#runner.event(event, this.#confirming(options), whileWriting)
  }

  #result(outcome: Outcome): ReturnType<typeof saveResult> {
    return saveResult(outcome, this.#caller.language)
  }

  async #many(
    saves: Omit<ManySaves, 'collection'>,
    options: SaveOptions,
  ): Promise<SaveManyResult<CollectionShape>> {
    requireTogether(`${saves.type} of several items`, this.#collection)
    const all = { collection: this.#collection, ...saves }
    const outcome = await this.#runner.many(all, this.#confirming(options))
    return manyResult(all, outcome, this.#caller.language)
  }

  /** Returns a Filter that also reads related items. */
  #expanding(event: FilterEvent, names: readonly string[] | undefined, rows: number): FilterEvent {
    if (names === undefined) return event
    const reading = { view: event.view, caller: this.#caller.principal }
    return { ...event, expanded: expandedOf(reading, names, rows) }
  }

  /** Returns the caller with the warnings that options confirm. */
  #confirming({ ignoreWarnings }: SaveOptions): Caller {
    const ids = ignoreWarnings ?? this.#caller.confirmed
    return { ...this.#caller, confirmed: ids === 'all' ? 'all' : new Set(ids) }
  }

  /** Plans saves of the items that meet conditions. */
  #matching(
    call: string,
    conditions: Conditions<CollectionShape>,
    plan: (key: readonly StoredValue[]) => SaveEvent,
  ): Pick<ManySaves, 'filter' | 'plan'> {
    const { name, key } = this.#collection
    if (key.length === 0) throw new TypeError(`${name} has no key, so its items can't be changed.`)
    const page = pageOf(this.#viewFor('Filter'), conditions, {}, call)
    const names = key.map((field) => field.name)
    return {
      filter: { ...page, query: { ...page.query, select: names } },
      plan: (rows) => rows.map((row) => plan(names.map((one) => row[one] as StoredValue))),
    }
  }

  async #page(
    call: string,
    conditions: unknown,
    options: FilterOptions & ExpandOption,
  ): Promise<PageOutcome & { readonly page: { readonly rows: readonly Row[] } }> {
    const page = pageOf(this.#viewFor('Filter'), conditions, options, call)
    const outcome = await this.#event(this.#expanding(page, options.expand, page.query.limit))
    if (outcome.type !== 'page' || !('rows' in outcome.page)) throw unexpected(outcome)
    return { ...outcome, page: outcome.page }
  }
}

async function unlessMissing<Value>(work: () => MaybePromise<Value>): Promise<Value | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isServiceError(error) && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}
