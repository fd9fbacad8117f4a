import { builtin } from '../builtin.ts'
import { isThenable } from '../maybe-promise.ts'

/**
 * A stage of the work that is traced on the tracing channel of its name in `node:diagnostics_channel`:
 * `start` when it begins, `end` when its synchronous part has ended, `error` when it threw, `asyncStart`
 * and `asyncEnd` when it has ended, synchronous or not. `asyncEnd` comes last, exactly once. All five
 * receive the same object, whose members are filled in as they become known.
 */
export interface Stage<Trace extends object> {
  /** Whether the channel has subscribers. Check it before creating a trace, so that tracing is free without. */
  readonly isWatched: boolean
  /** Runs work as one trace. Errors for which `expected` returns true are rethrown without being traced as errors. */
  run<Result>(trace: Trace, work: () => Result, expected?: (thrown: unknown) => boolean): Result
}

/** The trace of a request, on the channel `rowgate:request`: its input, then its target and caller, then its response. */
export interface RequestTrace {
  /** When the request arrived: an instant in UTC with milliseconds, `2026-11-25T23:44:05.120Z`. */
  readonly time: string
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
  /** Null if the target is not published; so are `collection` and `event`. */
  application: string | null
  collection: string | null
  event: string | null
  /** The caller; null until it is known, and for anonymous callers. */
  provider: string | null
  user: string | null
  keyId: string | null
  /** The HTTP status of the response; null until it is known. */
  status: number | null
  /** Whether the response comes from the response cache. */
  cached: boolean
  /** Why the request was rejected or failed (a code of `ServiceError`); null for an outcome. */
  code: string | null
  /** From the start of the request to its response, in milliseconds; null until it is known. */
  milliseconds: number | null
}

/** The type of the trace by tracing channel, for subscribers: `trace as Traces['rowgate:event']`. */
export interface Traces {
  'rowgate:request': RequestTrace
  /** The trace of an authentication. */
  'rowgate:security': {
    readonly secure: boolean
    readonly peer: string | null
    /** Null until it is known, and for anonymous callers. */
    provider: string | null
    user: string | null
    keyId: string | null
    error?: unknown
  }
  /** The trace of an event. */
  'rowgate:event': {
    readonly application: string
    readonly collection: string
    /** `Filter`, `Insert`, `Update`, `Delete`, or the name of a user-defined event. */
    readonly event: string
    readonly user: string | null
    /** Whether the code of another event called it: in its transaction, unless functions serve its collection. */
    readonly nested: boolean
    /** Whether its outcome comes from the response cache, so that storage was not read. */
    readonly cached: boolean
    /** Its outcome; null until it has ended, and if it threw. */
    outcome: 'page' | 'item' | 'rejected' | 'done' | null
    error?: unknown
  }
  /** The trace of a call of the storage adapter. */
  'rowgate:storage': {
    /** The adapter's name. */
    readonly storage: string
    readonly operation: 'filter' | 'insert' | 'update' | 'delete' | 'transaction'
    /** Null for a transaction, which can use several applications. */
    readonly application: string | null
    readonly collection: string | null
    /** The number of rows read or written; null until the call has ended, and for a transaction. */
    rows: number | null
    /** Whether a transaction was rolled back because its work failed or was rejected. That is not an `error` of storage. */
    undone: boolean
    error?: unknown
  }
  /** The trace of a call of another service. It contains no query, no credentials, and nothing of a body. */
  'rowgate:call': {
    /** The endpoint's name. */
    readonly endpoint: string
    readonly method: string
    /** The path template: `/orders/{orderId}`. */
    readonly path: string
    /** The HTTP status of the last response; null until it is known, and without a response. */
    status: number | null
    /** Why the call failed (a code of `CallError`); null until then, and if it succeeded. */
    code: string | null
    /** The number of requests so far, retries included. */
    attempts: number
    /** From the start of the call to its end, in milliseconds; null until it is known. */
    milliseconds: number | null
    error?: unknown
  }
}

/**
 * The member of a trace in which a subscriber to `start` can set a function that runs the work. Stores
 * bound to the channel are not enough for OpenTelemetry, whose context can only be entered by a call.
 */
export const surround = Symbol.for('rowgate.surround')

/** A trace with such a function. The function MUST call the work once and return its result. */
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

function openStage<Name extends keyof Traces>(name: Name): Stage<Traces[Name]> {
  const channel = tracingChannel(name)
  if (channel === undefined) return { isWatched: false, run: (_trace, work) => work() }
  return new TracedStage(channel)
}

/** A class, because V8 finds an accessor of an object literal slowly, and each request reads this one several times. */
class TracedStage<Trace extends object> implements Stage<Trace> {
  readonly #channel: TracingChannel

  constructor(channel: TracingChannel) {
    this.#channel = channel
  }

  get isWatched(): boolean {
    return this.#channel.hasSubscribers
  }

  run<Result>(trace: Trace, work: () => Result, expected = never): Result {
    return this.#channel.start.runStores(trace, () => this.#begun(trace, work, expected))
  }

  #begun<Result>(trace: Trace, work: () => Result, expected: (thrown: unknown) => boolean): Result {
    const channel = this.#channel
    const finish = (): void => {
      channel.asyncStart.publish(trace)
      channel.asyncEnd.publish(trace)
    }
    const fail = (error: unknown): never => {
      if (!expected(error)) {
        Object.assign(trace, { error })
        channel.error.publish(trace)
      }
      finish()
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
      finish()
      return result
    }
    return Promise.resolve(result).then((settled) => {
      finish()
      return settled
    }, fail) as Result
  }
}

/** The stages that are traced. */
export const stages = {
  request: openStage('rowgate:request'),
  security: openStage('rowgate:security'),
  event: openStage('rowgate:event'),
  storage: openStage('rowgate:storage'),
  call: openStage('rowgate:call'),
}

function within<Result>(trace: object & Surrounded, work: () => Result): Result {
  const around = trace[surround]
  return around === undefined ? work() : around(work)
}

function never(_thrown: unknown): boolean {
  return false
}

function tracingChannel(name: string): TracingChannel | undefined {
  const module = builtin<{ tracingChannel(name: string): TracingChannel }>('diagnostics_channel')
  return module.tracingChannel?.(name)
}

/** Returns what a trace has of the client of a request. */
export function tracedClient(request: {
  readonly secure: boolean
  readonly peer: string | undefined
}): Pick<RequestTrace, 'secure' | 'peer'> {
  return {
    secure: readOr(false, () => request.secure),
    peer: readOr(null, () => request.peer ?? null),
  }
}

/**
 * Returns what `read` returns, or `fallback` if it throws. A binding may call application code to read a request. If
 * that throws, a request that does not need it must get the same response as without a log or subscribers.
 */
export function readOr<Value>(fallback: Value, read: () => Value): Value {
  try {
    return read()
  } catch {
    return fallback
  }
}
