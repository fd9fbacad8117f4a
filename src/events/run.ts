import type { EventName } from '../definition/handler.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { internal } from '../errors.ts'
import { whenDone, whenFailed, type MaybePromise } from '../maybe-promise.ts'
import type { DataEvent } from '../request/event.ts'
import type { Outcome } from '../request/outcome.ts'
import { clientKeyOf } from '../protocol/ip-address.ts'
import { entriesFor } from '../request/view.ts'
import type { StorageError } from '../storage/adapter.ts'
import { collectionAccess } from './access.ts'
import { withComputed } from './computed.ts'
import { filterAsRows, filterAsText, filterInScope } from './filter.ts'
import { Rollback } from './guard.ts'
import { filterByCursor, filterPaged, type ReadPage } from './paged.ts'
import { ManyRollback, prepareMany, saveMany } from './many.ts'
import type { ManyOutcome, ManySaves, ManySteps, PreparedMany } from './many.ts'
import { whenPrepared } from './prepare.ts'
import { requireTransaction } from './runtime.ts'
import type { Caller, NestedAccess, Running, Runtime, Terms } from './runtime.ts'
import { rejection, runSave } from './save.ts'
import { deleteSteps, insertSteps, updateSteps } from './save-steps.ts'
import { openScope, type Prepared, type Scope } from './scope.ts'
import { traced } from './traced.ts'
import { updateAsText } from './unread-update.ts'
import { isBrief, isOneWrite, rejectionFor, runUnit } from './unit.ts'
import { entriesOf } from './write-faults.ts'

/** The deepest nesting of events that handlers invoke. */
const maxDepth = 16

/**
 * Runs an event as a unit of its own. A Filter that is one read needs no transaction, and returns JSON text
 * if `page` allows and the adapter supports it.
 */
export function runEvent(
  runtime: Runtime,
  event: DataEvent,
  caller: Caller,
  page: 'text' | 'rows' = 'text',
): MaybePromise<Outcome> {
  return traced(
    { collection: event.collection, event: event.type, principal: caller.principal, nested: false },
    () => runAsUnit(event, { runtime, caller }, { page }),
    ({ type }) => type,
  )
}

function runAsUnit(
  event: DataEvent,
  { runtime, caller }: Pick<Terms, 'runtime' | 'caller'>,
  { page, depth }: { readonly page: 'text' | 'rows'; readonly depth?: number },
): MaybePromise<Outcome> {
  const { collection } = event
  if (event.type === 'Filter' && collection.filtersDirectly) {
    const context = { signal: caller.signal, caller: () => shareOf(caller) }
    if (event.paging !== undefined) {
      const reading = { caller: caller.principal, page, context }
      return whenDone(filterPaged(runtime.adapter, event, event.paging, reading), (outcome) =>
        withComputed(outcome, event, runtime.report),
      )
    }
    if (event.output === undefined) {
      return page === 'text'
        ? filterAsText(runtime.adapter, event, context)
        : filterAsRows(runtime.adapter, event, context)
    }
    return whenDone(filterAsRows(runtime.adapter, event, context), (outcome) =>
      withComputed(outcome, event, runtime.report),
    )
  }
  const mode = event.type === 'Filter' ? 'read' : 'write'
  const brief = isBrief(runtime, collection)
  const rejectedAtCommit = (error: StorageError): Outcome => commitRejection(event, error)
  const unit = {
    collection,
    mode,
    brief,
    oneWrite: isOneWrite(event),
    depth,
    rejectedAtCommit,
  } as const
  const outside = { transaction: undefined, depth: depth ?? 0, log: { writes: 0, committed: [] } }
  return whenPrepared(event, { runtime, caller, running: outside }, nestedAccess, (prepared) => {
    const work = (running: Running): MaybePromise<Outcome> => {
      const terms = { runtime, caller, running }
      const save = () => runInUnit(event, terms, prepared)
      if (page === 'rows' || prepared !== undefined) return save()
      return whenDone(updateAsText(event, terms), (outcome) => outcome ?? save())
    }
    return runUnit(runtime, unit, work, (undo) => rejectionFor(caller, undo))
  })
}

