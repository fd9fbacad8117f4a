import type { PublishedCollection } from '../definition/published.ts'
import type { DataEvent } from '../request/event.ts'
import type { Outcome, RejectedOutcome } from '../request/outcome.ts'
import { entriesShownTo } from '../request/view.ts'
import type { TransactionOptions } from '../storage/adapter.ts'
import { collectionAccess } from './access.ts'
import { deleteItem } from './delete.ts'
import { filterAsRows, filterAsText, filterWithHandlers, hasFilterHandlers } from './filter.ts'
import { Undo } from './guard.ts'
import type { Caller, NestedAccess, Running, Runtime, Terms } from './runtime.ts'
import { insertItem, updateItem } from './save.ts'
import { openScope } from './scope.ts'
import { traced } from './traced.ts'

/** The deepest nesting of events that handlers invoke. */
const maximumDepth = 16

/**
 * Runs an event: a Filter that no handler touches as one read, as `text` if storage can write it;
 * everything else in a transaction that is undone unless the outcome is a success.
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
 * Runs an event inside a transaction in progress. When it fails, or is rejected, after something was
 * written, the whole transaction has to be undone, whatever the handler around it makes of that.
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
    // What a handler wanted to save is no echo for the consumer.
    throw new Undo(depth === 0 ? outcome : { ...outcome, echo: undefined }, event.collection)
  } catch (error) {
    if (log.writes !== writes) log.failure ??= { error }
    throw error
  }
}

/**
 * Runs work in a transaction of its own. An {@link Undo} that the work throws undoes it, and `undone`
 * makes the result of it.
 */
export async function inTransaction<Result>(
  runtime: Runtime,
  options: TransactionOptions,
  work: (running: Running) => Promise<Result>,
  undone: (undo: Undo) => Result,
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
    if (error instanceof Undo) return undone(error)
    throw error
  }
}

/**
 * A rejection as the caller of the outermost event may see it: the event that was rejected may be one
 * that a handler invoked with the rights of the host.
 */
export function rejectionFor(
  { principal }: Caller,
  { rejected, collection }: Undo,
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

// Host code that waits for something must not hold up the writers that would share its commit. A
// collection whose code is declared async, or was seen to return a promise, takes its own turns.
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
