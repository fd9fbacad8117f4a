import type { Principal } from '../../definition/principal.ts'
import { keepLatest } from '../keep-latest.ts'
import type { KeyRecord } from './key-store.ts'
import type { SecurityContext } from '../provider.ts'

/** A caller as it was found, and the version of storage that it was found in. */
interface Remembered {
  readonly version: string | number
  readonly key: KeyRecord
  readonly principal: Principal
}

/** Remembers callers by the hash of their key, each context apart. */
export interface CallerMemory {
  /** The caller, if storage is what it was when the caller was found. */
  recall(
    context: SecurityContext,
    hash: string,
    version: string | number | undefined,
  ): Remembered | undefined
  /** Remembers a caller that was looked up after storage told its version. */
  remember(context: SecurityContext, hash: string, caller: Remembered): void
}

const mostRemembered = 10_000

/**
 * Spares the look-ups of a caller while nothing at all has changed in storage. A role, a key or a user
 * that changes counts for the next request all the same, whichever process changed it (D46).
 */
export function callerMemory(): CallerMemory {
  const memories = new WeakMap<SecurityContext, Map<string, Remembered>>()
  return {
    recall(context, hash, version) {
      if (version === undefined) return undefined
      const known = memories.get(context)?.get(hash)
      return known?.version === version ? known : undefined
    },
    remember(context, hash, caller) {
      let memory = memories.get(context)
      if (memory === undefined) {
        memory = new Map<string, Remembered>()
        memories.set(context, memory)
      }
      keepLatest(memory, hash, caller, mostRemembered)
    },
  }
}
