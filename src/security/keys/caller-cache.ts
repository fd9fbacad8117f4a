import type { Principal } from '../../definition/principal.ts'
import { keepLatest } from '../keep-latest.ts'
import type { KeyRecord } from './key-store.ts'
import type { SecurityContext } from '../provider.ts'

/** A caller, with the version of storage in which the caller was found. */
interface CachedCaller {
  readonly version: string | number
  readonly key: KeyRecord
  readonly principal: Principal
}

/** Caches callers by the hash of their key, separately for each context. */
export interface CallerCache {
  /** Returns the caller if storage still has the version in which the caller was found. */
  get(
    context: SecurityContext,
    hash: string,
    version: string | number | undefined,
  ): CachedCaller | undefined
  /** Stores a caller that was found after the version of storage was read. */
  set(context: SecurityContext, hash: string, caller: CachedCaller): void
}

const maxCached = 10_000

/**
 * Caches callers while nothing in storage changes. A changed role, key or user takes effect on the next
 * request, also if another process changed it.
 */
export function callerCache(): CallerCache {
  const caches = new WeakMap<SecurityContext, Map<string, CachedCaller>>()
  return {
    get(context, hash, version) {
      const known = caches.get(context)?.get(hash)
      return known?.version === version ? known : undefined
    },
    set(context, hash, caller) {
      let callers = caches.get(context)
      if (callers === undefined) {
        callers = new Map<string, CachedCaller>()
        caches.set(context, callers)
      }
      keepLatest(callers, hash, caller, maxCached)
    },
  }
}
