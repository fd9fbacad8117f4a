import { whenDone, type MaybePromise } from '../maybe-promise.ts'
import type { DataEvent, FilterEvent } from '../request/event.ts'
import type { Outcome } from '../request/outcome.ts'
import { collectionAccess } from './access.ts'
import { withComputed } from './reads/computed.ts'
import { whenAllEnd, withRelated } from './reads/expand.ts'
import { filterDirectly, filterInScope, filterTogether } from './reads/filter.ts'
import { filterWithRelated } from './reads/related-page.ts'
import { rejectedTooLate, type Rollback } from './guard.ts'
import { ManyRollback, prepareMany, saveMany } from './saves/many.ts'
import type { ManyOutcome, ManySaves, ManySteps, PreparedMany } from './saves/many.ts'
import { whenPrepared } from './prepare.ts'
import type { Caller } from './runtime.ts'
import { saveItem } from './saves/save.ts'
import { deleteSteps, insertSteps, updateSteps } from './saves/steps.ts'
import { Scope, type NestedAccess, type Prepared, type ScopeSubject } from './scope.ts'
import { traced } from './traced.ts'
import { isBrief, isOneWrite, writtenItem } from './units/transaction-kind.ts'
import type { Unit, UnitOptions } from './units/unit.ts'
import { rejectedAtCommit } from './saves/write-faults.ts'

/**
 * Runs an event: in the transaction of a unit of work, or as a unit of its own if there is none. A Filter that is one read
 * needs no transaction, and returns JSON text if `form` allows and the adapter supports it.
 */
export function runEvent(
  unit: Unit,
  event: DataEvent,
  caller: Caller,
  form: 'text' | 'rows' = 'text',
): MaybePromise<Outcome> {
  const { collection, type } = event
  const nested = !unit.isOutermost
  return traced(
    { collection, event: type, principal: caller.principal, nested },
    () => eventIn(unit, event, caller, form),
    (outcome) => outcome.type,
  )
}

/** Calls `prepare`, and performs the event in the transaction of the unit, or in one of its own. */
function eventIn(
  unit: Unit,
  event: DataEvent,
  caller: Caller,
  form: 'text' | 'rows',
): MaybePromise<Outcome> {
  const { collection, type } = event
  const isShared = unit.transaction !== undefined
  if (type === 'Filter' && event.query.lock === true) requireLockable(event, unit)
  if (!isShared && type === 'Filter' && collection.filtersDirectly) {
    const read = (): MaybePromise<Outcome> => filterDirectly(event, unit, caller, form)
    return whenDone(
      filterWithRelated(event, unit, caller, form),
      (outcome) =>
        outcome ?? whenDone(read(), (found) => complete(found, event, unit, { caller, form })),
    )
  }
  const isServed = collection.serve !== undefined
  if (isShared && isServed && type !== 'Filter') throw notInTransaction(event)
  return whenPrepared(event, codeOf(event, unit, caller), (prepared) => {
    if (isShared) return eventOfCode(event, unit, caller, prepared)
    const oneWrite = isOneWrite(event, unit.runtime)
    const options: UnitOptions<Outcome> = {
      mode: type === 'Filter' ? 'read' : 'write',
      brief: isBrief(collection, unit.runtime),
      oneWrite,
      repeatsCode: collection.repeatable.has(type),
      item: oneWrite ? undefined : writtenItem(event),
      isServed,
      undone: (rollback) => rollback.outcomeFor(caller.principal),
      rejectedAtCommit: (error) => rejectedAtCommit(event, error),
    }
    return unit.run(options, (own) => eventWithin(event, own.nested(), caller, { form, prepared }))
  })
}

/** Throws a TypeError if items can't be locked here. */
function requireLockable(
  { collection: { application, name, serve } }: DataEvent,
  unit: Unit,
): void {
  if (serve !== undefined)
    throw new TypeError(`lock: the items of ${application}/${name} are served by functions`)
  if (!unit.isWriting)
    throw new TypeError(
      'lock: items are locked in the handlers of Insert, Update and Delete, in user-defined events and in transaction(...)',
    )
}

