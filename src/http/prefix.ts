/** Checks the prefix of a mount. Throws a TypeError for one that is not as `/api` is. */
export function requirePrefix(prefix: string): void {
  if (prefix === '' || /^\/.*[^/]$/.test(prefix)) return
  throw new TypeError(
    `The prefix must start with a slash and not end with one, as /api does: ${prefix}`,
  )
}

/** The part of a target behind the prefix of a mount; undefined for a target that is not below it. */
export function targetBelow(prefix: string, target: string): string | undefined {
  return target.startsWith(`${prefix}/`) ? target.slice(prefix.length) : undefined
}

/** Checks who answers outside the applications, in the words of a host. Throws a TypeError for another. */
export function requireOutside(outside: string, words: readonly [string, string]): void {
  // Plain JavaScript may give anything.
  if (words.includes(outside)) return
  const [first, second] = words
  throw new TypeError(`outside must be '${first}' or '${second}': ${JSON.stringify(outside)}`)
}
