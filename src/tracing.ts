import { isThenable } from './maybe-promise.ts'

/**
 * A stage of the work that others may watch, by the tracing channel of its name in Node's
 * `diagnostics_channel`: `start` when it begins, `end` when its synchronous part is over, `error` when
 * it threw, `asyncStart` and `asyncEnd` when it is over, synchronous or not. `asyncEnd` comes last,
 * exactly once. All five get one and the same object, which fills up on the way.
 */
export interface Stage<Trace extends object> {
  /** Whether somebody listens. Asked before a trace is made: so tracing costs nothing otherwise. */
  readonly isWatched: boolean
  /** Does work as one trace. */
  run<Result>(trace: Trace, work: () => Result): Result
}

/** What is known of an event; see the channel `rowgate:event`. */
export interface EventTrace {
  readonly application: string
  readonly collection: string
  /** `Filter`, `Insert`, `Update`, `Delete`, or the name of a user-defined event. */
  readonly event: string
  readonly user: string | null
  /** Whether a handler invoked it, in its own transaction. */
  readonly nested: boolean
  /** What became of it; null until it is over, and when it threw. */
  outcome: 'page' | 'item' | 'rejected' | 'done' | null
  error?: unknown
}

/** What is known of a call of storage; see the channel `rowgate:storage`. */
export interface StorageTrace {
  /** The adapter's name. */
  readonly storage: string
  readonly operation: 'filter' | 'insert' | 'update' | 'delete' | 'transaction'
  /** Null for a transaction, which may touch several. */
  readonly application: string | null
  readonly collection: string | null
  /** How many rows were read or written; null until it is over, and for a transaction. */
  rows: number | null
  error?: unknown
}

/** What is known of the question who asks; see the channel `rowgate:security`. */
export interface SecurityTrace {
  readonly secure: boolean
  readonly peer: string | null
  /** Null until it is known, and for everybody under open access. */
  provider: string | null
  user: string | null
  keyId: string | null
  error?: unknown
}

/** What is known of a request: first what was sent, then who asks for what, then the answer. */
export interface RequestTrace {
  readonly method: string
  /** The raw path behind the mount's prefix: `/rest/v1/sales/customers/ALFKI`. */
  readonly path: string
  /** The raw query without its `?`; each value that is a credential is `***`. */
  readonly query: string
  readonly secure: boolean
  /** The client's address, where it is known. */
  readonly peer: string | null
  /** The caller's own trace (W3C Trace Context), if it sent one. */
  readonly traceparent: string | null
  /** Null where the path names nothing that is published; so are `collection` and `event`. */
  application: string | null
  collection: string | null
  event: string | null
  /** Who asks; null until it is known, and for everybody under open access. */
  provider: string | null
  user: string | null
  keyId: string | null
  /** The HTTP status of the answer; null until it is known. */
  status: number | null
  /** Why it was refused (a code of `ServiceError`); null for an outcome. */
  code: string | null
  /** From the beginning to the answer, in milliseconds; null until it is known. */
  milliseconds: number | null
}

/** The stages of a service, as `rowgate:request`, `rowgate:event`, `rowgate:storage`, `rowgate:security`. */
export const stages = {
  request: openStage<RequestTrace>('rowgate:request'),
  event: openStage<EventTrace>('rowgate:event'),
  storage: openStage<StorageTrace>('rowgate:storage'),
  security: openStage<SecurityTrace>('rowgate:security'),
}

/** A channel of `node:diagnostics_channel`, as far as it is used here. */
interface Channel {
  publish(message: object): void
  runStores<Result>(message: object, work: () => Result): Result
}

interface TracingChannel {
  readonly hasSubscribers: boolean
  readonly start: Channel
  readonly end: Channel
  readonly asyncStart: Channel
  readonly asyncEnd: Channel
  readonly error: Channel
}

function openStage<Trace extends object>(name: string): Stage<Trace> {
  const channel = tracingChannel(name)
  if (channel === undefined) return { isWatched: false, run: (_trace, work) => work() }
  const finish = (trace: Trace): void => {
    channel.asyncStart.publish(trace)
    channel.asyncEnd.publish(trace)
  }
  const fail = (trace: Trace, error: unknown): never => {
    Object.assign(trace, { error })
    channel.error.publish(trace)
    finish(trace)
    throw error
  }
  const begun = <Result>(trace: Trace, work: () => Result): Result => {
    let result: Result
    try {
      result = work()
    } catch (error) {
      channel.end.publish(trace)
      return fail(trace, error)
    }
    channel.end.publish(trace)
    if (!isThenable(result)) {
      finish(trace)
      return result
    }
    return Promise.resolve(result).then(
      (settled) => {
        finish(trace)
        return settled
      },
      (error: unknown) => fail(trace, error),
    ) as Result
  }
  return {
    get isWatched() {
      return channel.hasSubscribers
    },
    run: (trace, work) => channel.start.runStores(trace, () => begun(trace, work)),
  }
}

// Not imported: the package has to load where there are no modules of Node.
function tracingChannel(name: string): TracingChannel | undefined {
  const { process } = globalThis as {
    readonly process?: { getBuiltinModule?: (id: string) => unknown }
  }
  const module = process?.getBuiltinModule?.('diagnostics_channel') as
    { tracingChannel?: (name: string) => TracingChannel } | undefined
  return module?.tracingChannel?.(name)
}
