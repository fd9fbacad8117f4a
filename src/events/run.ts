import type { PublishedCollection } from '../definition/published.ts'
import type { DataEvent } from '../request/event.ts'
import type { Outcome, RejectedOutcome } from '../request/outcome.ts'
import { entriesShownTo } from '../request/view.ts'
import type { TransactionOptions } from '../storage/adapter.ts'
import { collectionAccess } from './access.ts'
import { deleteItem } from './delete.ts'
import { filterAsRows, filterAsText, filterWithHandlers, hasFilterHandlers } from './filter.ts'
import { Rollback } from './guard.ts'
import type { Caller, NestedAccess, Running, Runtime, Terms } from './runtime.ts'
import { insertItem, updateItem } from './save.ts'
import { openScope } from './scope.ts'
import { traced } from './traced.ts'

/** The deepest nesting of events that handlers invoke. */
const maximumDepth = 16

/**
 * Runs an event. A Filter without handlers is one read, as JSON text if `page` allows and the adapter
 * supports it. Everything else runs in a transaction, which is rolled back if the event is rejected.
 */
export function runEvent(
  runtime: Runtime,
  event: DataEvent,
  caller: Caller,
  page: 'text' | 'rows' = 'text',
): Promise<Outcome> {
  return traced(
    { collection: event.collection, event: event.type, principal: caller.principal, nested: false },
    () => run(runtime, event, caller, page),
    ({ type }) => type,
  )
}

async function run(
  runtime: Runtime,
  event: DataEvent,
  caller: Caller,
  page: 'text' | 'rows',
): Promise<Outcome> {
  if (event.type === 'Filter' && !hasFilterHandlers(event)) {
    return page === 'text'
      ? filterAsText(runtime.adapter, event)
      : filterAsRows(runtime.adapter, event)
  }
  const mode = event.type === 'Filter' ? 'read' : 'write'
  const { collection } = event
  const options = { mode, brief: isBrief(runtime, collection), collection } as const
  const work = (running: Running) => runWithin(event, { runtime, caller, running })
  return inTransaction(runtime, options, work, (undo) => rejectionFor(caller, undo))
}

/**
 * Runs an event inside a transaction in progress. If it fails or is rejected after it has written, the
 * whole transaction is rolled back, even if the calling handler catches the error.
 */
function runNested(event: DataEvent, terms: Terms): Promise<Outcome> {
  const { principal } = terms.caller
  return traced(
    { collection: event.collection, event: event.type, principal, nested: true },
    () => runWithin(event, terms),
    ({ type }) => type,
  )
}

async function runWithin(event: DataEvent, terms: Terms): Promise<Outcome> {
  const { running } = terms
  if (running.depth >= maximumDepth) throw new TypeError('Handlers invoke events without end.')
  const { log, depth } = running
  const { writes } = log
  try {
    const outcome = await dispatch(event, { ...terms, running: { ...running, depth: depth + 1 } })
    if (outcome.type !== 'rejected' || log.writes === writes) return outcome
    // The client must not see what a handler tried to save.
    throw new Rollback(depth === 0 ? outcome : { ...outcome, echo: undefined }, event.collection)
  } catch (error) {
    if (log.writes !== writes) log.failure ??= { error }
    throw error
  }
}

/**
 * Runs work in a transaction of its own. A {@link Rollback} that the work throws rolls it back, and
 * `undone` returns the result.
 */
export async function inTransaction<Result>(
  runtime: Runtime,
  options: TransactionOptions,
  work: (running: Running) => Promise<Result>,
  undone: (undo: Rollback) => Result,
): Promise<Result> {
  const log: Running['log'] = { writes: 0, committed: [] }
  try {
    const result = await runtime.adapter.transaction(options, async (transaction) => {
      const done = await work({ transaction, depth: 0, log })
      if (log.failure !== undefined) throw log.failure.error
      return done
    })
    for (const announce of log.committed) announce()
    return result
  } catch (error) {
    if (error instanceof Rollback) return undone(error)
    throw error
  }
}

/**
 * Returns a rejection as the caller of the outermost event may see it. The rejected event may be one
 * that a handler invoked with the rights of `system`.
 */
export function rejectionFor(
  { principal }: Caller,
  { rejected, collection }: Rollback,
): RejectedOutcome {
  const validations = entriesShownTo(principal, collection, rejected.validations)
  return { ...rejected, validations }
}

function dispatch(event: DataEvent, terms: Terms): Promise<Outcome> {
  if (event.type === 'Filter' && !hasFilterHandlers(event)) {
    return filterAsRows(terms.running.transaction, event)
  }
  const { collection, type } = event
  const scope = openScope(terms, { collection, event: type }, nestedAccess)
  switch (type) {
    case 'Filter':
      return filterWithHandlers(event, scope)
    case 'Insert':
      return insertItem(event, scope)
    case 'Update':
      return updateItem(event, scope)
    case 'Delete':
      return deleteItem(event, scope)
  }
}

/** Returns a collection whose events take part in a transaction in progress. */
export const nestedAccess: NestedAccess = (terms, collection) =>
  collectionAccess(terms, collection, {
    event: (event, caller) => runNested(event, { ...terms, caller }),
    unstored: (event, work) => work(openScope(terms, { collection, event }, nestedAccess)),
  })

// Application code that waits would block the writers that share its commit. A collection whose code
// is declared async, or has returned a promise before, is written in transactions of its own.
function isBrief(runtime: Runtime, collection: PublishedCollection): boolean {
  const known = runtime.waiting.get(collection)
  if (known !== undefined) return !known
  const handlers = Object.values(collection.events).flatMap((event) =>
    Object.values(event as Readonly<Record<string, object>>),
  )
  const checks = collection.validations.map((rule) => ('check' in rule ? rule.check : rule.schema))
  const waits = [...handlers, ...checks].some((code) => code.constructor.name === 'AsyncFunction')
  runtime.waiting.set(collection, waits)
  return !waits
}
