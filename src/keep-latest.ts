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
