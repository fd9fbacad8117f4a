/** Values by key, up to a number of bytes. What was not used for a while is evicted first. */
export interface Generations<Value> {
  /** Returns a value, and counts that as its use. */
  get(key: string): Value | undefined
  /** Stores a value of a size in bytes, and evicts others if necessary. */
  set(key: string, value: Value, bytes: number): void
  delete(key: string): void
  entries(): number
  /** Returns the sum of the sizes, which is never more than the maximum. */
  bytes(): number
}

interface Sized<Value> {
  readonly value: Value
  readonly bytes: number
}

/**
 * Creates a store of two generations. A value that is used moves to the young generation. When that has half
 * of the bytes, the old generation is evicted, and the young one becomes the old one: the cost of an eviction
 * does not depend on the number of values.
 */
export function generations<Value>(maxBytes: number): Generations<Value> {
  const half = Math.floor(maxBytes / 2)
  let young = new Map<string, Sized<Value>>()
  let old = new Map<string, Sized<Value>>()
  let youngBytes = 0
  let oldBytes = 0

  function add(key: string, sized: Sized<Value>): void {
    if (youngBytes + sized.bytes > half) {
      old = young
      oldBytes = youngBytes
      young = new Map()
      youngBytes = 0
    }
    young.set(key, sized)
    youngBytes += sized.bytes
  }

  function remove(key: string): void {
    const inYoung = young.get(key)
    if (inYoung !== undefined && young.delete(key)) youngBytes -= inYoung.bytes
    const inOld = old.get(key)
    if (inOld !== undefined && old.delete(key)) oldBytes -= inOld.bytes
  }

  return {
    get(key) {
      const found = young.get(key)
      if (found !== undefined) return found.value
      const earlier = old.get(key)
      if (earlier === undefined) return undefined
      remove(key)
      add(key, earlier)
      return earlier.value
    },
    set(key, value, bytes) {
      remove(key)
      if (bytes <= half) add(key, { value, bytes })
    },
    delete: remove,
    entries: () => young.size + old.size,
    bytes: () => youngBytes + oldBytes,
  }
}