/** Returns a function that opens the scope of the code that runs before the transaction of an event. */
function codeOf({ collection, type }: DataEvent, unit: Unit, caller: Caller): () => Scope {
  return () => new Scope(unit.preparing(), caller, { collection, event: type }, nestedAccess)
}

/**
 * Performs an event that application code has invoked in its transaction. If the event fails after it has written, the
 * transaction is rolled back, even if the code catches the error.
 */
async function eventOfCode(
  event: DataEvent,
  unit: Unit,
  caller: Caller,
  prepared: Prepared | undefined,
): Promise<Outcome> {
  const own = unit.nested()
  try {
    return await eventWithin(event, own, caller, { prepared })
  } catch (error) {
    if (own.writes > 0) unit.fail(error)
    throw error
  }
}

/** Performs an event. Throws if it is rejected after it has written, so that its unit of work is rolled back. */
function eventWithin(
  event: DataEvent,
  unit: Unit,
  caller: Caller,
  given: Pick<ScopeSubject, 'form' | 'prepared'>,
): MaybePromise<Outcome> {
  return whenDone(perform(event, unit, caller, given), (outcome) => {
    if (outcome.type !== 'rejected')
      return complete(outcome, event, unit, { caller, form: given.form ?? 'rows' })
    if (unit.writes === 0) return outcome
    throw rejectedTooLate(event, unit, outcome)
  })
}

/** Returns an outcome with what its response has beyond the stored fields: computed fields and related items. */
function complete(
  outcome: Outcome,
  event: DataEvent,
  unit: Unit,
  { caller, form }: { readonly caller: Caller; readonly form: 'text' | 'rows' },
): MaybePromise<Outcome> {
  const computed = withComputed(outcome, event, unit.runtime.report)
  if (event.type !== 'Filter' || event.expanded === undefined) return computed
  const others = event.expanded.map(({ expansion }) => expansion.to)
  const within = (own: Unit): MaybePromise<Outcome> =>
    withRelated(computed, event, {
      run: (events, part) => filterEach(own, events, caller, part),
      // One span for each relation, whose lists may be many.
      traced: ({ expansion }, read) =>
        traced(
          {
            collection: expansion.to,
            event: 'Filter',
            principal: caller.principal,
            nested: true,
          },
          read,
          ({ rejection }) => (rejection === undefined ? 'page' : 'rejected'),
        ),
      form,
    })
  if (unit.transaction !== undefined || others.every((one) => one.filtersDirectly))
    return within(unit)
  // Otherwise each list would need a transaction of its own: a page could take all connections.
  const options: UnitOptions<Outcome> = {
    mode: 'read',
    brief: others.every((one) => isBrief(one, unit.runtime)),
    undone: (rollback) => rollback.outcomeFor(caller.principal),
  }
  return unit.run(options, within)
}

/** Runs Filters that differ only in the values of their conditions. */
async function filterEach(
  unit: Unit,
  events: readonly FilterEvent[],
  caller: Caller,
  form: 'text' | 'rows',
): Promise<readonly Outcome[]> {
  const together = form === 'text' ? await filterTogether(events, unit, caller) : undefined
  return together ?? whenAllEnd(events.map(async (event) => eventIn(unit, event, caller, form)))
}

/** Reads or saves the items of an event. */
function perform(
  event: DataEvent,
  unit: Unit,
  caller: Caller,
  given: Pick<ScopeSubject, 'form' | 'prepared'>,
): MaybePromise<Outcome> {
  const { collection, type } = event
  if (type === 'Filter' && collection.filtersDirectly)
    return filterDirectly(event, unit, caller, 'rows')
  const { form, prepared } = given
  const subject = { collection, event: type, prepared, form }
  const scope = new Scope(unit, caller, subject, nestedAccess)
  switch (type) {
    case 'Filter':
      return filterInScope(event, scope)
    case 'Insert':
      return saveItem(insertSteps, event, scope)
    case 'Update':
      return saveItem(updateSteps, event, scope)
    case 'Delete':
      return saveItem(deleteSteps, event, scope)
  }
}

