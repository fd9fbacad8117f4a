/** Throws a TypeError unless the prefix of a mount is empty or a path such as `/api`. */
export function requirePrefix(prefix: string): void {
  if (prefix === '' || /^\/.*[^/]$/.test(prefix)) return
  throw new TypeError(
    `The prefix must start with a slash and not end with one, for example /api: ${prefix}`,
  )
}

/** Returns the part of a target after the prefix of a mount; undefined if the target is not below it. */
export function targetBelow(prefix: string, target: string): string | undefined {
  return target.startsWith(`${prefix}/`) ? target.slice(prefix.length) : undefined
}

/** Throws a TypeError unless the option `outside` has one of two values. */
export function requireOutside(outside: string, allowed: readonly [string, string]): void {
  if (allowed.includes(outside)) return
  const [first, second] = allowed
  throw new TypeError(`outside must be '${first}' or '${second}': ${JSON.stringify(outside)}`)
}
