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
