/** Sets a value as the latest of a map; if the map has more than `maxSize` entries, evicts the oldest. */
export function keepLatest<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  maxSize: number,
): void {
  map.delete(key)
  if (map.size >= maxSize) map.delete(map.keys().next().value as Key)
  map.set(key, value)
}

/** Returns the value of a key, which it creates only if it is not kept. */
export type Keep<Value> = (key: string, create: () => Value) => Value

/**
 * Keeps values of a total size, given the size of each. Evicts those that were not requested for the longest time, but
 * never the latest one.
 */
export function keepBySize<Value>(maxSize: number, sizeOf: (value: Value) => number): Keep<Value> {
  const kept = new Map<string, Value>()
  let size = 0
  return (key, create) => {
    const known = kept.get(key)
    const value = known ?? create()
    kept.delete(key)
    kept.set(key, value)
    if (known === undefined) size += sizeOf(value)
    for (const [oldest, evicted] of kept) {
      if (size <= maxSize || oldest === key) break
      kept.delete(oldest)
      size -= sizeOf(evicted)
    }
    return value
  }
}

/** Values by key, up to a number of entries and of bytes. Those that were not used for the longest time are evicted. */
export interface BoundedMap<Value> {
  /** Returns a value, and counts that as its use. */
  get(key: string): Value | undefined
  /** Stores a value of a size in bytes, its key included. A value that is larger than all bytes is not stored. */
  set(key: string, value: Value, bytes: number): void
  delete(key: string): void
  clear(): void
  /** Returns the number of entries, and their bytes. */
  size(): KeptSize
}

/** What a cache keeps. */
export interface KeptSize {
  readonly entries: number
  /** An estimate. */
  readonly bytes: number
}

/** The most that a {@link BoundedMap} keeps. */
export interface MapBounds<Value> {
  readonly maxEntries: () => number
  readonly maxBytes: () => number
  /** Called for each value that is evicted. */
  readonly evicted?: (value: Value, bytes: number) => void
}

/** Creates a map that clients can fill, because they choose its keys. Its bounds may grow. */
export function boundedMap<Value>({
  maxEntries,
  maxBytes,
  evicted,
}: MapBounds<Value>): BoundedMap<Value> {
  // In order of use, the most recent one last.
  const kept = new Map<string, { readonly value: Value; readonly bytes: number }>()
  let bytes = 0
  let latest: string | undefined

  function remove(key: string): void {
    const found = kept.get(key)
    if (found === undefined) return
    kept.delete(key)
    bytes -= found.bytes
  }

  return {
    get(key) {
      const found = kept.get(key)
      if (found === undefined) return undefined
      // As long as nothing is about to be evicted, the order does not matter.
      const isFar = kept.size < maxEntries() / 2 && bytes < maxBytes() / 2
      if (key !== latest && !isFar) {
        kept.delete(key)
        kept.set(key, found)
        latest = key
      }
      return found.value
    },
    set(key, value, size) {
      remove(key)
      if (size > maxBytes()) return
      kept.set(key, { value, bytes: size })
      bytes += size
      latest = key
      for (const [oldest, { value: old, bytes: freed }] of kept) {
        if (kept.size <= maxEntries() && bytes <= maxBytes()) break
        remove(oldest)
        evicted?.(old, freed)
      }
    },
    delete: remove,
    clear() {
      kept.clear()
      bytes = 0
    },
    size: () => ({ entries: kept.size, bytes }),
  }
}
