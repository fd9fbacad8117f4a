import type { StorageTransaction } from '../../storage/adapter.ts'
import type { NestedCalls } from '../nested-calls.ts'
import type { Unit } from './unit.ts'

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
export function joinable(unit: Unit, calls: NestedCalls): Joinable {
  const join: Join = (name, work) =>
    calls.watch(name, joined(name, unit.countedBy(calls.storage), work))
  return { [joining]: join }
}

/**
 * Runs work that writes in the transaction of a context, which a handler or the code of `transaction` has received. If
 * the work fails, the transaction is rolled back. Throws a TypeError if the context has no transaction. Messages
 * contain `name`, the function that the application has called.
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
  unit: Unit,
  work: (transaction: JoinedTransaction) => Promise<Result>,
): Promise<Result> {
  const { transaction } = unit
  if (transaction === undefined) {
    throw new TypeError(
      `${name}: the event has no transaction, because functions serve its collection; use service.as(user).transaction(...)`,
    )
  }
  // A rejected event is rolled back only if something was written.
  unit.wrote()
  try {
    return await work({
      storage: transaction,
      onCommit: (notify) => {
        unit.onCommit(notify)
      },
    })
  } catch (error) {
    unit.fail(error)
    throw error
  }
}
