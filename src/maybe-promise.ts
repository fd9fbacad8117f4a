import { runtime, type Timer } from './runtime.ts'

/** A value, or a promise of it. Adapters and handlers may be synchronous. */
export type MaybePromise<Value> = Value | Promise<Value>

/**
 * Returns whether the value is a promise, including one of another realm or library that is not an
 * `instanceof Promise`. Wrap a thenable of your application with `Promise.resolve` before use.
 */
export function isThenable<Value>(value: MaybePromise<Value>): value is Promise<Value> {
  if (typeof value !== 'object' || value === null) return false
  return typeof (value as { readonly then?: unknown }).then === 'function'
}

/**
 * Resolves with the result of work. If that takes longer than `milliseconds`, calls `late`, which rejects;
 * a later result of the work is ignored.
 */
export async function inTime<Result>(
  work: Promise<Result>,
  milliseconds: number,
  late: (reject: (reason: Error) => void) => void,
): Promise<Result> {
  let timer: Timer | undefined
  const over = new Promise<never>((_, reject) => {
    timer = runtime.setTimeout(() => late(reject), milliseconds)
  })
  try {
    return await Promise.race([work, over])
  } finally {
    runtime.clearTimeout(timer)
  }
}

/** Calls `next` with a value: immediately, or once its promise has resolved. */
export function whenDone<Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value)
}

/**
 * Returns the result of work. If it throws, or its promise rejects, returns the result of `recover`, which
 * may throw again.
 */
export function whenFailed<Result>(
  work: () => MaybePromise<Result>,
  recover: (error: unknown) => MaybePromise<Result>,
): MaybePromise<Result> {
  try {
    const result = work()
    return isThenable(result) ? Promise.resolve(result).catch(recover) : result
  } catch (error) {
    return recover(error)
  }
}

/** Returns the result of work, and calls `end` once it has succeeded or failed. */
export function whenEnded<Result>(
  work: () => MaybePromise<Result>,
  end: () => void,
): MaybePromise<Result> {
  return whenSettled(
    work,
    (result: Result) => {
      end()
      return result
    },
    (error) => {
      end()
      throw error
    },
  )
}

/** Calls `done` with the result of work, or `failed` with its error. Errors of `done` itself are thrown. */
export function whenSettled<Value, Result>(
  work: () => MaybePromise<Value>,
  done: (value: Value) => MaybePromise<Result>,
  failed: (error: unknown) => MaybePromise<Result>,
): MaybePromise<Result> {
  let value: MaybePromise<Value>
  try {
    value = work()
  } catch (error) {
    return failed(error)
  }
  return isThenable(value) ? Promise.resolve(value).then(done, failed) : done(value)
}

/** Calls `visit` for one entry after the other. If it returns a promise, the next entry waits for it. */
export function inSequence<Entry>(
  entries: readonly Entry[],
  visit: (entry: Entry) => MaybePromise<void>,
  from = 0,
): MaybePromise<void> {
  for (let index = from; index < entries.length; index++) {
    const visited = visit(entries[index] as Entry)
    if (isThenable(visited)) {
      return Promise.resolve(visited).then(() => inSequence(entries, visit, index + 1))
    }
  }
}
