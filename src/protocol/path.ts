import { ServiceError, notFound } from '../errors.ts'
import { pathRoot } from './names.ts'
import { decodePercent } from './percent.ts'

/** The longest request target in bytes, unless a service has another limit. */
export const defaultTargetLength = 8_192

/** A decoded request path. Its names may be unknown. */
export interface ResourcePath {
  readonly application: string
  readonly collection: string
  /** The encoded key of an item path; undefined for a collection path. */
  readonly key: string | undefined
}

/** A request target, split at the first `?`. */
export interface Target {
  readonly path: string
  /** The raw query string without `?`; empty if there is none. */
  readonly query: string
}

/**
 * Returns whether a path of a mount is one that requests can have, in the same form everywhere: empty, or segments such as
 * `/api/v2` without parameters, percent-encodings, and dot segments.
 */
export function isMountPath(path: string): boolean {
  return /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~!$&'+,;=@-]+)*$/.test(path)
}

/** Returns the origin form of an absolute-form target. Its host is ignored; the service does not route by host. */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const authority = /^https?:\/\/[^/?#]*/i.exec(target)
  if (authority === null) return target
  const rest = target.slice(authority[0].length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

/**
 * Checks a raw target. Throws TARGET_TOO_LONG above `maxLength` bytes, and MALFORMED_TARGET for a `#`:
 * clients don't send fragments, and proxies and servers interpret one differently.
 */
export function requireTarget(target: string, maxLength: number): void {
  if (target.length > maxLength) {
    throw new ServiceError(
      'TARGET_TOO_LONG',
      `The request target is longer than ${maxLength} bytes.`,
    )
  }
  if (target.includes('#')) throw malformed('The request target contains a raw #.')
}

/** Splits a raw target into path and query. */
export function splitTarget(target: string): Target {
  const at = target.indexOf('?')
  return at < 0
    ? { path: target, query: '' }
    : { path: target.slice(0, at), query: target.slice(at + 1) }
}

/**
 * Decodes a raw path. It is split at `/`, then each segment is decoded once. Throws NOT_FOUND for a path
 * of another form, MALFORMED_TARGET for invalid percent-encoding or UTF-8.
 */
export function decodePath(path: string): ResourcePath {
  if (!path.startsWith(pathRoot)) throw isWellFormed(path) ? notFound() : malformed()
  const segments = path.slice(pathRoot.length).split('/')
  const decoded = segments.map(decodeSegment)
  if (segments.length < 2 || segments.length > 3) throw notFound()
  const [application, collection] = decoded as [string, string]
  return { application, collection, key: segments[2] }
}

/** Returns the application name in a raw path, even if the rest of the path is invalid; undefined if it has none. */
export function applicationOf(path: string): string | undefined {
  if (!path.startsWith(pathRoot)) return undefined
  return decodePercent(path.slice(pathRoot.length).replace(/\/.*/s, ''))
}

/** Encodes a path; `key` is a result of `encodeKey`. */
export function encodePath(path: ResourcePath): string {
  const collection = `${pathRoot}${encodeURIComponent(path.application)}/${encodeURIComponent(path.collection)}`
  return path.key === undefined ? collection : `${collection}/${path.key}`
}

function decodeSegment(segment: string): string {
  const decoded = decodePercent(segment)
  if (decoded === undefined) throw malformed()
  if (segment === '' || segment === '.' || segment === '..') throw notFound()
  return decoded
}

function isWellFormed(path: string): boolean {
  return decodePercent(path) !== undefined
}

function malformed(message = 'The request path is not valid percent-encoded UTF-8.'): ServiceError {
  return new ServiceError('MALFORMED_TARGET', message)
}
