import type { Principal } from '../../definition/principal.ts'
import { keepLatest } from '../keep-latest.ts'
import type { KeyRecord } from './key-store.ts'
import type { SecurityHouse } from '../provider.ts'

/** A caller as it was found, and the version of storage that it was found in. */
interface Remembered {
  readonly version: string | number
  readonly key: KeyRecord
  readonly principal: Principal
}

/** Remembers callers by the hash of their key, each house apart. */
export interface CallerMemory {
  /** The caller, if storage is what it was when the caller was found. */
  recall(
    house: SecurityHouse,
    hash: string,
    version: string | number | undefined,
  ): Remembered | undefined
  /** Remembers a caller that was looked up after storage told its version. */
  remember(house: SecurityHouse, hash: string, caller: Remembered): void
}

const mostRemembered = 10_000

/**
 * Spares the look-ups of a caller while nothing at all has changed in storage. A role, a key or a user
 * that changes counts for the next request all the same, whichever process changed it (D46).
 */
export function callerMemory(): CallerMemory {
  const memories = new WeakMap<SecurityHouse, Map<string, Remembered>>()
  return {
    recall(house, hash, version) {
      if (version === undefined) return undefined
      const known = memories.get(house)?.get(hash)
      return known?.version === version ? known : undefined
    },
    remember(house, hash, caller) {
      let memory = memories.get(house)
      if (memory === undefined) {
        memory = new Map<string, Remembered>()
        memories.set(house, memory)
      }
      keepLatest(memory, hash, caller, mostRemembered)
    },
  }
}
