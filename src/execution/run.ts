import type { PublishedCollection } from '../definition/published.ts'
import type { DataEvent } from '../event/event.ts'
import type { Outcome } from '../event/outcome.ts'
import type { TransactionOptions } from '../storage/adapter.ts'
import { deleteItem } from './delete.ts'
import { filterAsRows, filterAsText, filterWithHandlers, hasFilterHandlers } from './filter.ts'
import type { Caller, Running, Runtime, Terms } from './runtime.ts'
import { insertItem, updateItem } from './save.ts'

/** The deepest nesting of events that handlers invoke. */
const maximumDepth = 16

/**
 * Runs an event: a Filter that no handler touches as one read, as `text` if storage can write it;
 * everything else in a transaction that is undone unless the outcome is a success.
 */
export async function runEvent(
  runtime: Runtime,
  event: DataEvent,
  caller: Caller,
  page: 'text' | 'rows' = 'text',
): Promise<Outcome> {
  if (event.type === 'Filter' && !hasFilterHandlers(event)) {
    return page === 'text'
      ? filterAsText(runtime.adapter, event)
      : filterAsRows(runtime.adapter, event)
  }
  const mode = event.type === 'Filter' ? 'read' : 'write'
  const options = { mode, brief: isBrief(runtime, event.collection) } as const
  return inTransaction(runtime, options, (running) =>
    runNested(event, { runtime, caller, running }),
  )
}

/**
 * Runs an event inside a transaction in progress. A rejected event has changed nothing itself; when
 * its handlers have written already, the whole transaction has to be undone.
 */
export async function runNested(event: DataEvent, terms: Terms): Promise<Outcome> {
  const { running } = terms
  if (running.depth >= maximumDepth) throw new TypeError('Handlers invoke events without end.')
  const writes = running.log.writes
  const outcome = await dispatch(event, {
    ...terms,
    running: { ...running, depth: running.depth + 1 },
  })
  if (outcome.type === 'rejected' && running.log.writes !== writes) throw new Undo(outcome)
  return outcome
}

/**
 * Runs work in a transaction of its own. An {@link Undo} that the work throws undoes it, and its
 * outcome is the result.
 */
export async function inTransaction<Result>(
  runtime: Runtime,
  options: TransactionOptions,
  work: (running: Running) => Promise<Result>,
): Promise<Result> {
  const log: Running['log'] = { writes: 0, committed: [] }
  try {
    const result = await runtime.adapter.transaction(options, (transaction) =>
      work({ transaction, depth: 0, log }),
    )
    for (const announce of log.committed) announce()
    return result
  } catch (error) {
    if (error instanceof Undo) return error.result as Result
    throw error
  }
}

/** Carries the result of work that has to be undone out of its transaction. */
export class Undo extends Error {
  readonly result: unknown

  constructor(result: unknown) {
    super('rejected')
    this.result = result
  }
}

function dispatch(event: DataEvent, terms: Terms): Promise<Outcome> {
  switch (event.type) {
    case 'Filter':
      return hasFilterHandlers(event)
        ? filterWithHandlers(event, terms)
        : filterAsRows(terms.running.transaction, event)
    case 'Insert':
      return insertItem(event, terms)
    case 'Update':
      return updateItem(event, terms)
    case 'Delete':
      return deleteItem(event, terms)
  }
}

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
