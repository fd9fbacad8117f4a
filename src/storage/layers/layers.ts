import type { StorageAdapter } from '../adapter.ts'
import { checkedStorage } from './checked.ts'
import { completeConditions } from './complete-conditions.ts'
import { readOnlyStorage } from './read-only.ts'
import { tracedStorage } from './traced.ts'

/**
 * Returns the storage of a service. A call of the service passes these layers, in this order:
 *
 * 1. `traced.ts` publishes it on a tracing channel, while that has a subscriber;
 * 2. `read-only.ts` rejects writes, for a command that only reads;
 * 3. `complete-conditions.ts` evaluates the kinds of conditions that the adapter lacks;
 * 4. `checked.ts` checks everything that the adapter returns.
 *
 * Built-in adapters check their values and have all conditions (`self-checking.ts`), so that their calls pass the
 * first layer only. A call for the tables of the library waits before them until storage is open (`open-once.ts`).
 */
export function layeredStorage(
  adapter: StorageAdapter,
  { isReadOnly }: { readonly isReadOnly: boolean },
): StorageAdapter {
  const storage = completeStorage(adapter)
  return tracedStorage(isReadOnly ? readOnlyStorage(storage) : storage)
}

/** Returns an adapter that checks everything it returns, and has every kind of condition. */
export function completeStorage(adapter: StorageAdapter): StorageAdapter {
  return completeConditions(checkedStorage(adapter))
}