/** Returns the outcome of a save that storage rejects only at the commit. */
function commitRejection(event: DataEvent, error: StorageError): Outcome {
  if (event.type === 'Filter' || event.type === 'Delete') throw error
  return rejection(event, entriesFor(event.view, entriesOf(event.collection, error)))
}

/**
 * Runs an event that the code of another one has invoked: in its transaction, if it has one. A write of a
 * served collection is rejected there, because the transaction could not undo it.
 */
export function runNested(event: DataEvent, terms: Terms): MaybePromise<Outcome> {
  const { runtime, caller, running } = terms
  const { collection, type } = event
  return traced(
    { collection, event: type, principal: caller.principal, nested: true },
    () => {
      const { transaction, depth } = running
      if (transaction === undefined)
        return runAsUnit(event, { runtime, caller }, { page: 'rows', depth })
      if (type !== 'Filter' && collection.serve !== undefined) throw notInTransaction(event)
      return whenPrepared(event, terms, nestedAccess, (prepared) =>
        runInUnit(event, terms, prepared),
      )
    },
    (outcome) => outcome.type,
  )
}

function notInTransaction({ collection: { application, name }, type }: DataEvent): TypeError {
  return new TypeError(
    `${type} of ${application}/${name} can not take part in a transaction: the collection is served by functions, and what they write can't be rolled back. Call it outside of the transaction, for instance with service.as(...) in a committed handler.`,
  )
}

/**
 * Runs an event in a unit of work. If it fails or is rejected after it has written, the whole transaction
 * is rolled back, even if the calling handler catches the error.
 */
function runInUnit(
  event: DataEvent,
  terms: Terms,
  prepared: Prepared | undefined,
): MaybePromise<Outcome> {
  const { runtime, caller, running } = terms
  const { transaction, log, depth } = running
  if (depth >= maxDepth) throw new TypeError('Handlers invoke events without end.')
  const { writes } = log
  const inner = { runtime, caller, running: { transaction, log, depth: depth + 1 } }
  const kept = (outcome: Outcome): Outcome => {
    if (outcome.type !== 'rejected') return withComputed(outcome, event, runtime.report)
    if (log.writes === writes) return outcome
    if (transaction === undefined) throw rejectedTooLate(event, terms)
    // The client must not see what a handler tried to save.
    throw new Rollback(depth === 0 ? outcome : { ...outcome, echo: undefined }, event.collection)
  }
  return whenFailed(
    () => whenDone(dispatch(event, inner, prepared), kept),
    (error) => {
      if (log.writes !== writes) log.failure ??= { error }
      throw error
    },
  )
}

// A response that nothing was saved would be wrong.
function rejectedTooLate({ collection, type }: DataEvent, { runtime }: Terms): Error {
  const { application, name } = collection
  const error = new TypeError(
    `The handler after of ${type} rejected what a function of ${application}/${name} had written, which can't be rolled back. Reject in before or in a validation, or call fail(message).`,
  )
  const place = { application, collection: name, event: type }
  runtime.report({ type: 'handler-failed', place, name: 'after', error })
  return internal(error)
}

function dispatch(
  event: DataEvent,
  terms: Terms,
  prepared: Prepared | undefined,
): MaybePromise<Outcome> {
  const { collection, type } = event
  if (type === 'Filter' && collection.filtersDirectly) {
    const reader = requireTransaction(terms.running)
    const cursor = event.paging?.cursor
    if (cursor === undefined) return filterAsRows(reader, event)
    const read: ReadPage = (query) => reader.filter(collection, query)
    return filterByCursor(read, event, cursor, terms.caller.principal)
  }
  const scope = openScope(terms, { collection, event: type, prepared }, nestedAccess)
  switch (type) {
    case 'Filter':
      return filterInScope(event, scope)
    case 'Insert':
      return runSave(insertSteps, event, scope)
    case 'Update':
      return runSave(updateSteps, event, scope)
    case 'Delete':
      return runSave(deleteSteps, event, scope)
  }
}