function notInTransaction({ collection: { application, name }, type }: DataEvent): TypeError {
  return new TypeError(
    `${type} of ${application}/${name} cannot take part in a transaction: the collection is served by functions, and what they write cannot be rolled back. Call it outside of the transaction, for instance with service.as(...) in a committed handler.`,
  )
}

/** Runs several saves: in the transaction of a unit of work, or in one of their own if there is none. */
export async function saveTogether(
  unit: Unit,
  saves: ManySaves,
  caller: Caller,
): Promise<ManyOutcome> {
  const { collection, type } = saves
  if (unit.transaction !== undefined) return manyWithin(unit, saves, caller)
  // `prepare` may wait for other services, so it runs before the transaction.
  const hasPrepare = collection.events[type]?.prepare !== undefined
  const prepared = hasPrepare ? await prepareMany(saves, stepsOf(unit, caller)) : undefined
  return unit.run(
    { mode: 'write', brief: isBrief(collection, unit.runtime), undone: rejectedMany },
    (own) => manyWithin(own, saves, caller, prepared),
  )
}

async function manyWithin(
  unit: Unit,
  saves: ManySaves,
  caller: Caller,
  prepared?: PreparedMany,
): Promise<ManyOutcome> {
  const own = unit.part()
  const steps = stepsOf(own, caller)
  const all = prepared ?? (await prepareMany(saves, steps))
  return saveMany(saves, all, { unit: own, caller }, steps.save)
}

function stepsOf(unit: Unit, caller: Caller): ManySteps {
  return {
    filter: (event) => eventIn(unit, event, caller, 'rows'),
    prepare: (event) =>
      whenPrepared(event, codeOf(event, unit, caller), (prepared) => ({ prepared })),
    save: ({ event, prepared }, whileWriting) => {
      const { collection, type } = event
      return traced(
        { collection, event: type, principal: caller.principal, nested: unit.depth > 0 },
        () => eventOfCode(event, unit.untilWriting(whileWriting), caller, prepared),
        (outcome) => outcome.type,
      )
    },
  }
}

/** Returns the outcome of several saves that were rolled back. Throws any other error again. */
export function rejectedMany(error: unknown): ManyOutcome {
  if (error instanceof ManyRollback) return { rejected: true, saves: error.saves }
  throw error
}

/** Opens the scope of a New or Change, which writes nothing: in the transaction of a unit of work, or in one of its own. */
export async function unstored<Result>(
  unit: Unit,
  caller: Caller,
  subject: Pick<ScopeSubject, 'collection' | 'event'>,
  work: (scope: Scope) => MaybePromise<Result>,
): Promise<Result> {
  const within = (own: Unit) => work(new Scope(own, caller, subject, nestedAccess))
  if (unit.transaction !== undefined) return within(unit)
  const isServed = subject.collection.serve !== undefined
  const undone = ({ rejected }: Rollback): never => {
    throw new Error(rejected.message)
  }
  return unit.run({ mode: 'read', brief: false, isServed, undone }, within)
}

/** Returns a collection whose events take part in a unit of work, or are units of their own if it has no transaction. */
export const nestedAccess: NestedAccess = (unit, caller, collection) =>
  collectionAccess(caller, collection, {
    event: (event, own, whileWriting) =>
      runEvent(unit.untilWriting(whileWriting), event, own, 'rows'),
    isShared: unit.transaction !== undefined,
    many: (saves, own) => saveTogether(unit, saves, own),
    unstored: (event, work) => unstored(unit, caller, { collection, event }, work),
  })
