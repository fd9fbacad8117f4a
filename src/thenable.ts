import type { MaybePromise } from './storage/adapter.ts'

/**
 * Whether code of the host answered later: with a promise, also one of another realm or library, which
 * is no `instanceof Promise`. Wrap it with `Promise.resolve` before use.
 */
export function isThenable<Value>(value: MaybePromise<Value>): value is Promise<Value> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  )
}