/** Returns a collection whose events take part in the unit of work in progress. */
export const nestedAccess: NestedAccess = (terms, collection) =>
  collectionAccess(terms, collection, {
    event: (event, caller) => runNested(event, { ...terms, caller }),
    many: (saves, caller) => runManyNested(saves, { ...terms, caller }),
    unstored: (event, work) =>
      terms.running.transaction === undefined
        ? runUnstored(terms, { collection, event, depth: terms.running.depth }, work)
        : work(openScope(terms, { collection, event }, nestedAccess)),
  })

/** Runs several saves in a transaction of their own. */
export function runMany(
  saves: ManySaves,
  { runtime, caller }: Pick<Terms, 'runtime' | 'caller'>,
  depth = 0,
): MaybePromise<ManyOutcome> {
  const { collection, type } = saves
  const options = { collection, mode: 'write', brief: isBrief(runtime, collection), depth } as const
  const unit = (prepared?: PreparedMany): MaybePromise<ManyOutcome> =>
    runUnit(
      runtime,
      options,
      (running) => runManyInUnit(saves, { runtime, caller, running }, prepared),
      rejectedMany,
    )
  // `prepare` may wait for other services, so it runs before the transaction.
  if (collection.events[type]?.prepare === undefined) return unit()
  const outside = { transaction: undefined, depth, log: { writes: 0, committed: [] } }
  return whenDone(prepareMany(saves, manySteps({ runtime, caller, running: outside })), unit)
}

/** Runs several saves that the code of an event has invoked: in its transaction, if it has one. */
export function runManyNested(saves: ManySaves, terms: Terms): MaybePromise<ManyOutcome> {
  const { transaction, depth } = terms.running
  return transaction === undefined ? runMany(saves, terms, depth) : runManyInUnit(saves, terms)
}

/** Returns the outcome of several saves that were rolled back. Throws any other error again. */
export function rejectedMany(error: unknown): ManyOutcome {
  if (error instanceof ManyRollback) return { rejected: true, saves: error.saves }
  throw error
}

function runManyInUnit(
  saves: ManySaves,
  terms: Terms,
  prepared?: PreparedMany,
): MaybePromise<ManyOutcome> {
  const steps = manySteps(terms)
  return whenDone(prepared ?? prepareMany(saves, steps), (all) =>
    saveMany(saves, all, terms, steps.save),
  )
}

function manySteps(terms: Terms): ManySteps {
  const { runtime, caller, running } = terms
  const { transaction, depth } = running
  return {
    filter: (event) =>
      transaction === undefined
        ? runAsUnit(event, { runtime, caller }, { page: 'rows', depth })
        : runInUnit(event, terms, undefined),
    prepare: (event, next) => whenPrepared(event, terms, nestedAccess, next),
    save: ({ event, prepared }) => {
      const { collection, type } = event
      const { principal } = caller
      return traced(
        { collection, event: type, principal, nested: depth > 0 },
        () => runInUnit(event, terms, prepared),
        (outcome) => outcome.type,
      )
    },
  }
}

/** What {@link runUnstored} is about. */
export interface UnstoredEvent {
  readonly collection: PublishedCollection
  readonly event: EventName
  /** How many events are nested around it. Default 0. */
  readonly depth?: number
}

/** Runs a New or Change, which writes nothing, as a unit of its own. */
export function runUnstored<Result>(
  { runtime, caller }: Pick<Terms, 'runtime' | 'caller'>,
  { collection, event, depth }: UnstoredEvent,
  work: (scope: Scope) => MaybePromise<Result>,
): MaybePromise<Result> {
  return runUnit(
    runtime,
    { collection, depth, mode: 'read', brief: false },
    (running) => work(openScope({ runtime, caller, running }, { collection, event }, nestedAccess)),
    ({ rejected }) => {
      throw new Error(rejected.message)
    },
  )
}

/** Returns what the reads of a caller are counted by: its user, or its address if it has none. */
function shareOf({ principal, peer }: Caller): string {
  const { user, keyId } = principal
  return user ?? keyId ?? clientKeyOf(peer?.())
}
