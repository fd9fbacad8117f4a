import type { StorageTransaction } from '../storage/adapter.ts'
import type { NestedCalls } from './nested-calls.ts'
import type { Running } from './runtime.ts'

/** The transaction of an event, for parts of the service that keep tables of their own. */
export interface JoinedTransaction {
  readonly storage: StorageTransaction
  /** Calls a function after the commit. It MUST NOT throw. */
  onCommit(notify: () => void): void
}

type Join = <Result>(
  name: string,
  work: (transaction: JoinedTransaction) => Promise<Result>,
) => Promise<Result>

const joining: unique symbol = Symbol.for('rowgate.joinTransaction')

/** The member of a context by which {@link joinTransaction} finds its transaction. */
export interface Joinable {
  readonly [joining]: Join
}

/** Returns the member that makes a context of application code usable for {@link joinTransaction}. */
export function joinable(running: Running, calls: NestedCalls): Joinable {
  const { transaction } = running
  const join: Join = (name, work) => {
    const own = transaction && calls.storage.transaction(transaction)
    return calls.watch(name, joined(name, { ...running, transaction: own }, work))
  }
  return { [joining]: join }
}

/**
 * Runs work that writes in the transaction of a context: that of a handler, or of `transaction`. If the work
 * fails, the transaction is rolled back. Throws a TypeError if the context has no transaction. `name` is
 * that of the function that the application has called, for messages.
 */
export function joinTransaction<Result>(
  context: object,
  name: string,
  work: (transaction: JoinedTransaction) => Promise<Result>,
): Promise<Result> {
  const join = (Object(context) as Partial<Joinable>)[joining]
  if (join !== undefined) return join(name, work)
  throw new TypeError(
    `${name}: the context must be that of a handler, or the argument of service.as(user).transaction(...)`,
  )
}

async function joined<Result>(
  name: string,
  { transaction, log }: Running,
  work: (transaction: JoinedTransaction) => Promise<Result>,
): Promise<Result> {
  if (transaction === undefined) {
    throw new TypeError(
      `${name}: the event has no transaction, because functions serve its collection; use service.as(user).transaction(...)`,
    )
  }
  // A rejected event is rolled back only if something was written.
  log.writes++
  try {
    return await work({
      storage: transaction,
      onCommit: (notify) => {
        log.committed.push(notify)
      },
    })
  } catch (error) {
    log.failure ??= { error }
    throw error
  }
}
