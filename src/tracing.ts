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
  /** Does work as one trace. What is thrown as `expected` passes, and is no error of this stage. */
  run<Result>(trace: Trace, work: () => Result, expected?: (thrown: unknown) => boolean): Result
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
  /** Whether a transaction was undone because the work in it failed or was rejected: no `error` of storage. */
  undone: boolean
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
  /** Null where nothing that is published was asked for; so are `collection` and `event`. */
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

/**
 * Where a listener to `start` may leave a function on the trace, in which the work is then run. Stores
 * that are bound to the channel do not do for OpenTelemetry, whose context can only be entered by a call.
 */
export const surround = Symbol.for('rowgate.surround')

/** A trace with such a function, which MUST call the work once and return what it returns. */
export interface Surrounded {
  [surround]?: <Result>(work: () => Result) => Result
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
  const begun = <Result>(
    trace: Trace,
    work: () => Result,
    expected: (thrown: unknown) => boolean,
  ): Result => {
    const fail = (error: unknown): never => {
      if (!expected(error)) {
        Object.assign(trace, { error })
        channel.error.publish(trace)
      }
      finish(trace)
      throw error
    }
    let result: Result
    try {
      result = within(trace, work)
    } catch (error) {
      channel.end.publish(trace)
      return fail(error)
    }
    channel.end.publish(trace)
    if (!isThenable(result)) {
      finish(trace)
      return result
    }
    return Promise.resolve(result).then((settled) => {
      finish(trace)
      return settled
    }, fail) as Result
  }
  return {
    get isWatched() {
      return channel.hasSubscribers
    },
    run: (trace, work, expected = never) =>
      channel.start.runStores(trace, () => begun(trace, work, expected)),
  }
}

function within<Result>(trace: object & Surrounded, work: () => Result): Result {
  const around = trace[surround]
  return around === undefined ? work() : around(work)
}

function never(): boolean {
  return false
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
