import { ServiceError, notFound } from '../errors.ts'
import { pathRoot } from './names.ts'
import { decodePercent } from './percent.ts'

/** A request path in wire terms (section 2.3): nothing is looked up yet. */
export interface ResourcePath {
  readonly application: string
  readonly collection: string
  /** The raw, still encoded key of an item path; `undefined` on a collection path. */
  readonly key: string | undefined
}

/** A request target, cut at the first `?`. */
export interface Target {
  readonly path: string
  /** The raw query string without `?`; empty when there is none. */
  readonly query: string
}

/** Reduces an absolute-form target to its origin form; its authority says nothing about us. */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const authority = /^https?:\/\/[^/?#]*/i.exec(target)
  if (authority === null) return target
  const rest = target.slice(authority[0].length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

/**
 * Checks a raw target as a whole. Throws TARGET_TOO_LONG above `maxLength` bytes, and MALFORMED_TARGET for
 * a `#`: fragments are not sent, so that no two parties agree on what follows one.
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

/** Cuts a raw target into path and query. */
export function splitTarget(target: string): Target {
  const at = target.indexOf('?')
  return at < 0
    ? { path: target, query: '' }
    : { path: target.slice(0, at), query: target.slice(at + 1) }
}

/**
 * Reads a raw path. It is split at `/` before each segment is decoded, once (D11, D12).
 * Throws NOT_FOUND for another shape, MALFORMED_TARGET for broken percent-encoding or UTF-8.
 */
export function decodePath(path: string): ResourcePath {
  if (!path.startsWith(pathRoot)) throw wellFormed(path) ? notFound() : malformed()
  const segments = path.slice(pathRoot.length).split('/')
  const [application, collection, key] = segments.map(decodeSegment)
  if (segments.length > 3 || application === undefined || collection === undefined) throw notFound()
  return { application, collection, key: key === undefined ? undefined : segments[2] }
}

/** The application that a raw path lies in, whatever else is wrong with it; undefined outside of all. */
export function applicationOf(path: string): string | undefined {
  if (!path.startsWith(pathRoot)) return undefined
  const [segment = ''] = path.slice(pathRoot.length).split('/')
  return decodePercent(segment)
}

/** Writes a path; `key` is an encoded key of `encodeKey`. */
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

function wellFormed(path: string): boolean {
  return decodePercent(path) !== undefined
}

function malformed(message = 'The request path is not valid percent-encoded UTF-8.'): ServiceError {
  return new ServiceError('MALFORMED_TARGET', message)
}
