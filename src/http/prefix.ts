/** Checks the prefix of a mount. Throws a TypeError for one that is not as `/api` is. */
export function requirePrefix(prefix: string): void {
  if (prefix === '' || /^\/.*[^/]$/.test(prefix)) return
  throw new TypeError(
    `The prefix must start with a slash and not end with one, as /api does: ${prefix}`,
  )
}
