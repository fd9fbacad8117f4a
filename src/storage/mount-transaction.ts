import type { MaybePromise } from '../maybe-promise.ts'
import type { PublishedCollection } from '../definition/published.ts'
import { StorageError, type StorageAdapter } from './adapter.ts'
import type { StorageTransaction, TransactionOptions } from './adapter.ts'

/** A transaction over several adapters, as others see it: where it writes, and where it wants to. */
export interface Party {
  readonly holds: Set<StorageAdapter>
  readonly awaits: Set<StorageAdapter>
}

/** What a transaction over several adapters needs to know. */
export interface MountTransaction {
  readonly homeOf: (collection: PublishedCollection) => StorageAdapter
  /** All transactions in progress. */
  readonly parties: Set<Party>
  readonly options: TransactionOptions
}

/** Runs work in a transaction that begins on each adapter at the first touch, and ends on all. */
export async function mountTransaction<Result>(
  { homeOf, parties, options }: MountTransaction,
  work: (transaction: StorageTransaction) => Promise<Result>,
): Promise<Result> {
  const held = new Map<StorageAdapter, Held>()
  const party: Party = { holds: new Set(), awaits: new Set() }
  const state: { ended: boolean; failure?: { readonly error: unknown } } = { ended: false }

  function refuseEnded(): void {
    if (state.ended) throw new Error('The transaction has ended.')
  }

  async function touch<Value>(
    collection: PublishedCollection,
    writes: boolean,
    call: (inner: StorageTransaction) => MaybePromise<Value>,
  ): Promise<Value> {
    const home = homeOf(collection)
    refuseEnded()
    const waits = (writes || options.mode === 'write') && !party.holds.has(home)
    if (waits && wouldWaitForItself(parties, party, home)) throw new StorageError('unavailable')
    if (waits) party.awaits.add(home)
    try {
      const inner = await begunOn(home)
      refuseEnded()
      return await call(inner)
    } finally {
      if (waits) party.awaits.delete(home)
      if (waits) party.holds.add(home)
    }
  }

  async function begunOn(home: StorageAdapter): Promise<StorageTransaction> {
    const open = held.get(home) ?? hold(home, options)
    held.set(home, open)
    try {
      return await open.begun
    } catch (error) {
      state.failure ??= { error }
      throw error
    }
  }

  parties.add(party)
  try {
    const result = await work({
      filter: (collection, query) => touch(collection, false, (on) => on.filter(collection, query)),
      insert: (collection, row) => touch(collection, true, (on) => on.insert(collection, row)),
      update: (collection, conditions, changes) =>
        touch(collection, true, (on) => on.update(collection, conditions, changes)),
      delete: (collection, conditions) =>
        touch(collection, true, (on) => on.delete(collection, conditions)),
    })
    state.ended = true
    if (state.failure !== undefined) throw state.failure.error
    for (const one of held.values()) await one.commit()
    return result
  } catch (error) {
    state.ended = true
    await Promise.all([...held.values()].map((one) => one.undo(error)))
    throw error
  } finally {
    parties.delete(party)
  }
}

/** A transaction of one adapter that is kept open until it is told how to end. */
interface Held {
  /** Rejects when the transaction could not begin. */
  readonly begun: Promise<StorageTransaction>
  commit(): Promise<void>
  /** Undoes what was not committed, and never rejects. */
  undo(reason: unknown): Promise<void>
}

function hold(adapter: StorageAdapter, options: TransactionOptions): Held {
  let open = (): void => undefined
  let abandon: (reason: unknown) => void = () => undefined
  const gate = new Promise<void>((resolve, reject) => {
    open = resolve
    abandon = reject
  })
  let finished = Promise.resolve()
  const begun = new Promise<StorageTransaction>((begin, refuse) => {
    finished = adapter.transaction(options, (inner) => {
      begin(inner)
      return gate
    })
    finished.catch(refuse)
  })
  // Each is looked at where it matters; until then a rejection is no fault of the process.
  for (const promise of [gate, begun]) promise.catch(() => undefined)
  return {
    begun,
    commit: () => {
      open()
      return finished
    },
    undo: (reason) => {
      abandon(reason)
      return finished.catch(() => undefined)
    },
  }
}

/** Whether all who stand in the way wait, in the end, for what this transaction holds itself. */
function wouldWaitForItself(
  parties: ReadonlySet<Party>,
  party: Party,
  wanted: StorageAdapter,
  seen: ReadonlySet<Party> = new Set([party]),
): boolean {
  const ahead = [...parties].filter(
    (other) => !seen.has(other) && (other.holds.has(wanted) || other.awaits.has(wanted)),
  )
  const visited = new Set([...seen, ...ahead])
  return ahead.some((other) =>
    [...other.awaits].some(
      (next) => party.holds.has(next) || wouldWaitForItself(parties, party, next, visited),
    ),
  )
}
