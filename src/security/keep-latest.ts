/** Sets a value as the latest of a map of at most `most`: beyond that the oldest one is let go. */
export function keepLatest<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  most: number,
): void {
  map.delete(key)
  if (map.size >= most) map.delete(map.keys().next().value as Key)
  map.set(key, value)
}
