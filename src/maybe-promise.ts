/** A value now, or a promise of it: an adapter may be synchronous. */
export type MaybePromise<Value> = Value | Promise<Value>

/**
 * Whether the value is a promise, also one of another realm or library, which is no
 * `instanceof Promise`. Wrap what comes from the host with `Promise.resolve` before use.
 */
export function isThenable<Value>(value: MaybePromise<Value>): value is Promise<Value> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  )
}

/** Goes on with a value: now, or when it has come. */
export function whenDone<Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value)
}
