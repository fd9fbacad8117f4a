/**
 * Returns the value at a path such as `data/orders`, whose names are escaped as in a JSON pointer. Returns
 * undefined if there is none. The empty path is the value itself.
 */
export function valueAt(value: unknown, path: string): unknown {
  if (path === '') return value
  let at = value
  for (const key of namesOf(path)) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Readonly<Record<string, unknown>>)[key]
  }
  return at
}

/** Returns an object with values at paths: `{ author: { name } }` for `author/name`. */
export function objectOf(values: Iterable<readonly [path: string, value: unknown]>): object {
  const root: Record<string, unknown> = {}
  for (const [path, value] of values) {
    const names = namesOf(path)
    const last = names.pop() ?? path
    let at = root
    for (const name of names) {
      if (!Object.hasOwn(at, name)) define(at, name, {})
      at = at[name] as Record<string, unknown>
    }
    define(at, last, value)
  }
  return root
}

// An assignment to `__proto__` would not add a member.
function define(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  })
}

function namesOf(path: string): string[] {
  return path.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
}
