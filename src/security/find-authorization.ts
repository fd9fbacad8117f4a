import type { Credentials } from '../request/request.ts'
import type { Credential } from './provider.ts'
import { multipleCredentials } from './rejection.ts'

const place = 'header authorization'

/**
 * Looks for credentials of one scheme in the `Authorization` header; schemes may be written in any case
 * (RFC 9110). What it returns throws MULTIPLE_CREDENTIALS when the header came more than once (D25).
 */
export function authorizationFinder(
  scheme: string,
): (request: Credentials) => Credential | undefined {
  const wanted = scheme.toLowerCase()
  return (request) => {
    const header = request.header('authorization')
    if (header === undefined) return undefined
    const text = header.trim()
    const space = text.indexOf(' ')
    const found = space < 0 ? text : text.slice(0, space)
    if (found.toLowerCase() !== wanted) return undefined
    const value = space < 0 ? '' : text.slice(space).trimStart()
    if (holdsAnother(value)) throw multipleCredentials()
    return { place, value }
  }
}

// Repeated headers arrive joined: a comma, a scheme and what belongs to it.
function holdsAnother(value: string): boolean {
  return value.includes(',') && /,[ \t]*[\w!#$%&'*+.^`|~-]+ +[^\s=]/.test(value)
}
