import type { StorageAdapter } from '../adapter.ts'

const selfChecking = Symbol.for('rowgate.selfCheckingStorage')

/**
 * Marks a built-in adapter, which checks the values that it returns. Copies with other methods do not have the mark.
 */
export function markSelfChecking<Adapter extends StorageAdapter>(adapter: Adapter): Adapter {
  return Object.defineProperty(adapter, selfChecking, { value: true })
}

/** Returns whether an adapter checks the values that it returns. */
export function isSelfChecking(adapter: StorageAdapter): boolean {
  return Object.hasOwn(adapter, selfChecking)
}
