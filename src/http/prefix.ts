import { isMountPath } from '../protocol/path.ts'

/** Throws a TypeError unless the prefix of a mount is empty or a path that requests can have, such as `/api`. */
export function requirePrefix(prefix: unknown): void {
  if (typeof prefix === 'string' && isMountPath(prefix)) return
  if (typeof prefix === 'string' && /^\/.*[^/]$/.test(prefix)) {
    throw new TypeError(
      'The prefix must be a literal path without parameters, empty segments, dot segments, percent-encodings and a ' +
        `query, such as /api: ${prefix}`,
    )
  }
  throw new TypeError(
    `The prefix must start with a slash and not end with one, for example /api: ${String(prefix)}`,
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
