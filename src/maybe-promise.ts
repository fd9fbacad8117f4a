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

/**
 * The result of work, unless that takes longer than some milliseconds: `late` is called then, and rejects.
 * What the work does afterwards is nobody's.
 */
export async function inTime<Result>(
  work: Promise<Result>,
  milliseconds: number,
  late: (reject: (reason: Error) => void) => void,
): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(late, milliseconds, reject)
  })
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}

/** Goes on with a value: now, or when it has come. */
export function whenDone<Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value)
}
