/** Returns a key as a segment of a path: `~` becomes `~0`, `/` becomes `~1` (RFC 6901). */
export function escapeKey(key: string): string {
  if (!key.includes('~') && !key.includes('/')) return key
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Returns the key of a segment of a path. */
export function unescapeKey(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Returns the keys of a path such as `data/orders`. */
export function keysOf(path: string): string[] {
  return path.split('/').map(unescapeKey)
}

/** Returns the value at a path; undefined if there is none. The empty path is the value itself. */
export function valueAt(value: unknown, path: string): unknown {
  return path === '' ? value : valueBelow(value, keysOf(path))
}

/** Returns the value that keys lead to; undefined if there is none. */
export function valueBelow(value: unknown, keys: Iterable<string>): unknown {
  let at = value
  for (const key of keys) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Readonly<Record<string, unknown>>)[key]
  }
  return at
}

/**
 * Sets the value at a path, and creates the objects that lead to it. Throws a TypeError if a value that is
 * not an object is in the way.
 */
export function setAt(target: object, path: string, value: unknown): void {
  const keys = keysOf(path)
  const last = keys.pop() ?? ''
  let object = target
  for (const key of keys) {
    if (!Object.hasOwn(object, key)) setMember(object, key, {})
    const next: unknown = (object as Record<string, unknown>)[key]
    if (typeof next !== 'object' || next === null)
      throw new TypeError(`The value at ${path} needs an object where there is another value.`)
    object = next
  }
  setMember(object, last, value)
}

/** Sets a member of an object, also one whose name is `__proto__`, which assignment would drop. */
export function setMember(target: object, name: string, value: unknown): void {
  if (name !== '__proto__') (target as Record<string, unknown>)[name] = value
  else {
    const property = { value, enumerable: true, configurable: true, writable: true }
    Object.defineProperty(target, name, property)
  }
}
